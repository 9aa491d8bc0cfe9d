"""The faults of an unreadable node: what is wrong, where, and a suggestion."""

from __future__ import annotations

from collections.abc import Callable

from bt_runtime.language import fixes, foreign_fixes, typos
from bt_runtime.language.diagnostics import Diagnostics
from bt_runtime.language.faults.diagnostic import Fix, did_you_mean, nearest
from bt_runtime.language.foreign_names import Meant, done, meant
from bt_runtime.language.kinds.kind import COMMON, COMMON_NAMES, Field, Kind, Registry
from bt_runtime.language.ports import an
from bt_runtime.language.source import Node, Scalar, YamlList, YamlMap
from bt_runtime.types import Span


class NodeFaults:
    """Reports the faults of one tree. `lost` collects words of unreadable parts, which may name entries."""

    def __init__(
        self, file: str, registry: Registry, diagnostics: Diagnostics, lost: set[str],
        source_of: Callable[[str], str] | None, unlisted: bool,
    ) -> None:  # fmt: skip
        self.file, self.registry, self.diagnostics, self.lost = file, registry, diagnostics, lost
        self.source_of = source_of  # says of an unknown kind where it could come from
        self.unlisted = unlisted  # a manifest is missing: its skills are no faults of their own

    # Fields --------------------------------------------------------------------------------------

    def no_mapping(self, kind: Kind, key: Scalar, value: Node) -> None:
        """Reports a value such as `beep: 3`, or a list, where a mapping of fields is required."""
        if isinstance(value, YamlList) and kind.family == "decorator" and kind.field("child") is not None:
            message, label = f"`{kind.name}` takes one node, and this is a list of {len(value.items)}", ""
            label = "put them below a `sequence:`" if len(value.items) > 1 else "leave the list out"
            self.error("BT016", message, value.span, label, "", fixes.child(kind, key, value))
            self.lost |= typos.words(value)
            return
        takes = f"`{kind.name}` takes its fields: {_names(kind)}" if kind.fields else f"`{kind.name}` takes no value"
        self.error("BT016", takes, value.span, self._below_its_field(kind, value))
        self.lost |= typos.words(value)

    def no_list(self, field: Field, value: Node) -> None:
        """Reports a mapping, or one node, where a list of nodes is required."""
        nodes = isinstance(value, YamlMap) and value.pairs and all(key.text in self.registry for key, _ in value)
        ways = fixes.listed(value) if nodes and isinstance(value, YamlMap) else ()
        help = "write each child as `- kind: ...`"
        self.error("BT016", f"`{field.name}` takes a list of nodes", value.span, help=help, fixes=ways)

    def _below_its_field(self, kind: Kind, value: Node) -> str:
        """Shows how the value of `beep: 3` is written below its field."""
        parts = value.items if isinstance(value, YamlList) else [value]
        if all(isinstance(part, Scalar) and part.plain for part in parts):
            given = ",".join(part.text for part in parts if isinstance(part, Scalar)).split(",")
            if several := typos.several(kind, given):
                return f"write `{several}`"
        if not isinstance(value, Scalar) or len(value.text) > typos.SHORT or not kind.fields:
            return ""
        written = typos.bare(kind, value.text if value.plain else fixes.quoted(value.text))
        return f"write `{written}`" if written.startswith("{") else ""

    def no_field(
        self, kind: Kind, fields: Node, name: Scalar, value: Node
    ) -> tuple[set[str], list[tuple[str, YamlMap]]]:
        """Reports an unknown field; returns the probably intended fields, and the node that belongs below one of
        them."""
        inner: list[tuple[str, YamlMap]] = []
        if isinstance(fields, YamlMap) and (meant := self._misplaced(kind, fields, name)) is not None:
            self.lost |= typos.words(value)
            return meant, inner
        below = typos.kind_as_field(kind, name.text, self.registry)
        foreign = None if below else foreign_fixes.field(kind, fields, name, value)
        close = foreign.field if foreign is not None else "" if below else _close(kind, name.text)
        label = foreign.label if foreign is not None else ""
        label = label or typos.after_comma(name, value) or (f"did you mean `{close}`?" if close else "")
        help = f"its fields: {_names(kind)}; any node: {', '.join(f.name for f in COMMON)}"
        if below:
            label, help = f"put it below `{below}:`", f"`{name.text}` is a node, and a node stands below `{below}:`"
            pair = YamlMap(name.start)
            pair.end, pair.pairs = value.end, [(name, value)]
            inner.append((below, pair))
        else:
            self.lost |= typos.words(value)
        ways = foreign.fixes if foreign is not None else ()
        ways = fixes.below(kind, fields, name, value) if below else ways
        self.error("BT013", f"`{kind.name}` has no field `{name.text}`", name.span, label, help, ways)
        return {each for each in (below or close,) if each}, inner

    def _listed(self, fields: YamlMap) -> None:
        """Forgets that a key of this mapping is given twice: two equal items of a list may be."""
        at = fields.span
        told = {each for each in self.diagnostics.items if (each.code, each.file) == ("BT006", self.file) and each.span
                and at.line <= each.span.line <= at.end_line and each.span.column == at.column}  # fmt: skip
        self.diagnostics.items = [each for each in self.diagnostics.items if each not in told]

    def _misplaced(self, kind: Kind, fields: YamlMap, name: Scalar) -> set[str] | None:
        """Reports several keys that belong elsewhere by one fault, at the first of them; None for any other key."""
        own = [key for key, _ in fields if kind.field(key.text) is None and key.text not in COMMON_NAMES]
        dashes = [key for key in own if key.text[:1] == "-" and key.text[1:] in self.registry]
        if name in dashes:
            label, help, field, ways = "a dash and a space: `- `", "", "children", fixes.dashed(name)
            self._listed(fields)
        elif kind.includes and kind.field("with") is not None and foreign_fixes.field(kind, fields, name, name) is None:
            label, help, field = "put it below `with:`", "the inputs of a tree stand below `with:`", "with"
            ways = fixes.gathered(fields, own, "with")
        elif kind.field("cases") is not None and all(
            typos.is_node(each, self.registry) for key, each in fields if key in own
        ):
            label, help, field = "put it below `cases:`", "", "cases"
            ways = fixes.gathered(fields, own, "cases")
        elif kind.field("children") is not None and name.text in self.registry and len(own) == len(fields.pairs):
            label, field, ways = "put it below `children:`", "children", fixes.listed(fields)
            help = "a list (`- `) holds several nodes"
        else:
            return None
        if name is own[0]:
            self.error("BT013", f"`{kind.name}` has no field `{name.text}`", name.span, label, help, ways)
        return {field}

    def unquoted(self, before: str, field: Field, hole: str, value: Node) -> None:
        """Reports a missing pair of quotes in `log: {room}` and `check: {n > 3}`."""
        self.lost |= typos.words(value)
        if field.type == "expression":
            label, help = f"no braces here: `{before} {hole}`", "in an expression a name stands for its value"
        else:
            label, help = f'quote it: `{before} "{{{hole}}}"`', "a text that begins with a brace stands in quotes"
        self.error("BT016", f"`{{{hole}}}` without quotes is a mapping", value.span, label, help)

    def among_entries(self, kind: Kind, bare: Field, value: YamlMap) -> YamlMap:
        """Reports common fields among entries, as in `set: {l: 1, when: go}`: `when` may be a guard or an entry.
        Returns the entries without them."""
        rest = YamlMap(value.start)
        rest.end, rest.pairs = value.end, [pair for pair in value if pair[0].text not in COMMON_NAMES]
        for name in [key for key, _ in value if key.text in COMMON_NAMES]:
            self.error(
                "BT013",
                f"`{name.text}` is a field of any node, and here it stands among the entries of `{kind.name}`",
                name.span,
                f"the entries below `{bare.name}:`, `{name.text}` beside it",
                f"`{kind.name}: {{{bare.name}: {{entry: 1}}, {name.text}: ...}}`; an entry called `{name.text}` is "
                f"written below `{bare.name}:` too",
                fixes.apart(bare, value, COMMON_NAMES),
            )
        return rest

    def lacking(self, kind: Kind, field: Field, key: Scalar, value: Node) -> None:
        """Reports a missing required field."""
        ways = fixes.lacking(key, value, field)
        comment = fixes.comment(key, value)
        if comment is not None:
            message = f"`{kind.name}` lacks its field `{field.name}`"
            self.error(
                "BT015", message, key.span, help="`#` after a space begins a comment: quote the text", fixes=comment
            )
            return
        if field.name == "children":
            message, help = f"`{kind.name}` has no children", "give it one, or remove it"
            self.error("BT017", message, key.span, help=help, fixes=ways)
        else:
            message, help = (
                f"`{kind.name}` lacks its field `{field.name}`",
                f"`{field.name}`: {field.about or an(field.type)}",
            )
            self.error("BT015", message, key.span, help=help, fixes=ways)

    # Nodes ---------------------------------------------------------------------------------------

    def not_a_node(self, node: Node) -> None:
        self.lost |= typos.words(node)
        if isinstance(node, Scalar) and node.text in self.registry:
            self.error(
                "BT014", f"a node is a mapping, and `{node.text}` stands here alone", node.span, f"write `{node.text}:`"
            )
        elif isinstance(node, YamlMap) and len(node.pairs) > 1:
            self._two_keys(node)
        else:
            help = "put the list below a control node, such as `sequence:`" if isinstance(node, YamlList) else ""
            help = "write a node here, or take the `- ` or the key away" if _found(node) == "nothing" else help
            text = node.text if isinstance(node, Scalar) else ""
            label = typos.joined(text, self.registry) or typos.called(text, self.registry)
            message = f"a node is a mapping with one key, its kind, not {_found(node)}"
            self.error("BT014", message, node.span, label, help)

    def _two_keys(self, node: YamlMap) -> None:
        (first, value), (second, other) = node.pairs[:2]
        kind, label, help = self.registry.get(first.text), f"`{first.text}` is the kind already", ""
        inward = typos.inward(kind, first, value, second, other) if kind is not None else ""
        if kind is None:
            label = f"`{first.text}` is no kind of node"
            named = value.text if isinstance(value, Scalar) else ""
            if named in self.registry:
                help = f"write `{named}:`, and its fields one level deeper"
            elif first.text in COMMON_NAMES and second.text in self.registry:
                help = f"`{first.text}` belongs below `{second.text}`"
        elif second.text in self.registry and not inward:
            help = "a second node begins a line with `- `, in the list of a control node"
        self.error(
            "BT014",
            "a node has exactly one key, its kind",
            second.span,
            label,
            inward or help or "fields belong one level deeper, a second node into a list",
        )

    def unknown_kind(self, key: Scalar, value: Node) -> list[Node]:
        """Reports an unknown kind; returns the nodes inside, which are read nevertheless."""
        below = typos.nodes_inside(value, self.registry)
        self.lost |= typos.words(value, below)
        if not self.unlisted:  # else it may be a skill of the manifest that is not there, which has been told
            self._unknown(key, value)
        return below

    def _unknown(self, key: Scalar, value: Node) -> None:
        families: dict[str, None] = {}
        for kind in self.registry:
            families[
                {"control": "control", "decorator": "decorators", "skill": "skills"}.get(kind.family, kind.name)
            ] = None
        foreign = self._foreign(key.text)
        label = foreign.label if foreign is not None else self._label(key.text)
        missing = "" if label else "".join(f"{fault}; " for fault in self.registry.faults)  # it may be one of those
        help = f"{missing}kinds here: {', '.join(families)}" + ("" if label else "; `btr explain kinds` lists all")
        ways = foreign_fixes.node(key, value, foreign, self.registry) if foreign is not None else ()
        self.error("BT012", f"unknown node kind `{key.text}`", key.span, label, help, ways)

    def _foreign(self, name: str) -> Meant | None:
        """Returns our kind for another library's node, unless a skill has that name."""
        found = meant(name)
        known = found is not None and found.kind in self.registry
        return found if known and not (self.source_of and self.source_of(name)) else None

    def _label(self, name: str) -> str:
        """Returns a suggestion for an unknown kind."""
        own = self.source_of(name) if self.source_of else ""
        return (
            own
            or typos.called(name, self.registry, "is written ")
            or done(name)
            or did_you_mean(name, self.registry.kinds)
        )

    def error(
        self, code: str, message: str, span: Span, label: str = "", help: str = "", fixes: tuple[Fix, ...] = ()
    ) -> None:
        self.diagnostics.error(code, message, self.file, span, label, help, fixes)


def _close(kind: Kind, name: str) -> str:
    """Returns the field with a similar name. A field that every node has is suggested only when it begins alike."""
    alike = [f.name for f in COMMON if f.name[:1] == name[:1]]
    return nearest(name, [f.name for f in kind.fields]) or nearest(name, alike, 0.75) or ""


def _found(node: Node) -> str:
    """Describes the value found instead of a node."""
    if isinstance(node, Scalar):
        return "nothing" if node.value is None else "plain text" if isinstance(node.value, str) else f"`{node.text}`"
    return "an empty mapping" if isinstance(node, YamlMap) else "a list"


def _names(kind: Kind) -> str:
    return ", ".join(f.name for f in kind.fields) or "none"
