"""The process that runs a model's chat template once: it comes from a file that somebody else made, so it runs alone.

A sandbox keeps it from Python; the limits keep it from taking the machine. Started by `chat.py`: template in, JSON out.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from bt_runtime.project import orphan

SYSTEM, USER = "Qjsystemzvq", "Qjuserzvq"  # stand for the texts, and are looked for in what comes out
SAID, HEARD = ("Qjsaidazvq", "Qjsaidbzvq", "Qjsaidczvq"), ("Qjheardazvq", "Qjheardbzvq", "Qjheardczvq")
SECONDS = 2  # of computing
MEMORY = 256 << 20  # bytes of address space
LONGEST = 1 << 16  # characters that a template may put around the texts
CASES = {"both": (SYSTEM, USER), "user": ("", USER), "system": (SYSTEM, ""), "neither": ("", "")}
_QUIET = {"enable_thinking": False, "thinking": False}  # by which names the families let thinking be turned off
_ALOUD = {"enable_thinking": True, "thinking": True}
_ABSENT: tuple[dict[str, Any], ...] = (
    {"tools": None, "documents": None},
    {},
    {"tools": [], "documents": [], "functions": "", "datetime": ""},
)
Message = dict[str, Any]
Render = Callable[[list[Message]], str]


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


def _message(role: str, text: str) -> Message:
    return {"role": role, "content": text}


def _renderer(template: Any, said: Mapping[str, Any]) -> Render:
    """Returns a function that renders messages without tools; some templates require an empty list of tools."""

    def render(messages: list[Message]) -> str:
        for number, absent in enumerate(_ABSENT):
            try:
                return render_with(messages, absent)
            except (_Refused, MemoryError):
                raise
            except Exception:
                if number == len(_ABSENT) - 1:
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
    """The result of each case: for a conversation (`turns`), and for a thinking model (`aloud`). Each is ("shown",
    text) or ("fault", words)."""
    names = [*CASES, "turns", "aloud"]
    try:
        template = compiled(asked["template"], datetime.fromisoformat(asked["now"]))
    except Exception as fault:
        return {name: ["fault", _words(fault)] for name in names}
    tokens = {"bos_token": asked["bos"], "eos_token": asked["eos"]}
    quiet, aloud = (_renderer(template, {**tokens, **how}) for how in (_QUIET, _ALOUD))
    found = {name: _told(lambda case=case: shown(quiet, *case)) for name, case in CASES.items()}  # type: ignore[misc]
    if found["both"][0] == "fault":  # so it is with all
        return found | dict.fromkeys(names[-2:], found["both"])
    return found | {"turns": _told(lambda: spoken(quiet)), "aloud": _told(lambda: shown(aloud, SYSTEM, USER))}


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

    for what, most in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CPU, SECONDS), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(what, (most, most))
    sys.stdout.write(json.dumps(answers(json.loads(sys.stdin.buffer.read()))))


if __name__ == "__main__":
    main()
