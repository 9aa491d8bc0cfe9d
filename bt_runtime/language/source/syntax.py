"""Explains libyaml's errors in plain words, with the likely cause. Imported at the first such error."""

from __future__ import annotations

import re
from typing import NamedTuple

import yaml

from bt_runtime.language.faults.diagnostic import Diagnostic
from bt_runtime.language.source.node import Mark
from bt_runtime.language.source.text import LINE_BREAK
from bt_runtime.types import Span


class Saying(NamedTuple):
    message: str
    help: str
    at_start: bool = False  # point to where the thing began, not to where it went wrong


_ESCAPE = "write `\\\\` for a backslash, or use single quotes"
_FLOW = "separate what is in brackets by commas, and close each bracket by its own kind"
_INDENT = "indent things of one level by the same number of spaces; quote a text that goes on after its quotes"
_TEXT = re.compile(r" *(?:- )*\w+: [^\s\"'{\[|>&*!#][^#]*: ")  # `log: battery: low`
# (what libyaml was doing, its complaint); the first that fits in both is taken
_SAYINGS: tuple[tuple[str, str, Saying], ...] = (
    ("a quoted scalar", "found unexpected", Saying("this quote is never closed", "add the closing quote", True)),
    ("quoted scalar", "unknown escape", Saying("no such escape in double quotes", _ESCAPE)),
    ("quoted scalar", "", Saying("this escape is broken", _ESCAPE)),
    ("a flow sequence", "", Saying("this `[` is not closed where it should be", _FLOW, True)),
    ("a flow mapping", "", Saying("this `{` is not closed where it should be", _FLOW, True)),
    (
        "a simple key",
        "",
        Saying(
            "this line is not `key: value`", "put `: ` after the key; indent or quote a text of several lines", True
        ),
    ),
    ("an alias", "", Saying("`*` begins an alias, and a name must follow", "quote a text that begins with `*`", True)),
    (
        "an anchor",
        "",
        Saying("`&` begins an anchor, and a name must follow", "quote a text that begins with `&`", True),
    ),
    ("a block scalar", "tab", Saying("a tab stands where the text is indented", "indent by spaces")),
    (
        "a block scalar",
        "",
        Saying("only a line break may follow this `|` or `>`", "quote a text that begins with `|` or `>`", True),
    ),
    (
        "a directive",
        "",
        Saying("a line that begins with `%` instructs YAML, and this one is unknown", "delete it", True),
    ),
    ("a %", "", Saying("this `%` line is broken", "delete it", True)),
    ("a tag", "", Saying("`!` begins a tag, and this is none", "quote a text that begins with `!`", True)),
    (
        "a node",
        "undefined tag",
        Saying("`!` begins a tag, and this one is unknown", "quote a text that begins with `!`", True),
    ),
    ("a block mapping", "expected key", Saying("this does not belong here", _INDENT)),
    (
        "a block collection",
        "",
        Saying("this does not belong to the list above it", "begin it with `- `, or indent it otherwise"),
    ),
    ("", "node content", Saying("a value should stand here", "quote a text that begins with `,`, `]` or `}`")),
    (
        "",
        "mapping values",
        Saying(
            "a `:` may not stand here",
            "quote a text with `: ` in it; or look at the indentation of this line and the one above",
        ),
    ),
    ("", "mapping keys", Saying("a `? ` may not stand here", "quote a text that begins with `?`")),
    ("", "block sequence", Saying("a `- ` may not stand here", "begin the list on a line of its own")),
    (
        "",
        "document start",
        Saying("nothing may follow the end of the document", "delete it; one file holds one document"),
    ),
    ("", "incompatible", Saying("this version of YAML is not known", "write `%YAML 1.2`, or delete the line")),
    ("", "duplicate %", Saying("this `%` line stands twice", "delete one")),
)


def explain(error: yaml.YAMLError, text: str, name: str) -> Diagnostic:
    """Explains the fault at which libyaml stopped."""
    problem = str(getattr(error, "problem", None) or "")
    context = str(getattr(error, "context", None) or "")
    mark = getattr(error, "problem_mark", None)
    began = getattr(error, "context_mark", None)
    lines = LINE_BREAK.split(text)
    if mark is None:
        return Diagnostic(
            "BT005", "this is not YAML", name, Span(1, 1, 1, 1), help="look for an unclosed quote or bracket"
        )
    line = lines[mark.line] if mark.line < len(lines) else ""
    tab = _tab(lines, mark.line, mark.column, problem)
    if tab:
        return _tabbed(lines, tab, name)
    if "node content" in problem and not "".join(lines[mark.line :])[mark.column :].strip():
        help = "close the bracket that was opened above"
        return Diagnostic("BT005", "the text ends where a value should stand", name, _end(lines), help=help)
    if "cannot start any token" in problem:
        sign = line[mark.column : mark.column + 1]
        return Diagnostic("BT005", f"a value may not begin with `{sign}`", name, _at(mark), help="put it in quotes")
    ended = "expected key" in context + problem or "block mapping" in context or "mapping values" in problem
    quoted = _after_quotes(line, mark) if ended else None
    if quoted:
        return quoted._replace(file=name)
    saying = next((s for doing, what, s in _SAYINGS if doing in context and what in problem), None)
    if saying is None:
        saying = Saying(f"this is not YAML: {problem}", "look for an unclosed quote or bracket")
    at = began if saying.at_start and began is not None else mark
    slip = _missing_space(lines, at.line) if "mapping values" in problem or "simple key" in context else None
    if slip:
        return slip._replace(file=name)
    if "mapping values" in problem and _TEXT.match(line):
        label = "a text with `: ` in it stands in quotes"
        return Diagnostic("BT005", saying.message, name, _at(at), label, saying.help)
    label = f"read on to line {min(mark.line + 1, len(lines))}" if at is began and mark.line != began.line else ""
    span = _at(at) if at.line < len(lines) else _end(lines)
    return Diagnostic("BT005", saying.message, name, span, label, saying.help)


def _end(lines: list[str]) -> Span:
    """Returns the end of the last content; libyaml points to a line below."""
    last = next((n for n in range(len(lines) - 1, -1, -1) if lines[n].strip()), 0)
    column = len(lines[last].rstrip()) + 1
    return Span(last + 1, column, last + 1, column + 1)


def _at(mark: Mark) -> Span:
    return Span(mark.line + 1, mark.column + 1, mark.line + 1, mark.column + 2)


def _tab(lines: list[str], line: int, column: int, problem: str) -> tuple[int, int] | None:
    """Returns the place of a tab that caused the problem: at the complaint, or in the line's indentation."""
    text = lines[line] if line < len(lines) else ""
    if text[column : column + 1] == "\t":
        return line, column
    indent = text[: len(text) - len(text.lstrip())]
    if "\t" in indent:
        return line, indent.index("\t")
    before = text[:column]
    if "\t" in before and not before.strip("\t -?:"):  # `-<tab>- a`, `key:<tab>- a`
        return line, before.index("\t")
    return None


def _tabbed(lines: list[str], place: tuple[int, int], name: str) -> Diagnostic:
    line, column = place
    others = [str(n + 1) for n, text in enumerate(lines) if n != line and re.match(r" *\t", text)]
    label = (
        "" if not others else f"and on line {others[0]}" if len(others) == 1 else f"and on {len(others)} other lines"
    )
    span = Span(line + 1, column + 1, line + 1, column + 2)
    return Diagnostic(
        "BT005", "YAML is indented by spaces, and this is a tab", name, span, label, "replace each tab by spaces"
    )


def _missing_space(lines: list[str], line: int) -> Diagnostic | None:
    """Detects `key:value` on this line or the one above, the most frequent mistake."""
    for number in (line, line - 1):
        text = lines[number] if 0 <= number < len(lines) else ""
        slip = re.match(r"\s*(?:- +)*([A-Za-z_][\w-]*:)[^\s:/]", text)
        if slip:
            span = Span(number + 1, slip.start(1) + 1, number + 1, slip.end(1) + 1)
            help = f"a key is written `{slip[1]} ` and then its value"
            label = "is a space missing after the colon?"
            return Diagnostic("BT005", "this line is not `key: value`", "", span, label, help)
    before = lines[line - 1] if line else ""
    bare = re.match(r"\s*(?:- +)*([A-Za-z_]\w*)\s*\Z", before)
    if bare and len(lines[line]) - len(lines[line].lstrip()) >= len(before) - len(before.lstrip()):
        span = Span(line, bare.start(1) + 1, line, bare.end(1) + 1)
        label, help = "is a colon missing after it?", f"a key is written `{bare[1]}:`"
        return Diagnostic("BT005", "this line is not `key: value`", "", span, label, help)
    return None


def _after_quotes(line: str, mark: Mark) -> Diagnostic | None:
    """Detects text after a quoted value, such as `check: "room" == "x"`: the closing quote ends the value."""
    begins = re.match(r"""\s*(?:- +)*(?:[A-Za-z_]\w*: +)?(?=["']|\{\w+\} *[^\s#])""", line)
    value = line[begins.end() :].rstrip() if begins else ""
    if (
        not begins
        or mark.column <= begins.end()
        or not line[: mark.column].rstrip().endswith(value[0].replace("{", "}"))
    ):
        return None
    if re.fullmatch(r"'[^'\"]*(?:\w'\w[^'\"]*)+'", value):
        value = value[1:-1]  # the outer quotes were meant for a text with an apostrophe
    other = "'" if "'" not in value else '"' if '"' not in value else ""
    whole = f"quote the whole: `{line[: begins.end()].strip().removeprefix('- ')} {other}{value}{other}`"
    help = (
        whole
        if other and "\\" not in value and len(value) <= 60
        else "quote the whole value, by quotes of the other kind"
    )
    after = "braces: without quotes they are a mapping" if value[0] == "{" else "a text in quotes"
    return Diagnostic("BT005", f"nothing may follow {after}", "", _at(mark), "the value ended before this", help)
