"""Recorded conversations of `form: tools`, read back from their prompts as messages with calls, and rendered again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from bt_lab.distill.documents import Document
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.llm.chat.calls import ABOUT, NAME, Call, CallForm, Tool
from bt_runtime.llm.chat.chat import Chat

_DECODER = json.JSONDecoder()
_HINT = "name a model whose template has usable calls, or leave --model out"
_TYPES = {"int": "integer", "float": "number", "bool": "boolean", "number": "number", "boolean": "boolean"}
_HOLES = {0: "(?P<system>.*?)", 1: "", 2: "(tools)"}  # the user's text comes last
Read = tuple[str, str, dict[str, str], int]  # a tool's name, what it is for, its parameters, and where it ends


class Head(NamedTuple):
    system: str
    tools: tuple[Tool, ...]
    end: int  # where the user's text begins


class Called(NamedTuple):
    """A conversation with calls. `calls`: the last one has no result."""

    system: str
    user: str
    tools: tuple[Tool, ...]
    calls: tuple[Call, ...]

    def row(self) -> dict[str, Any]:
        return {"messages": [*self.asked(), *_messages(self.calls)], "tools": self.offered()}

    def asked(self, until: int = 0) -> list[dict[str, Any]]:
        """The messages before a call."""
        texts = (("system", self.system), ("user", self.user))
        found: list[dict[str, Any]] = [{"role": role, "content": text} for role, text in texts if text]
        return [*found, *_messages(self.calls[:until], ended=True)]

    def offered(self) -> list[dict[str, Any]]:
        return [tool.data() for tool in self.tools]


def said(call: Call) -> dict[str, Any]:
    """A call as an assistant's message."""
    function = {"name": call[0], "arguments": json.loads(call[1])}
    return {"role": "assistant", "tool_calls": [{"type": "function", "function": function}]}


def _messages(calls: Sequence[Call], ended: bool = False) -> Iterator[dict[str, Any]]:
    for number, call in enumerate(calls, 1):
        yield said(call)
        if ended or number < len(calls):
            yield {"role": "tool", "name": call[0], "content": call[2]}


# From prompts ------------------------------------------------------------------------------------


def prompted(form: CallForm, prompt: str) -> str | None:
    """A prompt with calls, each begun as earlier ones are shown, so that the next prompt continues it; None for a
    prompt without tools."""
    head = _head(form, prompt)
    if head is None:
        return None
    places = (form.tail + form.opening, form.start + form.opening)  # one may end with the other
    ends = [(at + len(place), len(place)) for place in places if (at := prompt.rfind(place, head.end)) >= 0]
    if not ends:
        return None
    end, size = max(ends)
    called = re.compile(re.escape(form.first) + r"(\w+)" + _between(form)).search(prompt, head.end, end - size)
    return prompt[: end - size] + (form.again if called else form.first) + prompt[end:]


def read(form: CallForm, text: str) -> Called | None:
    """Reads a text of `prompted` that ends with an answer; None where it cannot be read without doubt. A last call
    whose arguments were not asked for, since there was one choice, is left out."""
    head = _head(form, text)
    if head is None:
        return None
    user, _, rest = text[head.end :].partition(form.first)
    bare = {tool.name for tool in head.tools if not tool.slots}
    calls, parts = list[Call](), rest.split(form.again)
    for part in parts:
        call = _call(form, part, bare)
        if call is not None:
            calls.append(call)
        elif part is not parts[-1]:
            return None
    return Called(head.system, user, head.tools, tuple(calls)) if calls else None


def conversations(form: CallForm | None, documents: Iterable[Document]) -> Iterator[Called]:
    """Yields the documents of a node that made calls; nothing without a form."""
    found = [read(form, document.text) for document in documents] if form is not None else []
    yield from (each for each in found if each is not None)


def _call(form: CallForm, text: str, bare: Container[str]) -> Call | None:
    found = re.match(r"(\w+)(?:" + _between(form) + ")?", text)
    if found is None:
        return None
    name, at = found[1], found.end()
    asked = (name + form.between(name)).rstrip()
    if name in bare and text.rstrip() in (name, asked):
        return name, "{}", ""
    try:
        given, end = _DECODER.raw_decode(text, at)
    except ValueError:
        return None
    arguments = json.dumps(given, ensure_ascii=False)
    answer = form.answer.replace(NAME, name)
    if not text.startswith(answer, end):
        return None if text[end:].strip() else (name, arguments, "")
    result = text[end + len(answer) :]
    return name, arguments, json.loads(f'"{result}"') if form.quoted else result


def _head(form: CallForm, prompt: str) -> Head | None:
    parts = [re.escape(part) if isinstance(part, str) else _HOLES[part] for part in form.head]
    at = parts.index(_HOLES[2])
    before = re.compile(f"{''.join(parts[:at])}(?={_lead(form.lead).pattern})", re.DOTALL).match(prompt)
    tools, end = _tools(form, prompt, before.end()) if before is not None else ((), 0)
    after = re.compile("".join(parts[at + 1 :]), re.DOTALL).match(prompt, end)
    if before is None or after is None or not tools:
        return None
    return Head(str({**before.groupdict(), **after.groupdict()}["system"]), tools, after.end())


def _between(form: CallForm) -> str:
    """What stands between a call's name and its arguments, as a pattern; the name is group 1."""
    return re.escape(form.mid).replace(NAME, r"\1")


# For another model -------------------------------------------------------------------------------


def rendered(row: Mapping[str, Any], chat: Chat | None) -> dict[str, Any]:
    """Renders a row by a model's template: the text, and each call as a span with the end of its turn. Raises BtError
    for a model without calls."""
    form: CallForm | str = chat.calls if chat is not None else "it has no chat template"
    if chat is None or isinstance(form, str):
        raise BtError(f"these runs call tools (`form: tools`), and this model cannot: {form}", _HINT)
    texts = {m["role"]: chat.harmless(m["content"]) for m in row["messages"] if m["role"] in ("system", "user")}
    tools = [
        Tool(f["name"], chat.harmless(f["description"]), tuple(_slots(f["parameters"]).items()))
        for f in (each["function"] for each in row["tools"])
    ]
    text = form.say(texts.get("system", ""), texts["user"], tools, ()).removesuffix(form.start + form.opening)
    calls, spans = [m for m in row["messages"] if m["role"] == "assistant"], []
    heard = [chat.harmless(m["content"]) for m in row["messages"] if m["role"] == "tool"]
    for number, message in enumerate(calls):
        function, last = message["tool_calls"][0]["function"], number == len(calls) - 1
        text += (form.tail if number else form.start) + form.opening if last else form.again if number else form.first
        begin, name = len(text), function["name"]
        arguments = chat.harmless(json.dumps(function["arguments"], ensure_ascii=False))
        answer = form.answer.replace(NAME, name)
        over = turn_end(answer, chat.markers)
        text += name + form.between(name) + arguments + over
        spans.append([begin, len(text)])
        if not last:
            result = json.dumps(heard[number], ensure_ascii=False)[1:-1] if form.quoted else heard[number]
            text += answer.removeprefix(over) + result
    return {"text": text, "spans": spans}


def turn_end(after: str, markers: Iterable[str]) -> str:
    """Returns the end of a turn: what stands after an answer up to the first token that is not text; "" without one."""
    ends = [after.index(marker) + len(marker) for marker in markers if marker in after]
    return after[: min(ends, default=0)]


# Tools as each format lists them -----------------------------------------------------------------


def _tools(form: CallForm, text: str, begin: int) -> tuple[tuple[Tool, ...], int]:
    """Reads a list of tools and where it ends. No tools unless the form writes the same text of what was read."""
    found, at = list[Tool](), begin
    while (lead := _lead(form.gap if found else form.lead).match(text, at)) is not None:
        try:
            name, about, slots, end = _READ[form.listed.partition(",")[0]](text, lead.end())
        except (ValueError, KeyError, TypeError, AttributeError):
            break
        told, at = lead.groupdict(), end
        found.append(Tool(told.get("name") or name, told.get("about") or about, tuple(slots.items())))
    return (tuple(found), at) if text.startswith(form.listing(found), begin) else ((), begin)


def _lead(text: str) -> re.Pattern[str]:
    pattern = re.escape(text)
    for mark, group in ((NAME, r"(?P<name>\w+)"), (ABOUT, r"(?P<about>[^\n]*?)")):
        pattern = pattern.replace(mark, group, 1).replace(mark, f"(?P={group[3 : group.index('>')]})")
    return re.compile(pattern)


def _slots(parameters: Any) -> dict[str, str]:
    return {str(name): str(slot["type"]) for name, slot in parameters["properties"].items()}


def _as_tool(text: str, at: int) -> Read:
    given, end = _DECODER.raw_decode(text, at)
    told = given.get("function", given)
    return told["name"], told["description"], _slots(told["parameters"]), end


def _as_parameters(text: str, at: int) -> Read:
    given, end = _DECODER.raw_decode(text, at)
    return "", "", _slots(given), end


def _as_hermes(text: str, at: int) -> Read:
    name, at = _until('", "description": "', text, _past('"name": "', text, at))
    about, at = _until("\n\n", text, _past(") - ", text, at))
    given, end = _DECODER.raw_decode(text, _past('"parameters": ', text, at))
    return name, about, _slots(given) if given else {}, end


def _as_typescript(text: str, at: int) -> Read:
    told, end = _until(") => any;", text, _past("(", text, at))
    slots = [line.removesuffix(",").split(": ") for line in told.removeprefix("_: {\n").removesuffix("}").splitlines()]
    return "", "", {name: _TYPES.get(kind, "string") for name, kind in slots}, end


def _past(mark: str, text: str, at: int) -> int:
    return text.index(mark, at) + len(mark)


def _until(mark: str, text: str, at: int) -> tuple[str, int]:
    """The text up to a mark, and where that ends."""
    end = text.index(mark, at)
    return text[at:end], end + len(mark)


_READ: dict[str, Callable[[str, int], Read]] = {
    "tool": _as_tool, "function": _as_tool, "parameters": _as_parameters, "hermes": _as_hermes,
    "typescript": _as_typescript,
}  # fmt: skip
