"""Fixes for diagnostics, as edits of the file. Used by `validate --fix` and by editors."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping

from bt_runtime.language import nesting
from bt_runtime.language.faults.diagnostic import Diagnostic, Edit, Fix
from bt_runtime.language.kinds.kind import Field, Kind
from bt_runtime.language.nesting import STEP as STEP
from bt_runtime.language.source import Node, Scalar, YamlList, YamlMap
from bt_runtime.language.source.text import LINE_BREAK
from bt_runtime.language.spec import NodeSpec, Port
from bt_runtime.types import Span

_MEANT = re.compile(r"did you mean `([^`]+)`")
_WRITE = re.compile(r"write `(\w+:)`\Z")
_TEXT = re.compile(r'if it is a text: `"(\w+)"`')
_QUOTE = re.compile(r'quote it: `(?:\w+: )?(".*")`\Z')
_BRACES = re.compile(r"no braces here: `")
_INSTEAD = re.compile(r"(?:write|in seconds:|to compute it:|to negate:|a colon and a space:) `(?!\w+:`)([^`…]+)`\Z")
_FORMAT = re.compile(r"no formats here: `\{(round\(.+\))\}`\Z")
_TEST = re.compile(r"\b(?:check|expr|when|unless|until|if|on): *\Z")  # before an expression
_NAME = re.compile(r"(?P<mark>[\"']?)[\w ./-]+(?P=mark)")
_FIELD = re.compile(r"\b(?:updated|expr) *\Z")  # fields of `check`, where `=` may stand for a colon
_OPENS = re.compile(r"(?:[:\-?,{\[]|^) *\Z")  # before a value
_WHOLE_LINE = re.compile(r"quote the whole: `(.+)`\Z")
_ENTRY = re.compile(r"if an entry is meant: `(.+)`\Z")
_SIGNS = {"&": "and", "|": "or", "=": "=="}
_SKILL = re.compile(r"add `skills: \[(\w[\w/-]*)\]`")
_DECLARE = re.compile(r"`(blackboard|outputs): \{(\w+): any\}`")
_WHOLE = re.compile(r"a (?:tree file|manifest|plan) lacks")
_SAMPLES = {
    "any": "1", "string": '"text"', "integer": "1", "number": "1", "boolean": "true", "list": "[]", "object": "{}",
    "expression": '"true"', "key": "entry", "assignments": "{entry: 1}", "inputs": "{}", "text": '"text"',
    "outputs": "{entry: boolean}", "node": "{succeed: {}}", "nodes": "[{succeed: {}}]", "cases": "{one: {succeed: {}}}",
}  # fmt: skip


def sample(field: Field | Port) -> str:
    """Returns a valid value for this field, on one line of YAML."""
    if isinstance(field, Field) and field.writes and field.type not in ("key", "assignments"):
        return f'"{{{field.name}}}"'
    if field.choices:
        first = field.choices[0]
        return (
            first
            if isinstance(first, str) and first.isidentifier()
            else _SAMPLES["string"]
            if not first
            else repr(first)
        )
    least, most = (field.minimum, field.maximum) if isinstance(field, Field) else (None, None)
    if field.type in ("integer", "number") and ((least or 0) > 1 or (most is not None and most < 1)):
        return f"{least if least is not None else most:g}"
    return _SAMPLES[field.type]


# What the reader knows of --------------------------------------------------------------------------


def lacking(key: Scalar, value: Node, field: Field) -> tuple[Fix, ...]:
    """The fix for a missing field: inserts it before the others."""
    written = f"{field.name}: {sample(field)}"
    title = f"add `{written}`"
    if isinstance(value, Scalar):
        if value.value is not None or not value.plain or value.text:
            return ()
        at = Span(key.end.line + 1, key.end.column + 2, key.end.line + 1, key.end.column + 2)
        return (Fix(title, (Edit(at, f"\n{' ' * (key.start.column + STEP)}{written}"),)),)
    return (Fix(title, (nesting.first(value, (written,)),)),) if isinstance(value, YamlMap) else ()


def below(kind: Kind, value: Node, name: Scalar, inside: Node) -> tuple[Fix, ...]:
    """The fix for a node among a decorator's fields: moves it below `child:`."""
    field = next((f for f in kind.node_fields if f.type == "node"), None)
    if field is None or not isinstance(value, YamlMap) or value.get(field.name) is not None:
        return ()
    title, start, end = f"put it below `{field.name}:`", name.span, inside.span
    before = Span(start.line, start.column, start.line, start.column)
    if nesting.flow(value):
        behind = Span(end.end_line, end.end_column, end.end_line, end.end_column)
        return (Fix(title, (Edit(before, f"{field.name}: {{"), Edit(behind, "}")), True),)
    last = end.end_line - (end.end_column == 1)
    deeper = (Edit(Span(n, 1, n, 1), " " * STEP) for n in range(start.line + 1, last + 1))
    opened = Edit(before, f"{field.name}:\n{' ' * (start.column - 1 + STEP)}")
    return (Fix(title, (opened, *deeper), True),)


def dashed(first: Scalar) -> tuple[Fix, ...]:
    """The fix for `-log: a` in the place of list items: puts a space after each dash of this column."""
    column, edits = first.start.column, []
    for n, line in enumerate(LINE_BREAK.split(first.source)[first.start.line :], first.start.line + 1):
        if line.strip() and not line.startswith(" " * column):
            break
        if line[column : column + 1] == "-" and line[column + 1 : column + 2].isalpha():
            edits.append(Edit(Span(n, column + 2, n, column + 2), " "))
    return (Fix("put a space after each dash", tuple(edits), True),)


def gathered(value: YamlMap, keys: Collection[Scalar], name: str) -> tuple[Fix, ...]:
    """The fix for several keys of a node that belong below its field `name`, when they stand together at its end."""
    first = next(n for n, (key, _) in enumerate(value.pairs) if key in keys)
    if value.get(name) is not None or len(keys) < len(value.pairs) - first:
        return ()
    at, end = value.pairs[first][0].span, value.span
    before = at._replace(end_line=at.line, end_column=at.column)
    if nesting.flow(value):
        behind = Span(end.end_line, end.end_column, end.end_line, end.end_column)
        edits: tuple[Edit, ...] = (Edit(before, f"{name}: {{"), Edit(behind, "}"))
    else:
        deeper = (Edit(Span(n, 1, n, 1), " " * STEP) for n in range(at.line + 1, nesting.last_line(value) + 1))
        edits = (Edit(before, f"{name}:\n{' ' * (at.column - 1 + STEP)}"), *deeper)
    return (Fix(f"put them below `{name}:`", edits, True),)


def listed(value: YamlMap) -> tuple[Fix, ...]:
    """The fix for nodes in a mapping, where a list of them belongs."""
    begin, end = value.span, value.span
    if nesting.flow(value):
        opened = begin._replace(end_line=begin.line, end_column=begin.column + 1)
        closed = end._replace(line=end.end_line, column=end.end_column - 1)
        return (Fix("write a list", (Edit(opened, "["), Edit(closed, "]")), True),)
    heads = {key.span.line for key, _ in value}
    lines = range(begin.line, nesting.last_line(value) + 1)
    edits = tuple(
        Edit(
            Span(n, begin.column if n in heads else 1, n, begin.column if n in heads else 1),
            "- " if n in heads else " " * STEP,
        )
        for n in lines
    )
    return (Fix("write a list", edits, True),)


def comment(key: Scalar, value: Node) -> tuple[Fix, ...] | None:
    """The fix for `log: #1`, whose text is a comment of YAML; None for anything else."""
    line = LINE_BREAK.split(key.source)[key.end.line][key.end.column :]
    text = line[1:].strip(" ")
    rest = len(line) - len(line[1:].lstrip(" "))
    if line[:2] != ": " or text[:1] != "#" or not text[1:].strip() or text[1] in ' "\\':
        return None
    if not isinstance(value, Scalar) or value.value is not None:
        return None
    column = key.end.column + 1 + rest
    at = Span(key.end.line + 1, column, key.end.line + 1, column + len(text))
    return (Fix(f"write `{quoted(text)}`", (Edit(at, quoted(text)),)),)


def child(kind: Kind, key: Scalar, value: YamlList) -> tuple[Fix, ...]:
    """The fix for a list in the place of a decorator's child: one node, or a control node around several."""
    start, end = value.span, value.span
    if kind.bare != "child" or not value.items:
        return ()
    if len(value.items) > 1:
        return tuple(Fix(f"put them below a `{each}:`", nesting.beneath(key, value, (), each))
                     for each in ("sequence", "fallback"))  # fmt: skip
    opened, closed = start._replace(end_line=start.line, end_column=start.column + 1), end._replace(line=end.end_line)
    bracket = key.source[value.start.index : value.start.index + 1]
    if bracket != "[":
        return (Fix("leave the list out", (Edit(opened, " "),), True),) if start.column > key.start.column + 1 else ()
    inner = value.items[0]
    braces = ("", "") if key.source[inner.start.index : inner.start.index + 1] == "{" else ("{", "}")
    edits = (Edit(opened, braces[0]), Edit(closed._replace(column=end.end_column - 1), braces[1]))
    return (Fix("leave the list out", edits, True),)


def apart(bare: Field, value: YamlMap, common: Container[str]) -> tuple[Fix, ...]:
    """The fix for common fields among a bare mapping of entries: moves the entries below their field."""
    if not nesting.flow(value):
        start = value.start.line + 1
        last = value.end.line + 1 - (value.end.column == 0)
        entries = [(k, v) for k, v in value if k.text not in common]
        whole = _deeper(bare, value, range(start + 1, last + 1))
        if not entries or entries != value.pairs[: len(entries)]:
            return (whole,)
        first = next(k for k, _ in value if k.text in common)
        return (_deeper(bare, value, range(start + 1, first.start.line + 1), beside=True), whole)
    begin, end = value.span.line, value.span
    opened = Edit(Span(begin, end.column, begin, end.column), f"{{{bare.name}: ")
    closed = Edit(Span(end.end_line, end.end_column, end.end_line, end.end_column), "}")
    whole = Fix(f"write them all as entries, below `{bare.name}:`", (opened, closed))
    entries = [(k, v) for k, v in value if k.text not in common]
    if not entries or entries != value.pairs[: len(entries)]:
        return (whole,)
    inner, last_value = value.pairs[0][0].span, entries[-1][1].span
    fields = (
        Edit(Span(inner.line, inner.column, inner.line, inner.column), f"{bare.name}: {{"),
        Edit(Span(last_value.end_line, last_value.end_column, last_value.end_line, last_value.end_column), "}"),
    )
    return (Fix(f"write the entries below `{bare.name}:`", fields), whole)


def _deeper(bare: Field, value: YamlMap, lines: Iterable[int], beside: bool = False) -> Fix:
    """Indents the lines from the first one on, below the field."""
    start = value.span
    before = Span(start.line, start.column, start.line, start.column)
    opened = Edit(before, f"{bare.name}:\n{' ' * (start.column - 1 + STEP)}")
    edits = (opened, *(Edit(Span(n, 1, n, 1), " " * STEP) for n in lines))
    title = "write the entries below" if beside else "write them all as entries, below"
    return Fix(f"{title} `{bare.name}:`", edits)


def given(spec: NodeSpec, node: Node | None, port: Port, here: bool) -> tuple[Fix, ...]:
    """Returns the fix for a missing input of a `tree` node. `here`: this tree has an entry of that name."""
    value = f'"{{{port.name}}}"' if here else sample(port)
    written = f"{port.name}: {value}"
    title = f"give it: `{written}`"
    if isinstance(node, YamlMap):
        return (Fix(title, (nesting.first(node, (written,)),)),)
    file = spec.given.get("file")
    if node is not None or not isinstance(file, Scalar) or file.start.line != file.end.line:
        return ()
    if spec.span.line == file.start.line and spec.span.end_column + 2 == file.start.column + 1:  # `tree: door`
        opened, closed = (
            file.span._replace(end_column=file.span.column),
            file.span._replace(column=file.span.end_column),
        )
        return (Fix(title, (Edit(opened, "{file: "), Edit(closed, f", with: {{{written}}}}}"))),)
    behind = file.span._replace(column=file.span.end_column)
    return (Fix(title, (Edit(behind, f"\n{' ' * (file.start.column - len('file: '))}with: {{{written}}}"),)),)


# What a sentence says -------------------------------------------------------------------------------


def fixable(found: Iterable[Diagnostic], sources: Mapping[str, str]) -> list[Diagnostic]:
    """Returns the faults, each with the edits of its hint."""
    cut: dict[str, list[str]] = {}
    every = []
    for fault in found:
        if fault.span is not None and fault.file in sources:
            lines = cut.get(fault.file) or cut.setdefault(fault.file, LINE_BREAK.split(sources[fault.file]))
            ways = dict.fromkeys((*fault.fixes, *_said(fault, fault.span, lines)))
            every.append(fault._replace(fixes=tuple(ways)))
        else:
            every.append(fault)
    return every


def _said(fault: Diagnostic, span: Span, lines: list[str]) -> Iterator[Fix]:
    there = "" if fault.fixes else _at(span, lines)  # a fix that the fault brings along is exact
    meant = _MEANT.match(fault.label) or _MEANT.match(fault.help)
    if meant and there and f"`{there.strip(chr(34) + chr(39))}" in fault.message:
        yield Fix(f"write `{meant[1]}`", (Edit(span, meant[1]),), bool(_NAME.fullmatch(there)))
    if (said := _WRITE.match(fault.label)) and there == said[1][:-1]:
        yield Fix(f"write `{said[1]}`", (Edit(span, said[1]),), True)
    if there:
        yield from _instead(fault, span, there, lines[span.line - 1])
    if fault.label == "put it in quotes" and there:
        yield Fix("put it in quotes", (Edit(span, quoted(there)),), True)
    elif (
        fault.help == "put it in quotes"
        and fault.code == "BT005"
        and _OPENS.search(lines[span.line - 1][: span.column - 1])
    ):
        rest = lines[span.line - 1][span.column - 1 :].partition(" #")[0].rstrip()
        yield Fix("put it in quotes", (Edit(span._replace(end_column=span.column + len(rest)), quoted(rest)),), True)
    if fault.label == "a text with `: ` in it stands in quotes":
        key, _, rest = lines[span.line - 1].partition(": ")
        text, at = rest.partition(" #")[0].rstrip(), span._replace(column=len(key) + 3)
        yield Fix(f"write `{quoted(text)}`", (Edit(at._replace(end_column=at.column + len(text)), quoted(text)),))
    if fault.help == "put the list below a control node, such as `sequence:`":
        yield from (Fix(f"put them below a `{kind}:`", _around(kind, span, lines)) for kind in ("sequence", "fallback"))
    if whole := _WHOLE_LINE.match(fault.help):
        line = lines[span.line - 1]
        at = span._replace(column=line.index(whole[1].partition(" ")[0]) + 1, end_column=len(line.rstrip()) + 1)
        yield Fix(f"write `{whole[1]}`", (Edit(at, whole[1]),), "'{" in whole[1])
    if fault.label == "is a colon missing after it?":
        yield Fix("put a colon after it", (Edit(span._replace(column=span.end_column), ":"),), True)
    if fault.label == "is a space missing after the colon?":
        yield Fix("put a space after the colon", (Edit(span._replace(column=span.end_column), " "),), True)
    if fault.help == "replace each tab by spaces":
        yield Fix("replace each tab by spaces", tuple(_tabs(lines)), True)
    for pattern in (_SKILL, _DECLARE):
        if said := pattern.search(fault.label) or pattern.search(fault.help):
            key, item = ("skills", said[1]) if pattern is _SKILL else (said[1], f"{said[2]}: any")
            yield Fix(f"add `{item}` to `{key}:`", (header(lines, key, item),), key == "skills")
    if fault.help == "write `version: 1`" and _WHOLE.match(fault.message):
        yield Fix("add `version: 1`", (Edit(Span(1, 1, 1, 1), "version: 1\n"),), True)


def _around(kind: str, span: Span, lines: list[str]) -> tuple[Edit, ...]:
    """Puts the list at this place below a node of this kind."""
    start = span._replace(end_line=span.line, end_column=span.column)
    if lines[span.line - 1][span.column - 1 : span.column] == "[":
        behind = Span(span.end_line, span.end_column, span.end_line, span.end_column)
        return (Edit(start, f"{{{kind}: "), Edit(behind, "}"))
    above = next((line for line in reversed(lines[: span.line - 1]) if line.strip()), "")
    pad = STEP if len(above) - len(above.lstrip()) >= span.column - 1 else 0  # `then:` above its dashes
    opened = f"{' ' * pad}{kind}:\n{' ' * (span.column - 1 + pad + STEP)}"
    last = span.end_line - (span.end_column == 1)
    return (Edit(start, opened), *(Edit(Span(n, 1, n, 1), " " * (STEP + pad)) for n in range(span.line + 1, last + 1)))


def _instead(fault: Diagnostic, span: Span, there: str, line: str) -> Iterator[Fix]:
    """Yields the fixes that replace the text at the fault with the exact text of its help or label."""
    before = line[: span.column - 1]
    if said := _ENTRY.match(fault.label):
        yield Fix(f"write `{said[1]}`", (Edit(span, said[1]),))
    if said := _TEXT.search(fault.help):
        mark = "'" if before.count('"') % 2 else '"'
        yield Fix(f"write `{mark}{said[1]}{mark}`", (Edit(span, f"{mark}{said[1]}{mark}"),))
    if there in _SIGNS and (fault.label.startswith("write `") or there == "="):
        behind = line[span.column : span.column + 1]
        end = span.column + 1 + (behind == there)
        word = _SIGNS[there]
        left = "" if before[-1:].isspace() or there == "=" else " "
        right = "" if line[end - 1 : end].isspace() or there == "=" else " "
        edit = Edit(span._replace(end_column=end), f"{left}{word}{right}")
        yield Fix(f"write `{word}`", (edit,), there != "=" or not _FIELD.search(before))
    elif said := _QUOTE.match(fault.label):
        yield Fix(f"write `{said[1]}`", (Edit(span, said[1]),), True)
    elif _BRACES.match(fault.label) and there[:1] == "{" and there[-1:] == "}":
        yield Fix("remove the braces", (Edit(span, there[1:-1].strip()),), True)
    elif said := _FORMAT.match(fault.label) or _FORMAT.match(fault.help):
        yield Fix(f"write `{{{said[1]}}}`", (Edit(span, said[1]),))  # shows 0.5 as 0.5, not as 0.50
    elif said := _INSTEAD.match(fault.label):
        negated = fault.label.startswith("to negate")  # of a tag, which may stand anywhere
        yield Fix(f"write `{said[1]}`", (Edit(span, said[1]),), not negated or bool(_TEST.search(before)))


def _at(span: Span, lines: list[str]) -> str:
    if span.line != span.end_line or span.line > len(lines):
        return ""
    return lines[span.line - 1][span.column - 1 : span.end_column - 1]


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _tabs(lines: list[str]) -> Iterator[Edit]:
    for number, line in enumerate(lines, 1):
        indent = line[: len(line) - len(line.lstrip(" \t"))]
        if "\t" in indent:
            yield Edit(Span(number, 1, number, len(indent) + 1), indent.replace("\t", " " * STEP))


def header(lines: list[str], key: str, item: str) -> Edit:
    """Returns the edit that adds an item above the root: to `skills`, `blackboard` or `outputs`."""
    at = next((n for n, line in enumerate(lines, 1) if re.match(rf"{key}:(\s|\Z)", line)), 0)
    listed = key == "skills"
    if not at:
        top = next((n for n, line in enumerate(lines, 1) if re.match(r"root:(\s|\Z)", line)), 1)
        written = f"{key}: [{item}]" if listed else f"{key}: {{{item}}}"
        return Edit(Span(top, 1, top, 1), f"{written}\n")
    line = lines[at - 1]
    closing = line.rfind("]" if listed else "}")
    if closing > 0:
        comma = ", " if line[:closing].rstrip()[-1:] not in "[{" else ""
        return Edit(Span(at, closing + 1, at, closing + 1), f"{comma}{item}")
    indent = next((len(x) - len(x.lstrip()) for x in lines[at:] if x.strip()), STEP) if at < len(lines) else STEP
    behind = Span(at, len(line) + 1, at, len(line) + 1)
    return Edit(behind, f"\n{' ' * (indent if indent or listed else STEP)}{'- ' if listed else ''}{item}")


def mended(text: str, found: Iterable[Diagnostic]) -> tuple[str, int]:
    """Applies the first certain fix of every error, as far as they do not overlap. Returns the text and the number of
    fixes."""
    taken: list[Edit] = []
    count = 0
    for fault in found:
        fix = next((fix for fix in fault.fixes if fix.sure), None) if fault.severity == "error" else None
        lines = {n for e in fix.edits for n in range(e.span.line, e.span.end_line + 1)} if fix is not None else set()
        if fix is None or any(lines & {edit.span.line, edit.span.end_line} for edit in taken):
            continue
        taken += fix.edits
        count += 1
    return applied(text, taken), count


def applied(text: str, edits: Iterable[Edit]) -> str:
    """Applies edits, none of which overlap, to a text."""
    starts = [0, *(found.end() for found in LINE_BREAK.finditer(text))]

    def place(line: int, column: int) -> int:
        return min(starts[line - 1] + column - 1, len(text)) if line <= len(starts) else len(text)

    for edit in sorted(edits, key=lambda each: (each.span.line, each.span.column), reverse=True):
        begin, end = place(edit.span.line, edit.span.column), place(edit.span.end_line, edit.span.end_column)
        text = text[:begin] + edit.text + text[end:]
    return text
