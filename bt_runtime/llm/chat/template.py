"""The process that runs a model's chat template once: it comes from a file that somebody else made, so it runs alone.

A sandbox keeps it from Python; the limits keep it from taking the machine. Started by `chat.py`: template in, JSON out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from bt_runtime.language.project import orphan, system

SYSTEM, USER = "Qjsystemzvq", "Qjuserzvq"  # stand for the texts, and are looked for in what comes out
SAID, HEARD = ("Qjsaidazvq", "Qjsaidbzvq", "Qjsaidczvq"), ("Qjheardazvq", "Qjheardbzvq", "Qjheardczvq")
SECONDS = 2  # of computing one template
MEMORY = 256 << 20  # bytes of address space
LONGEST = 1 << 16  # characters that a template may put around the texts
CASES = {"both": (SYSTEM, USER), "user": ("", USER), "system": (SYSTEM, ""), "neither": ("", "")}
CALLED: tuple[tuple[str, str, dict[str, str], dict[str, Any]], ...] = (  # tools: name, about, slots, a call's arguments
    ("Qjtoolazvq", "Qjaboutazvq.", {"sa": "string", "sb": "string"}, {"sa": "Qjvaluea", "sb": "Qjvalueb"}),
    ("Qjtoolbzvq", "Qjaboutbzvq.", {"sc": "integer"}, {"sc": 7}),
    ("Qjtoolczvq", "Qjaboutczvq.", {}, {}),
)
_CALL = "call00001"  # id of every call; some templates want nine characters
_QUIET = {"enable_thinking": False, "thinking": False}  # switches by which model families turn thinking off
_ALOUD = {"enable_thinking": True, "thinking": True}
_ABSENT: tuple[dict[str, Any], ...] = (
    {"tools": None, "documents": None},
    {},
    {"tools": [], "documents": [], "functions": "", "datetime": ""},
)
Message = dict[str, Any]
Render = Callable[[list[Message]], str]


def tool(name: str, about: str, slots: Mapping[str, str]) -> dict[str, Any]:
    """A tool as templates take it; `slots`: the JSON type of each parameter."""
    properties = {slot: {"type": kind} for slot, kind in slots.items()}
    parameters = {"type": "object", "properties": properties, "required": [*slots]}
    return {"type": "function", "function": {"name": name, "description": about, "parameters": parameters}}


class _Refused(Exception):
    """The message of a template's `raise_exception`."""


def _refuse(message: str) -> None:
    raise _Refused(message)


def compiled(template: str, now: datetime) -> Any:
    """Compiles a template in the environment that transformers provides."""
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_generation(), "jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = _json
    environment.filters["safe"] = str  # nothing is escaped; jinja's would escape whatever is added to it
    environment.globals["raise_exception"] = _refuse
    environment.globals["strftime_now"] = now.strftime
    return environment.from_string(template)


def _generation() -> Any:
    """Renders the body of `{% generation %}` blocks, which only mark what the model has written."""
    from jinja2 import nodes
    from jinja2.ext import Extension

    class Generation(Extension):  # type: ignore[misc]
        tags = {"generation"}  # noqa: RUF012 - as jinja2 has it

        def parse(self, parser: Any) -> Any:
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            return nodes.Scope(body, lineno=line)

    return Generation


def _json(
    value: Any, ensure_ascii: bool = False, indent: Any = None, separators: Any = None, sort_keys: Any = False
) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def shown(render: Render, system: str, user: str) -> str:
    """Renders the messages. A template that drops the system text gets it in the user's message; some take a list of
    parts."""
    return _first(render, system, user, (), lambda text: system in text and user in text)


def spoken(render: Render) -> str:
    """Renders a conversation and checks that it holds every text once and in order."""
    pairs = tuple(zip(SAID, HEARD, strict=True))
    order = [SYSTEM, USER, *(text for pair in pairs for text in pair)]

    def whole(text: str) -> bool:
        places = [text.find(each) for each in order]
        return -1 not in places and places == sorted(places) and all(text.count(each) == 1 for each in order)

    found = _first(render, SYSTEM, USER, pairs, whole)
    if not whole(found):
        raise ValueError("it does not show all of a conversation")
    return found


def _first(render: Render, system: str, user: str, pairs: Any, good: Callable[[str], bool]) -> str:
    """Returns what the first form of the messages renders; when that fails, what the second one renders."""
    found, fault = list[str](), list[Exception]()
    for messages in _forms(system, user, pairs):
        try:
            found.append(render(messages))
        except MemoryError:
            raise
        except Exception as failed:
            fault.append(failed)
            continue
        if good(found[-1]):
            return found[-1]
    if not found:
        raise fault[0]
    return found[min(1, len(found) - 1)]


def _forms(system: str, user: str, pairs: Any) -> Iterator[list[Message]]:
    turns = [_message(role, text) for pair in pairs for role, text in zip(("assistant", "user"), pair, strict=True)]
    apart = [_message("system", system), _message("user", user), *turns]
    joined = [_message("user", "\n\n".join(filter(None, (system, user)))), *turns]
    yield apart
    yield joined
    for messages in (apart, joined):
        yield [{**each, "content": [{"type": "text", "text": each["content"]}]} for each in messages]


def calling(render: Render) -> tuple[str, str]:
    """Renders a task with tools, and the same with calls and their results, in the first form of the messages that
    shows all of it in order."""
    order = [SYSTEM, USER, *(text for call, heard in zip(CALLED, HEARD, strict=True) for text in (call[0], heard))]
    fault: Exception = ValueError("it does not show calls and their results")
    for asked in ([_message("system", SYSTEM), _message("user", USER)], [_message("user", f"{SYSTEM}\n\n{USER}")]):
        for written in (dict, json.dumps):  # the arguments, as most templates want them
            messages = [*asked, *_calls(written)]
            try:
                tooled, called = render(asked), render(messages)
            except MemoryError:
                raise
            except Exception as failed:
                fault = failed
                continue
            at, lost = 0, False
            for text in order:
                at = called.find(text, at)
                lost = lost or at < 0
            if not lost and all(heard in called for heard in HEARD) and str(CALLED[0][3]["sa"]) in called:
                return tooled, called
    raise fault


def _calls(written: Callable[[dict[str, Any]], Any]) -> Iterator[Message]:
    for (name, _, _, arguments), heard in zip(CALLED, HEARD, strict=True):
        call = {"id": _CALL, "type": "function", "function": {"name": name, "arguments": written(arguments)}}
        yield {"role": "assistant", "content": "", "tool_calls": [call]}
        yield {"role": "tool", "name": name, "tool_call_id": _CALL, "content": heard}


def _message(role: str, text: str) -> Message:
    return {"role": role, "content": text}


def _renderer(template: Any, said: Mapping[str, Any], others: Sequence[Mapping[str, Any]] = _ABSENT) -> Render:
    """Returns a function that renders messages, by default without tools; some templates require an empty list of
    tools. `others`: what else a template is given, one after the other until it takes it."""

    def render(messages: list[Message]) -> str:
        for number, absent in enumerate(others):
            try:
                return render_with(messages, absent)
            except (_Refused, MemoryError):
                raise
            except Exception:
                if number == len(others) - 1:
                    raise
        raise AssertionError

    def render_with(messages: list[Message], absent: Mapping[str, Any]) -> str:
        parts, size = [], 0
        for part in template.generate(messages=messages, add_generation_prompt=True, **absent, **said):
            size += len(part)
            if size > LONGEST:
                raise ValueError(f"it writes more than {LONGEST:,} characters around the texts")
            parts.append(part)
        return "".join(parts)

    return render


def answers(asked: Mapping[str, str]) -> dict[str, list[str]]:
    """The result of each case: for a conversation (`turns`), for a thinking model (`aloud`), with tools (`tooled`) and
    calls of them (`called`). Each is ("shown", text) or ("fault", words)."""
    names = [*CASES, "turns", "aloud", "tooled", "called"]
    try:
        template = compiled(asked["template"], datetime.fromisoformat(asked["now"]))
    except Exception as fault:
        return {name: ["fault", _words(fault)] for name in names}
    tokens = {"bos_token": asked["bos"], "eos_token": asked["eos"]}
    quiet, aloud = (_renderer(template, {**tokens, **how}) for how in (_QUIET, _ALOUD))
    found = {name: _told(lambda case=case: shown(quiet, *case)) for name, case in CASES.items()}  # type: ignore[misc]
    if found["both"][0] == "fault":  # the plain case failed: the others do too
        return found | dict.fromkeys(names[-4:], found["both"])
    found |= {"turns": _told(lambda: spoken(quiet)), "aloud": _told(lambda: shown(aloud, SYSTEM, USER))}
    if "tools" not in asked["template"]:
        return found | {name: ["fault", "it has no tools"] for name in names[-2:]}
    tools = [tool(*each[:3]) for each in CALLED]
    given = _renderer(template, {**tokens, **_QUIET, "tools": tools}, ({"documents": None}, {}))
    try:
        tooled, called = calling(given)
    except Exception as fault:
        return found | {name: ["fault", _words(fault)] for name in names[-2:]}
    return found | {"tooled": ["shown", tooled], "called": ["shown", called]}


def _told(make: Callable[[], str]) -> list[str]:
    try:
        return ["shown", make()]
    except Exception as fault:  # whatever it does wrong is its own fault
        return ["fault", _words(fault)]


def _words(fault: Exception) -> str:
    if isinstance(fault, MemoryError):
        return f"it takes more than {MEMORY >> 20} MB"
    return str(fault)[:200] or type(fault).__name__


def main() -> None:
    orphan.heed()
    import jinja2.ext
    import jinja2.sandbox  # noqa: F401 - before there is a limit

    for what, most in (("RLIMIT_AS", MEMORY), ("RLIMIT_CPU", SECONDS), ("RLIMIT_CORE", 0)):
        system.limit(what, most)
    sys.stdout.write(json.dumps(answers(json.loads(sys.stdin.buffer.read()))))


if __name__ == "__main__":
    main()
