"""The tool calls of a model family, derived from a conversation with tools that its template rendered: how tools are
listed, what stands around a call's name, arguments and result."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from bt_runtime.llm.chat.template import CALLED, HEARD, LONGEST, SYSTEM, USER, tool
from bt_runtime.llm.chat.turns import THOUGHTS, closed

NAME, ABOUT = "Qjnamezvq", "Qjaboutzvq"  # stand for a tool's name and description in the kept texts
_TOOLS = 2  # the hole of the tools in a head; 0 is the system's, 1 the user's
_TYPESCRIPT = {"integer": "number", "number": "number", "boolean": "boolean"}
_PYTHON = {"integer": "int", "number": "float", "boolean": "bool"}
Call = tuple[str, str, str]  # a tool's name, the arguments as JSON, the result
Head = tuple[str | int, ...]


class Tool(NamedTuple):
    name: str
    about: str  # the tool's description in one line
    slots: tuple[tuple[str, str], ...] = ()  # (slot, JSON type)

    def data(self) -> dict[str, Any]:
        return tool(self.name, self.about, dict(self.slots))


class UnfitCalls(ValueError):
    """Says why a template's calls cannot be used."""


class CallForm(NamedTuple):
    """The parts of a conversation with calls. `NAME` in them stands for the called tool's name."""

    head: Head  # before and between the system's text, the tools and the user's text, which comes last
    listed: str  # the name of the format of a tool's parameters
    lead: str  # before the first tool's parameters
    gap: str  # between the parameters of two tools
    opening: str  # text before a tool's name
    mid: str  # between name and arguments
    answer: str  # between arguments and result
    quoted: bool  # the result is the inside of a JSON string
    first: str  # after the user's text, before the first call's name
    again: str  # after a result, before the next call's name
    start: str  # after the user's text, where the model speaks
    tail: str  # after the last result, where the model speaks

    def say(self, system: str, user: str, tools: Sequence[Tool], calls: Sequence[Call]) -> str:
        """Renders the prompt up to the name of the next call."""
        texts = (system, user, self.listing(tools))
        said = ["".join(part if isinstance(part, str) else texts[part] for part in self.head)]
        for number, (name, arguments, result) in enumerate(calls):
            before = self.again if number else self.first
            heard = json.dumps(result, ensure_ascii=False)[1:-1] if self.quoted else result
            said.append(f"{before}{name}{self.between(name)}{arguments}{self.answer.replace(NAME, name)}{heard}")
        return "".join([*said, self.tail if calls else self.start, self.opening])

    def between(self, name: str) -> str:
        return self.mid.replace(NAME, name)

    def listing(self, tools: Sequence[Tool]) -> str:
        found = []
        for number, each in enumerate(tools):
            before = self.gap if number else self.lead
            found.append(before.replace(NAME, each.name).replace(ABOUT, each.about) + FORMATS[self.listed](each))
        return "".join(found)


def plain(text: str) -> str:
    """Returns a description in one line and without signs that JSON writes differently: templates quote in many
    ways."""
    return " ".join(text.replace('"', "'").replace("\\", "/").split())


# How tools are listed ----------------------------------------------------------------------------


def _json(data: Any, indent: int | None = None) -> str:
    return json.dumps(data, ensure_ascii=False, indent=indent)


def _typescript(each: Tool) -> str:
    lines = "".join(f"{name}: {_TYPESCRIPT.get(kind, 'string')},\n" for name, kind in each.slots)
    return f"(_: {{\n{lines}}}) => any;" if lines else "() => any;"


def _hermes(each: Tool) -> str:
    """As Hermes 2 and 3 list a tool: its signature and arguments are a part of its description."""
    slots = [(name, _PYTHON.get(kind, "str")) for name, kind in each.slots]
    said = f"{each.name}({', '.join(f'{name}: {kind}' for name, kind in slots)}) - {each.about}\n\n"
    said += "    Args:\n" + "".join(f"        {name}({kind}): " for name, kind in slots) if slots else ""
    about = each.data()["function"]["parameters"] if slots else {}
    head = f'{{"type": "function", "function": {{"name": "{each.name}", "description": "{said}", '
    return f'{head}"parameters": {_json(about)}'


FORMATS: Mapping[str, Callable[[Tool], str]] = {
    "tool": lambda each: _json(each.data()),
    "tool, indented": lambda each: _json(each.data(), 4),
    "function": lambda each: _json(each.data()["function"]),
    "function, indented": lambda each: _json(each.data()["function"], 4),
    "typescript": _typescript,
    "hermes": _hermes,
    "parameters": lambda each: _json(each.data()["function"]["parameters"]),
}


# From what a template rendered -------------------------------------------------------------------


def form_of(tooled: str, called: str) -> CallForm:
    """Derives the form from two texts: the tools and a task, and the same with calls and results. Raises Unfit."""
    head, _, rest = called.partition(USER)
    if tooled.partition(USER)[0] != head or called.count(USER) != 1 or head.count(SYSTEM) != 1:
        raise UnfitCalls("its head changes with the calls")
    gaps, around = list[str](), set[tuple[str, str]]()
    for (name, _, _, arguments), heard in zip(CALLED, HEARD, strict=True):
        gap, mid, answer, rest = _parted(rest, (name, json.dumps(arguments), heard))
        gaps.append(gap)
        around.add((mid.replace(name, NAME), answer.replace(name, NAME)))
    if len(around) != 1 or len({*gaps[1:]}) != 1:
        raise UnfitCalls("its calls differ from turn to turn")
    ((mid, answer),) = around
    start, opening = _speaking(gaps[0], tooled.partition(USER)[2])
    if not gaps[1].endswith(opening):
        raise UnfitCalls("its first call differs from later ones")
    tail = closed(rest)
    listed, lead, gap, shape = _listed(head)
    quoted = answer.endswith('"') and rest.startswith('"')
    return CallForm(shape, listed, lead, gap, opening, mid, answer, quoted, gaps[0], gaps[1], start, tail)


def _parted(text: str, marks: Sequence[str]) -> list[str]:
    found = list[str]()
    for mark, what in zip(marks, ("name", "arguments", "result"), strict=True):
        before, there, text = text.partition(mark)
        if not there:
            raise UnfitCalls(
                "it writes arguments in a form that is not JSON" if what == "arguments" else f"a {what} is lost"
            )
        found.append(before)
    return [*found, text]


def _speaking(gap: str, tail: str) -> tuple[str, str]:
    """Returns the start of the model's turn without thinking, and what a call begins with there."""
    if gap.startswith(tail):
        return tail, gap[len(tail) :]
    for thought, _ in THOUGHTS:
        at = tail.find(thought)
        if at >= 0 and gap.startswith(tail[:at]):
            return closed(tail), gap[at:]
    raise UnfitCalls("a call does not begin where the model speaks")


def _listed(head: str) -> tuple[str, str, str, Head]:
    for name, written in FORMATS.items():
        rest, pieces = head, list[str]()
        for said, about, slots, _ in CALLED:
            before, found, rest = rest.partition(written(Tool(said, about, tuple(slots.items()))))
            if not found:
                break
            pieces.append(before.replace(said, NAME).replace(about, ABOUT))
        else:
            before, gap, other = pieces
            lead = next(gap[at:] for at in range(len(gap) + 1) if before.endswith(gap[at:]))
            before = before.removesuffix(lead)
            if gap == other and NAME not in before and not any(said in rest for said, *_ in CALLED):
                return name, lead, gap, (*_split(before), _TOOLS, *_split(rest), 1)
    raise UnfitCalls("it lists tools in a form that is not known here")


def _split(text: str) -> Head:
    return tuple(0 if part == SYSTEM else part for part in re.split(f"({SYSTEM})", text) if part)


def recalled(kept: Any) -> CallForm | str:
    """The form as a journal keeps it. Raises ValueError for one that cannot be; journals are untrusted."""
    if isinstance(kept, str):
        return kept[:200]
    head, *texts = kept
    if len(texts) != len(CallForm._fields) - 1 or len(head) > 16:
        raise ValueError
    if not all(isinstance(part, str) or (type(part) is int and part in (0, 1, _TOOLS)) for part in head):
        raise ValueError
    form = CallForm(tuple(head), *texts)
    said = [part for part in (*form.head, *texts) if not isinstance(part, int)]
    if not all(isinstance(part, str) for part in said) or sum(map(len, said)) > 4 * LONGEST:
        raise ValueError
    if form.listed not in FORMATS or not isinstance(form.quoted, bool):
        raise ValueError
    return form
