"""Reads the plans that models write: the dialect, ReAcTree's lists, ADaPT's steps. All become one small structure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Literal, NamedTuple

from bt_runtime.language import source
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.source import Limits, Node, Scalar, YamlList, YamlMap
from bt_runtime.types import Json

Control = Literal["sequence", "fallback", "parallel"]
CONTROLS: tuple[Control, ...] = ("sequence", "fallback", "parallel")
MOST_TEXT = 20_000
_LIMITS = Limits()._replace(depth=40)
_MOST_DIGITS = 9  # most digits in a step's number


class PlannedGoal(NamedTuple):
    """A subgoal; it becomes the tree named by `leaf`."""

    text: str


class PlannedAct(NamedTuple):
    """A skill's sentence, started as it is written."""

    sentence: str


class Do(NamedTuple):
    """A skill as a node, with its fields."""

    skill: str
    fields: tuple[tuple[str, Json], ...]

    @property
    def text(self) -> str:
        said = ", ".join(f"{name}: {value}" for name, value in self.fields)
        return f"{self.skill} {said}".strip()


class PlannedFail(NamedTuple):
    why: str


class Group(NamedTuple):
    control: Control
    parts: tuple[Part, ...]


Part = PlannedGoal | PlannedAct | Do | PlannedFail | Group


class Unreadable(BtError):
    """A plan cannot be read; the message is written for the model that wrote it."""


def read_plan(text: str, skills: Collection[str] | None = (), form: str = "dialect") -> Group:
    """Reads a plan in any of the forms, whichever was asked for. A lone subgoal or action becomes a sequence of one.
    `skills`: names allowed as nodes; None allows any name, for a plan that was accepted before."""
    if len(text) > MOST_TEXT:
        raise Unreadable(f"the plan is too long: {len(text)} characters, at most {MOST_TEXT}")
    body = _unwrapped(text)
    if not body.strip():
        raise Unreadable("the plan is empty")
    part = _read(body, skills, form)
    return part if isinstance(part, Group) else Group("sequence", (part,))


def _read(body: str, skills: Collection[str] | None, form: str) -> Part:
    lines = [_bare(line) for line in body.splitlines()]
    if any(map(_STEP.match, lines)):
        return _steps(lines, _STEP)
    if any(map(_ORDER.match, lines)):  # of steps that are numbered by `1.` alone
        return _steps(lines, _NUMBERED)
    plain = body.replace("**", "")
    if _FLOW.search(plain):
        return _lists(plain)
    if not any(map(_CONTROL.match, body.splitlines())):
        numbered = sum(_NUMBERED.match(line) is not None for line in lines)
        if numbered > 1 or (numbered and form == "steps"):
            return _steps(lines, _NUMBERED)
        if form == "steps":
            return _bullets(body)
        if form == "lists":
            raise Unreadable(_LISTED)
    return _dialect(_block(body), skills)


def goals(part: Part) -> Iterator[str]:
    """All subgoals and sentences, in order."""
    if isinstance(part, Group):
        for inner in part.parts:
            yield from goals(inner)
    elif isinstance(part, PlannedGoal):
        yield part.text
    elif isinstance(part, PlannedAct):
        yield part.sentence
    elif isinstance(part, Do):
        yield part.text


def _unwrapped(text: str) -> str:
    """Removes what models write around a plan: thoughts before it, a code fence, a leading `Expand:`."""
    text = text.rpartition("</think>")[2]
    found = re.search(r"```[A-Za-z]*[^\S\n]*\n(.*?)(?:```|$)", text, re.DOTALL)
    body = (found[1] if found else text).strip("\n")
    return re.sub(r"\A\s*Expand:[ \t]*\n", "", body)


_CONTROL = re.compile(r"(?:- )?(?:sequence|fallback|parallel)[ \t]*:")


def _block(body: str) -> str:
    """Cuts a plan out of a text: from its first control node to the first line that belongs to no plan."""
    lines = body.splitlines()
    first = next((at for at, line in enumerate(lines) if _CONTROL.match(line)), None)
    if first is None:
        return body
    end = next((at for at in range(first, len(lines)) if not _goes_on(lines[at])), len(lines))
    return "\n".join(lines[first:end])


def _goes_on(line: str) -> bool:
    return not line.strip() or line[0] in " \t-#" or _CONTROL.match(line) is not None


# The smaller dialect ----------------------------------------------------------------------------


def _dialect(text: str, skills: Collection[str] | None) -> Part:
    document = source.parse(text, "plan", _LIMITS)
    if document.diagnostics:
        first = document.diagnostics[0]
        where = f" in line {first.span.line}" if first.span else ""
        raise Unreadable(f"the plan is no YAML: {first.message}{where}")
    if document.root is None:
        raise Unreadable("the plan is empty")
    return _part(document.root, 0, skills)


def _part(node: Node, depth: int, skills: Collection[str] | None) -> Part:
    if depth > 20:
        raise Unreadable("the plan is nested too deeply")
    if isinstance(node, Scalar):
        if node.value is None or not str(node.text).strip():
            raise Unreadable("a subgoal is empty")
        return PlannedGoal(_one_line(node.text))
    if isinstance(node, YamlList) and depth == 0 and len(node.items) == 1 and isinstance(node.items[0], YamlMap):
        return _part(node.items[0], 1, skills)
    if isinstance(node, YamlList):
        raise Unreadable("a list stands here alone", "say how its parts are joined: sequence, fallback or parallel")
    if len(node.pairs) != 1:
        raise Unreadable(f"a part of a plan has one key, this has {len(node.pairs)}: {', '.join(node.keys())[:80]}")
    key, value = node.pairs[0]
    if key.text in CONTROLS:
        return _group(key.text, value, depth, skills)
    if key.text.isidentifier() if skills is None else key.text in skills:
        return _do(key.text, value)
    if key.text in ("act", "fail"):
        if not isinstance(value, Scalar):
            raise Unreadable(f"`{key.text}` takes one sentence")
        said = "" if value.value is None else _one_line(value.text)
        if key.text == "fail":
            return PlannedFail(said)
        if not said:
            raise Unreadable("`act` takes one sentence")
        return PlannedAct(said)
    raise Unreadable(
        f"a plan has no `{key.text[:60]}`", "it has: sequence, fallback, parallel, act, fail, and plain subgoals"
    )


def _do(skill: str, value: Node) -> Do:
    if isinstance(value, YamlMap):
        return Do(skill, tuple((name.text, each.data()) for name, each in value))
    if isinstance(value, Scalar) and value.value is not None:
        return Do(skill, (("", value.value),))  # a bare value of its one parameter
    if isinstance(value, Scalar):
        return Do(skill, ())
    raise Unreadable(f"`{skill}` takes its parameters by name")


def _group(control: str, value: Node, depth: int, skills: Collection[str] | None) -> Group:
    if isinstance(value, YamlMap) and [k.text for k, _ in value] == ["children"]:
        value = value.pairs[0][1]
    if not isinstance(value, YamlList) or not value.items:
        raise Unreadable(f"`{control}` takes a list of parts")
    parts = tuple([_part(item, depth + 1, skills) for item in value])
    return Group(control, parts)  # type: ignore[arg-type]


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


# ReAcTree's lists: `- control flow: sequence` and `- subgoals: a, b, and c` --------------------------------

# A line begins by blanks of its own and then maybe a dash; no two loops here can take the same blanks.
_BLANKS = r"^[^\S\n]*+"
_FLOW = re.compile(_BLANKS + r"(?:-\s*+)?control[ _]flow\s*+:\s*+(.*)$", re.IGNORECASE | re.MULTILINE)
_LISTED = "a plan in this form has `- control flow: …` and `- subgoals: …`"
_SUBGOALS = re.compile(_BLANKS + r"(?:-\s*+)?sub-?goals\s*+:\s*+(.*)$", re.IGNORECASE | re.MULTILINE | re.DOTALL)


def _lists(text: str) -> Part:
    flow = _FLOW.search(text)
    listed = _SUBGOALS.search(text)
    if flow is None or listed is None:
        raise Unreadable(_LISTED)
    control = flow[1].strip().strip("\"'").casefold()
    if control not in CONTROLS:
        raise Unreadable(f"the control flow `{control[:40]}` is none of sequence, fallback, parallel")
    body = listed[1].strip().partition("\n\n")[0]
    if "\n" in body:
        parts = [re.sub(r"^\s*(?:[-*]|\d+[.)])\s*", "", line) for line in body.splitlines() if line.strip()]
    else:
        parts = re.split(r",\s+", body)
    named = [PlannedGoal(_one_line(re.sub(r"^and\s+", "", p))) for p in parts if p.strip(" .,")]
    if not named:
        raise Unreadable("the list of subgoals is empty")
    return Group(control, tuple(named))


# ADaPT's steps: `Step 1: …` and `Execution Order: (Step 1 OR Step 2) AND Step 3` ----------------------------

_SIGNS = "#>*-+•·–— \t"  # before a line that is a heading, a quotation or a bullet
_STEP = re.compile(r"Step\s{1,3}(\d++)\s{0,3}(?:[:：.)]|[-–—](?!>))\s*+(\S.*)", re.IGNORECASE)
_NUMBERED = re.compile(r"(\d++)[.):]\s++(\S.*)")
_ORDER = re.compile(r"Execution\s{1,3}Order\s{0,3}[:：]\s*+(.*)", re.IGNORECASE)
_TOKEN = re.compile(
    r"\s*(?:(?P<step>Step\s{1,3}\d+|\d+)|(?P<open>[(\[])|(?P<close>[)\]])|"
    r"(?P<and>AND\b|then\b|[-=]>|→|⇒|➔|&&?|,|;)|(?P<or>OR\b|\|\|?))", re.IGNORECASE
)  # fmt: skip
_JOINS = ("AND", "OR")


def _bare(line: str) -> str:
    """Strips a line of bullets, heading marks and bold type."""
    return line.replace("**", "").replace("__", "").strip().lstrip(_SIGNS).strip("`")


def _steps(lines: Sequence[str], numbered: re.Pattern[str]) -> Part:
    found = [match for line in lines if (match := numbered.match(line))]
    steps: dict[int, Part] = {_number(each[1]): PlannedGoal(_one_line(each[2])) for each in found}
    if not steps:
        raise Unreadable(_NO_STEPS)
    order = _order(lines)
    return _Order(order, steps).read() if order else Group("sequence", tuple(steps.values()))


_NO_STEPS = "the plan names no steps: write `Step 1: …`"
_REFERENCE = re.compile(r"[(\[]*Step\s{1,3}\d+\s{0,3}(?:AND\b|OR\b|[-=]>|→|⇒|➔|,)", re.IGNORECASE)


def _order(lines: Sequence[str]) -> str:
    """Finds the execution order: the text after `Execution Order:`, or the next line, else a line that holds only
    steps."""
    for at, line in enumerate(lines):
        if found := _ORDER.match(line):
            return found[1].strip() or next((each for each in lines[at + 1 :] if each), "")
    return next((line for line in lines if _REFERENCE.match(line)), "")


def _bullets(body: str) -> Part:
    """Reads an unnumbered list in place of numbered steps; all parts in order."""
    lines = [line.strip() for line in body.splitlines()]
    said = [_one_line(_bare(line)) for line in lines if line[:2] in ("- ", "* ", "• ", "+ ")]
    if len(said) < 2:
        raise Unreadable(_NO_STEPS)
    return Group("sequence", tuple(PlannedGoal(each) for each in said if each))


def _number(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise Unreadable(f"the plan numbers a step by {len(digits)} digits")
    return int(digits)


class _Order:
    """The line's grammar: any := all (OR all)*, all := one (AND one)*, one := Step n | ( any )."""

    def __init__(self, text: str, steps: dict[int, Part]) -> None:
        self.steps = steps
        self.tokens = self.scan(text)
        self.at = 0
        self.depth = 0

    def scan(self, text: str) -> list[str]:
        tokens: list[str] = []
        at, text = 0, text.strip().rstrip(".")
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise Unreadable(f"the execution order cannot be read from `{text[at : at + 20]}` on")
            kind, at = str(found.lastgroup), found.end()
            token = {"open": "(", "close": ")", "and": "AND", "or": "OR"}.get(kind, f"STEP {found[kind].split()[-1]}")
            if tokens and token in _JOINS and tokens[-1] in _JOINS:
                tokens.pop()  # `Step 1, and Step 2`
            tokens.append(token)
        return tokens

    def read(self) -> Part:
        part = self.any()
        if self.at < len(self.tokens):
            raise Unreadable(f"the execution order has a stray `{self.tokens[self.at]}`")
        return part

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def joined(self, word: str, control: Control, inner: Part) -> Part:
        parts = [inner]
        while self.peek() == word:
            self.at += 1
            parts.append(self.all() if word == "OR" else self.one())
        return Group(control, tuple(parts)) if len(parts) > 1 else inner

    def any(self) -> Part:
        return self.joined("OR", "fallback", self.all())

    def all(self) -> Part:
        return self.joined("AND", "sequence", self.one())

    def one(self) -> Part:
        token = self.peek()
        self.at += 1
        if token == "(":
            self.depth += 1
            if self.depth > 20:
                raise Unreadable("the execution order is nested too deeply")
            inside = self.any()
            if self.peek() != ")":
                raise Unreadable("a bracket of the execution order is not closed")
            self.at += 1
            self.depth -= 1
            return inside
        if token.startswith("STEP "):
            number = _number(token[5:])
            if number not in self.steps:
                raise Unreadable(f"the execution order names step {number}, and there is none")
            return self.steps[number]
        raise Unreadable(f"the execution order has `{token or 'nothing'}` where a step should be")
