"""Formats faults: for a person (full, concise), a program (json) or a code forge (github)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from bt_runtime.language.faults.diagnostic import Diagnostic

    Format = Literal["full", "concise", "json", "github"]

FORMATS: tuple[Format, ...] = ("full", "concise", "json", "github")

_WIDEST = 100  # columns of a shown line; of a longer one, the part around the fault
_TAB = 4
_LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")  # line ends as YAML counts them

_HARMLESS = re.compile("[ -~\n\t]*")

_RED, _YELLOW, _BLUE, _BOLD, _PLAIN = "\x1b[1;31m", "\x1b[1;33m", "\x1b[1;34m", "\x1b[1m", "\x1b[0m"


class _Paint:
    def __init__(self, color: bool) -> None:
        self.color = color

    def __call__(self, text: str, tone: str) -> str:
        return f"{tone}{text}{_PLAIN}" if self.color else text


def render(
    diagnostics: Iterable[Diagnostic], sources: Mapping[str, str], form: Format = "full", color: bool = False
) -> str:
    """Returns all faults as one text without a final line break; "" without faults. `sources` maps file to text."""
    faults = list(diagnostics)
    if form == "json":
        return _json(faults)
    if form == "concise":
        return "\n".join(_concise(fault, color) for fault in faults)
    if form == "github":
        return "\n".join(_github(fault) for fault in faults)
    cut: dict[str, list[str]] = {}
    for fault in faults:
        if fault.span and fault.file not in cut:
            cut[fault.file] = _LINE_BREAK.split(sources.get(fault.file, ""))
    return "\n\n".join(_full(fault, cut.get(fault.file, []), color) for fault in faults)


def summary(diagnostics: Iterable[Diagnostic]) -> str:
    """Returns a count such as `2 errors, 1 warning`; "" when there are none."""
    kinds = [fault.severity for fault in diagnostics]
    counts = ((kinds.count("error"), "error"), (kinds.count("warning"), "warning"))
    return ", ".join(f"{n} {kind}{'s' if n > 1 else ''}" for n, kind in counts if n)


def _full(fault: Diagnostic, lines: list[str], color: bool) -> str:
    paint = _Paint(color)
    tone = _RED if fault.severity == "error" else _YELLOW
    head = paint(f"{fault.severity}[{fault.code}]", tone) + paint(f": {visible(fault.message)}", _BOLD)
    if not fault.span:
        place = [f"  {paint('-->', _BLUE)} {visible(fault.file)}"] if fault.file else []
        notes = [note for note in (fault.label, fault.help) if note]
        return "\n".join([head, *place, *(_note(note, 1, paint) for note in notes)])
    span = fault.span
    width = len(str(span.line))
    bar = paint(f"{' ' * (width + 2)}|", _BLUE)
    out = [head, f"{' ' * width} {paint('-->', _BLUE)} {visible(fault.file)}:{span.line}:{span.column}"]
    line = lines[span.line - 1] if 0 < span.line <= len(lines) else None
    if line is not None:
        end = span.end_column if span.end_line == span.line else len(line) + 1
        shown, before, under = _excerpt(line, span.column - 1, end - 1)
        carets = paint("^" * under + (f" {visible(fault.label)}" if fault.label else ""), tone)
        out += [bar, f"{paint(f' {span.line} |', _BLUE)} {shown}".rstrip(), f"{bar} {' ' * before}{carets}"]
    elif fault.label:
        out.append(_note(fault.label, width, paint))
    if fault.help:
        out.append(_note(fault.help, width, paint))
    return "\n".join(out)


def _note(text: str, width: int, paint: _Paint) -> str:
    first, *rest = [visible(line) for line in text.splitlines()] or [""]
    pad = " " * (width + 2)
    return "\n".join(
        [f"{pad}{paint('=', _BLUE)} {paint('help', _BOLD)}: {first}", *(f"{pad}        {r}" for r in rest)]
    )


def _excerpt(line: str, start: int, end: int) -> tuple[str, int, int]:
    """Returns the shown part of a line, the number of columns before the fault, and the fault's width, at least one."""
    start = min(start, len(line))
    first = 0 if len(line) <= _WIDEST // 2 else max(0, start - _WIDEST * 3 // 4)  # a character takes several columns
    cells = [_cell(character) for character in line[first : start + _WIDEST + 1]]
    lead, marked = start - first, max(end - first, start - first + 1)
    while lead and sum(width for _, width in cells[:lead]) > _WIDEST * 3 // 4:
        cells, lead, marked, first = cells[1:], lead - 1, marked - 1, first + 1
    shown = "..." if first else ""
    before = len(shown) + sum(width for _, width in cells[:lead])
    column, under = len(shown), 0
    for at, (text, width) in enumerate(cells):
        if column + width > _WIDEST:
            return shown + "...", before, max(under, 1)
        under += width if lead <= at < marked else 0
        shown, column = shown + text, column + width
    return shown, before, max(under, 1)


def _cell(character: str) -> tuple[str, int]:
    """Returns a character's display form, and its width in terminal columns."""
    if " " <= character <= "~":
        return character, 1
    if character == "\t":
        return " " * _TAB, _TAB
    if not character.isprintable():  # moves the cursor, turns the direction, or looks like a space and is none
        shown = _number(character)
        return shown, len(shown)
    import unicodedata  # imported only for letters beyond ASCII

    if unicodedata.category(character) in ("Mn", "Me"):
        return character, 0
    return character, 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _number(character: str) -> str:
    return f"<U+{ord(character):04X}>"


def visible(text: str) -> str:
    """Returns the text on one line without terminal control characters."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else " " if c in "\n\t" else _number(c) for c in text)


def printed(text: str) -> str:
    """Returns the text in its lines without other terminal control characters."""
    if text.isascii() and _HARMLESS.fullmatch(text):
        return text
    return "".join(c if c in "\n\t" or c.isprintable() else _number(c) for c in text)


def _concise(fault: Diagnostic, color: bool) -> str:
    paint = _Paint(color)
    tone = _RED if fault.severity == "error" else _YELLOW
    place = visible(fault.file)
    if fault.span:
        place = f"{place}:{fault.span.line}:{fault.span.column}"
    hint = visible(fault.label or fault.help)
    said = f"{paint(f'{fault.severity}[{fault.code}]', tone)}: {visible(fault.message)}{f' ({hint})' if hint else ''}"
    return f"{place}: {said}" if place else said


def _json(faults: list[Diagnostic]) -> str:
    import json

    rows = [
        {
            **fault._asdict(),
            "span": fault.span._asdict() if fault.span else None,
            "fixes": [
                {**fix._asdict(), "edits": [{"span": e.span._asdict(), "text": e.text} for e in fix.edits]}
                for fix in fault.fixes
            ],
        }
        for fault in faults
    ]
    return json.dumps(rows, indent=2)  # ASCII: whatever a file held, this is safe to print


def _github(fault: Diagnostic) -> str:
    """Formats a fault as a workflow command, which a forge shows beside the line."""
    where = {"file": fault.file, "title": fault.code}
    if fault.span:
        span = fault.span
        where |= {"line": str(span.line), "endLine": str(span.end_line), "col": str(span.column)}
        if span.end_line == span.line:
            where["endColumn"] = str(span.end_column)
    fields = ",".join(f"{key}={_escaped(value, ',:')}" for key, value in where.items() if value)
    said = "; ".join(part for part in (fault.message, fault.label, fault.help) if part)
    return f"::{fault.severity} {fields}::{_escaped(said)}"


def _escaped(text: str, also: str = "") -> str:
    for sign in "%\r\n" + also:
        text = text.replace(sign, f"%{ord(sign):02X}")
    return visible(text)
