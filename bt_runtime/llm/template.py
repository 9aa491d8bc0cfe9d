"""The process that runs a model's chat template once: it comes from a file that somebody else made, so it runs alone.

A sandbox keeps it from Python; the limits keep it from taking the machine. Started by `chat.py`: template in, JSON out.
"""

from __future__ import annotations

import json
import resource
import sys
from typing import Any

from bt_runtime.project import orphan

SYSTEM, USER = "Qjsystemzvq", "Qjuserzvq"  # stand for the texts, and are looked for in what comes out
SECONDS = 2  # of computing
MEMORY = 256 << 20  # bytes of address space
LONGEST = 1 << 16  # characters that a template may put around the texts
CASES = {"both": (SYSTEM, USER), "user": ("", USER), "system": (SYSTEM, ""), "neither": ("", "")}


class _Refused(Exception):
    """What a template says by `raise_exception`."""


def _refuse(message: str) -> None:
    raise _Refused(message)


def compiled(template: str) -> Any:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.globals["raise_exception"] = _refuse
    return environment.from_string(template)


def shown(template: Any, system: str, user: str) -> str:
    """Some templates take no system text, others drop it: then it is said to the user."""
    joined = [{"role": "user", "content": "\n\n".join(filter(None, (system, user)))}]
    try:
        found = _rendered(template, [{"role": "system", "content": system}, {"role": "user", "content": user}])
    except _Refused:
        return _rendered(template, joined)
    return found if system in found else _rendered(template, joined)


def _rendered(template: Any, messages: list[dict[str, str]]) -> str:
    parts, size = [], 0
    for part in template.generate(messages=messages, add_generation_prompt=True, bos_token="", eos_token=""):
        size += len(part)
        if size > LONGEST:
            raise ValueError(f"it writes more than {LONGEST:,} characters around the texts")
        parts.append(part)
    return "".join(parts)


def answers(text: str) -> dict[str, list[str]]:
    """What comes out for each of the cases: ("shown", text) or ("fault", words)."""
    try:
        template = compiled(text)
    except Exception as fault:
        return {name: ["fault", _words(fault)] for name in CASES}
    found = {}
    for name, case in CASES.items():
        try:
            found[name] = ["shown", shown(template, *case)]
        except Exception as fault:  # whatever it does wrong is its own fault
            found[name] = ["fault", _words(fault)]
    return found


def _words(fault: Exception) -> str:
    if isinstance(fault, MemoryError):
        return f"it takes more than {MEMORY >> 20} MB"
    return str(fault)[:200] or type(fault).__name__


def main() -> None:
    orphan.heed()
    import jinja2.sandbox  # noqa: F401 - before there is a limit

    for what, most in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CPU, SECONDS), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(what, (most, most))
    sys.stdout.write(json.dumps(answers(sys.stdin.buffer.read().decode("utf-8", "replace"))))


if __name__ == "__main__":
    main()
