"""Warnings about what is valid and hardly meant: texts that look like something else, and entries that nobody has.

Imported when something looks so: most sound trees load none of it."""

from __future__ import annotations

from collections.abc import Mapping, Set

from bt_runtime.language import typos
from bt_runtime.language.checks import types
from bt_runtime.language.checks.references import PlacedExpression, Usage, Use
from bt_runtime.language.diagnostics import Diagnostics
from bt_runtime.language.expression import Expression, compile
from bt_runtime.language.faults.diagnostic import Diagnostic, Edit, Fix, did_you_mean
from bt_runtime.language.kinds.kind import DATA_TYPES
from bt_runtime.language.outside import written_by
from bt_runtime.language.source import Scalar, YamlMap
from bt_runtime.language.source.text import LINE_BREAK
from bt_runtime.language.spec import NodeSpec, Port, TreeSpec
from bt_runtime.language.values import Computed, inside
from bt_runtime.types import Json, Span


def unwritten(tree: TreeSpec, read: Use, known: Set[str], diagnostics: Diagnostics) -> None:
    """Warns about an entry that is read and written nowhere."""
    name, value = read.name, read.spec.values.get(read.field.name)
    text = isinstance(value, Expression) and types.compared(value.part, name)
    help = (f'if it is a text: `"{name}"`; ' if text else "") + (
        f"if it comes from outside, say so: `blackboard: {{{name}: any}}`"
    )
    label, ways = output_of(tree, name) or (did_you_mean(name, known), ())
    label = "an entry is written by its name alone" if name in ("blackboard", "bb") and not label else label
    message = f"nothing in this tree writes `{name}`"
    diagnostics.warning("BT023", message, read.spec.file, read.span, label, help, ways)


def unread(tree: TreeSpec, use: Use, known: Set[str], diagnostics: Diagnostics) -> None:
    """Warns about an entry that is written and read nowhere, and about nodes and fields where entries belong."""
    name, given = use.name, use.spec.given.get(use.field.name)
    message, label = f"nothing in this tree reads `{name}`", did_you_mean(name, known, cutoff=0.75)
    help = f"if it is meant for outside, make it an output: `outputs: {{{name}: any}}`"
    ways: tuple[Fix, ...] = ()
    entry, value = (given.get(word) if isinstance(given, YamlMap) else None for word in ("entry", "value"))
    if isinstance(given, YamlMap) and isinstance(entry, Scalar) and value is not None and len(given.pairs) == 2:
        if name == "value" and not known & {"entry", "value"}:
            return  # the doubt is told at the first of the two
        written = f"{{{entry.text}: {value.text if isinstance(value, Scalar) and value.plain else '…'}}}"
        label = f"to write `{entry.text}`: `{written}`"
        message = f"this writes an entry called `{name}`"
        ways = (Fix(f"write `{written}`", (Edit(given.span, written),)),) if "…" not in written else ()
    elif name in tree.registry and use.field.type == "assignments":
        message, label = f"this writes an entry `{name}`, and runs no node", "this is a kind of node"
        help = f"a node that comes afterwards stands behind this one, in a `sequence`; {help}"
    diagnostics.warning("BT024", message, use.spec.file, use.span, label, help, ways)


OUTERMOST = "the outermost tree"


def alone(found: Diagnostic) -> bool:
    """True for a warning that holds only where its tree is the outermost one."""
    return found.code == "BT023" and OUTERMOST in found.message


def unguarded(tree: TreeSpec, spec: NodeSpec, diagnostics: Diagnostics) -> None:
    """Warns about a skill that `requires` what the outermost tree has no entry for: it never starts."""
    condition = spec.kind.data["entry"].requires
    known = {*tree.ports, *(name for node in tree.root.walk() for name in written_by(node))}
    for name in [name for name in condition.names if name not in known]:
        message = f"`{spec.kind.name}` requires `{condition.text}`, and {OUTERMOST} `{tree.name}` has no entry `{name}`"
        help = f"it starts only where the outermost tree has one: `blackboard: {{{name}: boolean}}`"
        diagnostics.warning("BT023", message, spec.file, spec.span, did_you_mean(name, known), help)


def way_out(use: Use, port: Port, value: Json) -> tuple[Span | None, str]:
    """Returns the place of a value that does not fit its entry, and what to write: a choice, `true`, a hole."""
    given = use.spec.given.get(use.field.name)
    node = given.get(use.name) if isinstance(given, YamlMap) else None
    if node is None or isinstance(value, Computed):
        return None, ""
    if not isinstance(value, str):
        return node.span, ""
    if port.choices:
        return node.span, did_you_mean(value, [str(choice) for choice in port.choices])
    return node.span, "" if port.type in ("string", "any") else typos.instead(use.name, port.type, node, value)


def written_text(tree: TreeSpec, used: Usage, use: Use, value: str, diagnostics: Diagnostics) -> None:
    """Warns about `set: {k: k + 1}`, whose names are entries, and `set: {done: no}`: both write the text."""
    given = use.spec.given.get(use.field.name)
    node = given.get(use.name) if isinstance(given, YamlMap) else None
    if not isinstance(node, Scalar) or not node.plain or diagnostics.full("warning"):
        return
    label, help = typos.boolean(node), f'if the text is meant: `"{value}"`'
    message = f"`{value}` is a text here, and as a test each text is true"
    if (
        not label
        and typos.computes(value)
        and set(compile(value).names) <= {*tree.ports, *(w.name for w in used.writes)}
    ):
        label, help = f'to compute it: `"{{{value}}}"`', ""
        message = f"this writes the text `{value:.40}`, and computes nothing"
    if label:
        diagnostics.warning("BT021", message, use.spec.file, node.span, label, help)


def in_test(tree: TreeSpec, each: PlacedExpression, known: Mapping[str, str], diagnostics: Diagnostics) -> None:
    """Warns about `check: mode` and `mode == none` where `mode` is a text."""
    _none_meant(each, known, diagnostics)
    port = tree.ports.get(each.expression.text)
    if port is None or each.field.type != "expression" or each.field.name == "on":
        return
    texts = [text for text in (*(port.choices or ()), port.default) if isinstance(text, str) and text]
    if texts:
        message, label = (
            f"`{port.name}` is a text, and as a test true unless it is empty",
            f"`{port.name} == '{texts[-1]}'` compares",
        )
        help = f"`{port.name} != ''` says whether there is any"
        diagnostics.warning("BT034", message, each.spec.file, each.node.span, label, help)


def _none_meant(each: PlacedExpression, known: Mapping[str, str], diagnostics: Diagnostics) -> None:
    """Warns about `mode == none` for a text: the word is null, and the text was meant."""
    todo = [each.expression.part]
    while todo:
        part = todo.pop()
        todo += types.inside(part)
        sides = types.inside(part) if part.how == "comparison" else []
        text = any(side.how == "name" and known.get(side.of[0]) == "string" for side in sides)
        for side in sides if text else ():
            word = each.expression.text[side.start : side.end]
            if side.how == "constant" and word in ("none", "None"):
                at = inside(each.node, side.start + each.shift, side.end + each.shift)
                mark = "'" if isinstance(each.node, Scalar) and not each.node.plain else '"'
                written = f"{mark}{word}{mark}"
                message, help = (
                    f"`{word}` is null, which a text never is",
                    "`exists(entry)` says whether it was written",
                )
                ways = (Fix(f"write `{written}`", (Edit(at, written),)),)
                diagnostics.warning("BT034", message, each.spec.file, at, f"the text is `{written}`", help, ways)


def output_of(tree: TreeSpec, name: str) -> tuple[str, tuple[Fix, ...]] | None:
    """Returns what to write when a node has an output of this name and writes it nowhere."""
    for spec in tree.root.walk():
        field = spec.kind.field(name)
        if field is not None and field.writes and field.type in DATA_TYPES and name not in spec.given:
            written = f'{name}: "{{{name}}}"'
            edits = _given(tree, spec, written)
            label = f"`{spec.kind.name}` on line {spec.span.line} gives it: `{written}`"
            title = f"write `{written}` at `{spec.kind.name}`"
            return label, ((Fix(title, edits),) if edits and spec.file == tree.file else ())
    return None


def _given(tree: TreeSpec, spec: NodeSpec, written: str) -> tuple[Edit, ...]:
    """Writes a field into a node, by its text: the spec knows the places of its fields alone."""
    line, at = spec.span.line, spec.span.end_column
    text = LINE_BREAK.split(tree.text)[line - 1]
    rest = text[at - 1 :].partition(" #")[0].rstrip()
    bare = spec.given.get(spec.kind.bare or "")
    if rest in (":", ": {}"):
        first = min((node.span.line for node in spec.given.values()), default=0)
        if not first:
            return (Edit(Span(line, at, line, at + len(rest)), f": {{{written}}}"),)
        below = LINE_BREAK.split(tree.text)[line]
        indent = len(below) - len(below.lstrip(" "))
        return (Edit(Span(line, at + len(rest), line, at + len(rest)), f"\n{' ' * indent}{written}"),)
    if rest.startswith(": {"):
        return (Edit(Span(line, at + 3, line, at + 3), f"{written}, "),)
    if isinstance(bare, Scalar) and bare.span.line == bare.span.end_line == line and len(spec.given) == 1:
        start, end = bare.span._replace(end_column=bare.span.column), bare.span._replace(column=bare.span.end_column)
        return (Edit(start, f"{{{spec.kind.bare}: "), Edit(end, f", {written}}}"))
    return ()


def after_the_loop(tree: TreeSpec, used: Usage, diagnostics: Diagnostics) -> None:
    """Warns about an item of a loop that is read where the loop is over."""
    writers: dict[str, list[Use]] = {}
    for use in used.writes:
        writers.setdefault(use.name, []).append(use)
    for name, uses in writers.items():
        loops = [use for use in uses if use.field.name == "as" and use.spec.kind.node_fields]
        if len(loops) < len(uses) or name in tree.ports or name in used.perhaps:
            continue
        within = {id(spec) for use in loops for spec in use.spec.walk()}
        read = next((each for each in used.reads if each.name == name and id(each.spec) not in within), None)
        if read is not None and not diagnostics.full("warning"):
            loop = loops[0].spec
            each_own = loop.kind.name == "for_all"
            why = "each copy has its own" if each_own else "then it is the last item, and after an empty list none"
            help = (
                "`give:` and `into:` gather what the copies write"
                if each_own
                else (f'if it is meant, keep it in the loop: `on_success: {{last: "{{{name}}}"}}`')
            )
            message = f"`{name}` is read outside of the `{loop.kind.name}` on line {loop.span.line}: {why}"
            diagnostics.warning("BT023", message, read.spec.file, read.span, "", help)
