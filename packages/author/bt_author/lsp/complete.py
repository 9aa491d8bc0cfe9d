"""Completion at the cursor: kinds, fields, skills, ports, trees, entries, words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from bt_author.lsp import snippet
from bt_author.lsp.completion_slot import SCHEMAS, CompletionSlot, choices, properties, resolve
from bt_author.lsp.cursor import ITEM, Cursor, locate
from bt_author.lsp.describe import field_about, kind_about, tree_about
from bt_author.lsp.document import Document
from bt_author.lsp.workspace import Workspace
from bt_runtime.language import fixes, project
from bt_runtime.language.expression.call import EXISTS, FUNCTIONS
from bt_runtime.language.faults.diagnostic import Edit
from bt_runtime.language.kinds.kind import COMMON, DATA_TYPES, Field, Kind, Registry
from bt_runtime.language.project import real
from bt_runtime.language.source.text import LINE_BREAK
from bt_runtime.language.spec import TreeSpec

Sort = Literal["kind", "skill", "field", "value", "tree", "manifest", "entry", "function", "word", "port"]
_NAMED = re.compile(r"""\b(?:file|tree):[ \t]*["']?([\w./-]+)""")
_WORDS = ("and", "or", "not", "in", "if", "else", "true", "false", "null")
MOST = 500  # completions offered at once


class Suggestion(NamedTuple):
    label: str
    sort: Sort
    detail: str = ""
    doc: str = ""
    insert: str = ""  # a snippet; empty: the label
    start: int = 0  # offset at which the replaced text begins
    end: int = 0
    also: tuple[Edit, ...] = ()  # further edits elsewhere in the file
    rank: int = 5  # the lower, the nearer to the top


def complete(workspace: Workspace, document: Document, offset: int) -> list[Suggestion]:
    if document.content == "prompt" or (document.content == "plan" and not _in_header(document, offset)):
        return []
    return list(_Completion(workspace, document, offset).items())[:MOST]


def _in_header(document: Document, offset: int) -> bool:
    return (
        document.text.source[:offset].startswith("---")
        and len(re.findall(r"(?m)^---", document.text.source[:offset])) == 1
    )


def registry_at(workspace: Workspace, document: Document) -> Registry:
    """The kinds of a tree, even while its text is invalid: then the manifests that its lines name are used. Of another
    file those of the project."""
    tree, site = document.spec, workspace.site(document.path)
    if tree is not None or document.content != "tree":
        return tree.registry if tree is not None else site.registry
    registry = site.registry
    said = re.search(r"(?m)^skills:(.*(?:\n[ -].*)*)", document.text.source)
    for name in re.findall(r"[\w/-]+", said[1]) if said else ():
        path = site.manifest_named(name)
        registry = registry.with_kinds(tuple(workspace.manifest(path).kinds)) if path is not None else registry
    return registry if said or document.good is None else document.good.registry


class _Completion:
    def __init__(self, workspace: Workspace, document: Document, offset: int) -> None:
        self.workspace, self.document, self.offset = workspace, document, offset
        self.text, self.site = document.text, workspace.site(document.path)
        self.cursor: Cursor = locate(self.text, offset)
        self.tree: TreeSpec | None = document.spec or document.good
        self.registry = registry_at(workspace, document)
        self.goes_on = re.match(r"\s*:(\s|\Z)", self.text.source[self.cursor.end : self.cursor.end + 9]) is not None

    def items(self) -> Iterator[Suggestion]:
        cursor = self.cursor
        slot = resolve(cursor.path, self.registry, self.document.content)
        if self.document.content == "tree" and cursor.path[:1] == ("skills",):
            yield from self.values(self.site.names("skills"), "manifest")
        elif cursor.role == "value" or (cursor.path[-1:] == (ITEM,) and slot.what == "value"):
            yield from self.value(slot)
        elif slot.what == "schema":
            yield from self.of_schema(slot)
        else:
            yield from self.key(slot)

    # Keys ------------------------------------------------------------------------------------

    def key(self, slot: CompletionSlot) -> Iterator[Suggestion]:
        kind = slot.kind
        if slot.what == "node":
            yield from self.kinds()
        elif slot.what == "nodes" and not self.cursor.flow:
            yield from self.kinds("- ")
        elif slot.what == "bare" and kind is not None:
            yield from self.fields(kind)
            bare = kind.field(kind.bare) if kind.bare else None
            if bare is not None and bare.type == "node" and not self.cursor.siblings:
                yield from self.kinds()
            if bare is not None and bare.type == "nodes" and not self.cursor.siblings and not self.cursor.flow:
                yield from self.kinds("- ")
            if bare is not None and bare.type == "assignments":
                yield from self.entry_keys()
        elif slot.what == "ports" and kind is not None:
            yield from self.ports()
        elif slot.what == "entries":
            yield from self.entry_keys()
        elif slot.what == "value" and slot.field is not None and slot.field.asks:
            yield from self.kinds()

    def kinds(self, before: str = "") -> Iterator[Suggestion]:
        column = self.cursor.column + len(before)
        for kind in self.registry:
            sort: Sort = "skill" if kind.family == "skill" else "kind"
            rank = {"skill": 1, "control": 2, "decorator": 3, "leaf": 2}.get(kind.family, 4)
            yield self.keyed(kind.name, sort, kind.family, kind_about(kind), before, rank,
                             partial(self.kind_snippet, kind, column))  # fmt: skip
        yield from self.unlisted(before, column)

    def kind_snippet(self, kind: Kind, column: int) -> str:
        trees = self.own_trees() if kind.includes else []
        if not trees:
            return snippet.of_kind(kind, column, self.cursor.flow)
        needed = self.needed(trees[0])
        written = [f"file: ${{1:{snippet.escaped(trees[0])}}}", *([f"with: {{{needed}\\}}"] if needed else [])]
        if self.cursor.flow:
            return f"{kind.name}: {{{', '.join(written)}\\}}"
        return "".join([f"{kind.name}:", *(f"\n{' ' * (column + fixes.STEP)}{each}" for each in written)])

    def needed(self, name: str) -> str:
        """Completes the required inputs of a tree, in the form of `with:`."""
        path = self.target(name)
        document = self.workspace.document(path) if path is not None else None
        spec = document.spec if document is not None else None
        ports = [port for port in spec.inputs.values() if port.required] if spec is not None else []
        here = self.document.known()
        return snippet.escaped(", ".join(snippet.plain(snippet.of_port(port, port.name in here)) for port in ports))

    def unlisted(self, before: str, column: int) -> Iterator[Suggestion]:
        """Completes skills of the project's manifests that this tree does not list yet."""
        home = self.site.project
        lines = LINE_BREAK.split(self.text.yaml)
        for name in self.site.names("skills"):
            path = self.site.manifest_named(name)
            if home is None or path is None or not path.is_relative_to(home / "skills"):
                continue
            also = (fixes.header(lines, "skills", name),)
            for kind in self.workspace.manifest(path).kinds:
                if kind.name not in self.registry:
                    item = self.keyed(kind.name, "skill", f"skill of {name}, added to `skills:`", kind_about(kind),
                                      before, 6, partial(self.kind_snippet, kind, column))  # fmt: skip
                    yield item._replace(also=also)

    def fields(self, kind: Kind) -> Iterator[Suggestion]:
        own = {field.name for field in kind.fields}
        common = [field for field in COMMON if field.name not in own]
        for rank, fields in ((1, kind.fields), (7, common)):
            for field in fields:
                if field.name not in self.cursor.siblings:
                    first = rank - (rank == 1 and field.required)
                    made = partial(self.field_snippet, kind, field)
                    yield self.keyed(field.name, "field", field.type, field_about(field), "", first, made)

    def field_snippet(self, kind: Kind, field: Field) -> str:
        if kind.includes and field.name == "file" and self.site.names("trees"):
            return f"file: ${{1:{snippet.escaped(self.own_trees()[0])}}}"
        return snippet.of_field(field, self.cursor.column, self.cursor.flow)

    def entry_keys(self) -> Iterator[Suggestion]:
        for name, type in self.entries():
            yield self.keyed(name, "entry", type, "", "", 4, partial(_entry_snippet, name, type))

    def ports(self) -> Iterator[Suggestion]:
        target = self.included()
        if target is None:
            return
        here = self.document.known()
        for said, ports in (("input", target.inputs), ("output", target.outputs)):
            for port in ports.values():
                if port.name not in self.cursor.siblings:
                    detail = f"{said}, {port.type}{'' if not port.required or said == 'output' else ', needed'}"
                    shared = said == "output" or port.name in here
                    yield self.keyed(port.name, "port", detail, port.about, "", 1 + (not port.required),
                                     partial(snippet.of_port, port, shared))  # fmt: skip

    def included(self) -> TreeSpec | None:
        """The tree that the `tree` node around the cursor includes."""
        near = self.text.source[max(0, self.offset - 2_000) : self.offset]
        named = [*_NAMED.finditer(near)]
        after = _NAMED.search(self.text.source, self.offset, self.offset + 200)
        for found in ([named[-1]] if named else []) + ([after] if after else []):
            path = self.target(found[1])
            document = self.workspace.document(path) if path is not None else None
            if document is not None and (document.spec or document.good) is not None:
                return document.spec or document.good
        return None

    def target(self, name: str) -> Path | None:
        folder = self.document.path.parent
        beside = (p for p in (folder / name, folder / f"{name}.yaml") if p.is_file())
        found = next(beside, None) or project.find("trees", name, root=self.site.project)
        return real(found) if found is not None else None

    def of_schema(self, slot: CompletionSlot) -> Iterator[Suggestion]:
        top = SCHEMAS[self.document.content]
        found = properties(slot.schema, top)
        for name, inner in found.items():
            if name not in self.cursor.siblings:
                about = str(inner.get("description", ""))
                yield self.keyed(name, "field", "", about, "", 3, partial(self.schema_snippet, name, inner))
        if not found:
            yield from self.values([_shown(each) for each in choices(slot.schema, top)], "value")

    def schema_snippet(self, name: str, schema: dict[str, object]) -> str:
        enum, said = schema.get("enum"), schema.get("type")
        types = said if isinstance(said, list) else [said]
        if isinstance(enum, list) and enum:
            return f"{name}: ${{1:{snippet.escaped(_shown(enum[0]))}}}"
        if name in ("tree", "skills") and "string" in types:
            return f"{name}: ${{1:{re.sub(r'[^A-Za-z0-9_]', '_', self.document.path.stem)}}}"
        if "array" in types:
            return f"{name}: [$1]"
        if "object" in types or "allOf" in schema:
            return f"{name}: {{$1\\}}" if self.cursor.flow else f"{name}:\n{' ' * (self.cursor.column + 2)}$1"
        sample = {"number": "1", "integer": "1", "boolean": "true"}.get(str(types[0]), "text")
        return f"{name}: ${{1:{sample}}}"

    def keyed(
        self, name: str, sort: Sort, detail: str, doc: str, before: str, rank: int, made: Callable[[], str]
    ) -> Suggestion:
        insert = f"{before}{snippet.escaped(name)}" if self.goes_on else f"{before}{made()}"
        return Suggestion(name, sort, detail, doc, insert, self.cursor.start, self.cursor.end, rank=rank)

    # Values ----------------------------------------------------------------------------------

    def value(self, slot: CompletionSlot) -> Iterator[Suggestion]:
        if slot.what == "schema":
            yield from self.values(
                [_shown(each) for each in choices(slot.schema, SCHEMAS[self.document.content])], "value"
            )
            return
        kind, field = slot.kind, slot.field
        if slot.what == "bare" and kind is not None and kind.bare:
            field = kind.field(kind.bare)
        if field is None or kind is None:
            return
        if field.choices or field.type == "boolean":
            listed = field.choices or (True, False)
            yield from self.values([_shown(each) for each in listed], "value")
        if kind.includes and field.name == "file":
            yield from self.trees(slot)
        elif field.name == "actions":
            skills = [k.name for k in self.registry if k.family == "skill"]
            yield from self.values([*skills, "world"], "skill")
        elif field.type == "key":
            yield from self.values([name for name, _ in self.entries()], "entry")
        elif field.type == "expression":
            yield from self.expression()
        elif field.writes and "{" not in self.cursor.prefix:
            yield from self.values([f'"{{{name}}}"' for name in (field.name, *dict(self.entries()))], "entry")
        elif field.type in DATA_TYPES and self.cursor.prefix.rfind("{") > self.cursor.prefix.rfind("}"):
            yield from self.expression()
        elif field.type in DATA_TYPES and not self.cursor.prefix:
            whole = [f'"{{{name}}}"' for name, type in self.entries() if type in ("any", field.type)]
            yield from self.values(whole, "entry")

    def values(self, words: Iterable[str], sort: Sort) -> Iterator[Suggestion]:
        for word in dict.fromkeys(words):
            yield Suggestion(word, sort, "", "", snippet.escaped(word), self.cursor.start, self.cursor.end, rank=1)

    def own_trees(self) -> list[str]:
        names = [name for name in self.site.names("trees") if self.target(name) != self.document.path]
        home = self.site.project
        return sorted(names, key=lambda n: (p := self.target(n)) is None or home is None or not p.is_relative_to(home))

    def trees(self, slot: CompletionSlot) -> Iterator[Suggestion]:
        for rank, name in enumerate(self.own_trees()):
            path, needed = self.target(name), self.needed(name) if slot.what == "bare" else ""
            document = self.workspace.document(path) if path is not None else None
            spec = document.spec if document is not None else None
            insert = f"{{file: {snippet.escaped(name)}, with: {{{needed}\\}}\\}}" if needed else snippet.escaped(name)
            doc = tree_about(spec) if spec is not None else ""
            yield Suggestion(name, "tree", "", doc, insert, self.cursor.start, self.cursor.end, rank=1 + (rank > 50))

    def entries(self) -> list[tuple[str, str]]:
        return list(self.document.known().items())

    def expression(self) -> Iterator[Suggestion]:
        start = self.offset - len(_word(self.cursor.prefix))
        tail = re.match(r"\w*", self.text.source[self.offset :])
        end = self.offset + (tail.end() if tail else 0)
        written = self.text.source[start:end]  # known only because it stands here
        for name, type in self.entries():
            if name != written or (self.tree is not None and name in self.tree.ports):
                yield Suggestion(name, "entry", type, "", name, start, end, rank=1)
        for name in (*FUNCTIONS, EXISTS):
            yield Suggestion(name, "function", "", "", f"{name}(${{1}})", start, end, rank=4)
        for name in _WORDS:
            yield Suggestion(name, "word", "", "", name, start, end, rank=6)


def _shown(value: object) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _entry_snippet(name: str, type: str) -> str:
    value = {"string": '"text"', "boolean": "true", "list": "[]", "object": "{}"}.get(type, "1")
    return f"{name}: ${{1:{snippet.escaped(value)}}}"


def _word(text: str) -> str:
    """The partial name at the end of the text."""
    start = len(text)
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    return text[start:].lstrip("0123456789")
