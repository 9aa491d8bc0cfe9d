"""The commands of a debugger, in one table for its prompt, for attached clients, and for the page. Arguments are
checked."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from bt_runtime.journal import codec
from bt_runtime.language.faults.diagnostic import BtError, Diagnostic, Faults, did_you_mean
from bt_runtime.run.debug.debugger import Debugger
from bt_runtime.run.debug.rule import MOMENTS, RESULTS, Rule
from bt_runtime.run.debug.source import text_of
from bt_runtime.run.debug.travel import Travel
from bt_runtime.tree.node import Node
from bt_runtime.types import Json

MOST_SHOWN = 2000  # characters of one entry
MOST_ENTRIES = 200
MOST_LINE = 64_000  # characters of one command
HALTED = ("halted by the debugger", "debugger")
Given = Mapping[str, Any]


class Word(NamedTuple):
    usage: str
    about: str
    takes: Mapping[str, tuple[type, ...]]
    needs: tuple[str, ...]
    do: Callable[[Debugger, Given], Json]
    leaves: bool = False  # the pause, so that whoever said it waits for the next


def do(debugger: Debugger, name: str, given: Given) -> Json:
    """Carries out one command. After a BtError nothing has changed."""
    debugger, word = latest(debugger), COMMANDS.get(name)
    if word is None:
        raise BtError(f"there is no command `{name[:40]}`", did_you_mean(name, COMMANDS, "help"))
    for key, value in given.items():
        wanted = word.takes.get(key)
        if wanted is None or type(value) not in wanted:
            raise BtError(f"`{name}` takes no such `{str(key)[:40]}`", word.usage)
    missing = [key for key in word.needs if key not in given]
    if missing:
        raise BtError(f"`{name}` needs {', '.join(missing)}", word.usage)
    at = shown(debugger)
    if name in LOOKING:
        return word.do(at, given)
    if at.of_past and name not in TRAVELLING and not (name == "to" and "tick" in given):
        hint = "`fork` goes on from here" + ("" if debugger.of_past else f", `to {debugger.engine.count}` returns")
        raise BtError(f"tick {at.engine.count} is past, and only looked at", hint)
    return word.do(debugger, given)


def travel_of(debugger: Debugger) -> Travel:
    if debugger.travel is None:
        hint = "start it with one; in a program: `with stepping(run)` of bt_runtime.run.replay.stepping"
        raise BtError("this run has no journal in which it could go back", hint)
    found: Travel = debugger.travel
    return found


def latest(debugger: Debugger) -> Debugger:
    """The debugger of the run that commands change: of the latest fork, or its own."""
    while debugger.travel is not None and debugger.travel.fork is not None:
        debugger = debugger.travel.fork
    return debugger


def shown(debugger: Debugger) -> Debugger:
    """The debugger of what is looked at: of a past tick, or of the run itself."""
    at: Debugger | None = debugger.travel.shown if debugger.travel is not None else None
    return at if at is not None else debugger


def leaves(name: str, given: Given) -> bool:
    """True for a command that ends the pause, so that the next one is waited for."""
    return name in COMMANDS and COMMANDS[name].leaves and "tick" not in given


def parsed(line: str) -> tuple[str, dict[str, Any]]:
    """Parses a line typed at the prompt."""
    try:
        words = shlex.split(line) if "'" in line or '"' in line else line.split()
    except ValueError as error:
        raise BtError(f"this line cannot be read: {error}", "close the quotes") from None
    name, rest = SHORT.get(words[0], words[0]), words[1:]
    if name == "break":
        return name, _break(rest)
    if name == "force":
        return name, {"path": rest[0], "acts": [_act(word) for word in rest[1:]]} if rest else {}
    if name in ("clear", "undo") and rest:
        return name, {"which": int(rest[0]) if rest[0].isdecimal() else rest[0]}
    if name in ("step", "back") and rest:
        return name, {"ticks": _number(rest[0])}
    if name == "to" and rest and rest[0].isdecimal():
        return name, {"tick": _number(rest[0])}
    if name == "fork":
        return name, {"anyway": rest == ["anyway"]} if rest else {}
    if name == "print" and rest:
        return name, {"entry": rest[0], **({"path": rest[1]} if rest[1:] else {})}
    if rest:
        return name, {"path": rest[0]}
    return name, {}


def _break(words: list[str]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    if "if" in words:
        at = words.index("if")
        words, given["condition"] = words[:at], " ".join(words[at + 1 :])
    for word in words:
        given["moment" if word in MOMENTS else "path"] = word
    return given


def _act(word: str) -> Json:
    """Parses a forced result: `failure`, or `3:success`, which is running for three ticks first."""
    ticks, colon, result = word.partition(":")
    return [_number(ticks), result] if colon else word


def _number(word: str) -> int:
    if not word.isdecimal() or len(word) > 9:
        raise BtError(f"`{word[:40]}` is no number", "for instance 3")
    return int(word)


# What they do --------------------------------------------------------------------------------


def _broken(debugger: Debugger, given: Given) -> Json:
    once = bool(given.get("once"))
    found = debugger.break_at(given["path"], given.get("moment", "before"), given.get("condition", ""), once)
    return {"number": found.number, "said": f"breakpoint {found.number}: {found.text()}{_nobody(debugger, found)}"}


def _cleared(debugger: Debugger, given: Given) -> Json:
    gone = debugger.clear(given.get("which"))
    return {"said": "; ".join(f"cleared: {each.text()}" for each in gone) or "there was no breakpoint"}


def _forced(debugger: Debugger, given: Given) -> Json:
    found = debugger.force(given["path"], *given["acts"])
    return {"number": found.number, "said": f"change {found.number}: {found.text()}{_nobody(debugger, found)}"}


def _nobody(debugger: Debugger, rule: Rule) -> str:
    """The note for a pattern that matches no node: later nodes may match it, or it may be mistyped."""
    if debugger.reached(rule):
        return ""
    try:
        debugger.engine.find(rule.pattern)
    except BtError as error:
        hint = f": {error.hint}" if error.hint and "*" not in rule.pattern else ""
        return f" (no node is there now{hint})"
    return " (no node there can be)"


def _replaced(debugger: Debugger, given: Given) -> Json:
    path = debugger.replace(given["path"], given["text"])
    return {"path": path, "said": f"{given['path']} is replaced; the running nodes that stood there were halted"}


def _back(debugger: Debugger, given: Given) -> Json:
    return {"said": travel_of(debugger).to(shown(debugger).engine.count - given.get("ticks", 1))}


def _to(debugger: Debugger, given: Given) -> Json:
    if "tick" in given:
        return {"said": travel_of(debugger).to(given["tick"])}
    if "path" not in given:
        raise BtError("`to` needs a path or a tick", COMMANDS["to"].usage)
    debugger.run_to(given["path"])
    return {"said": "going on"}


def _undone(debugger: Debugger, given: Given) -> Json:
    return {"said": "; ".join(f"undone: {each}" for each in debugger.take_back(given.get("which"))) or "no changes"}


def _checked(debugger: Debugger, given: Given) -> Json:
    found: list[Diagnostic] = []
    try:
        debugger.check(given["path"], given["text"])
    except Faults as faults:
        found = list(faults.diagnostics)
    return {
        "faults": [
            {"line": d.span.line if d.span else 1, "code": d.code, "message": d.message, "hint": d.label or d.help}
            for d in found[:50]
        ],
        "said": "\n".join(map(str, found[:50])) or "no fault",
    }


def _source(debugger: Debugger, given: Given) -> Json:
    with debugger.engine.between():
        node = debugger.engine.find(given["path"])
        if not isinstance(node, Node):
            raise BtError(f"{given['path']} is a node of py_trees: it has no YAML", "choose a node above it")
        found = text_of(node.spec, debugger.engine.growth.owner(node).tree)
    return {"text": found, "said": found or "its text is not at hand"}


def _why(debugger: Debugger, given: Given) -> Json:
    told = debugger.why(given.get("path", ""))
    return {"sentences": list(told), "said": "\n".join(told)}


def _printed(debugger: Debugger, given: Given) -> Json:
    entries = debugger.entries(given.get("entry", ""), given.get("path", ""))
    shown = {name: _shown(value) for name, value in list(entries.items())[:MOST_ENTRIES]}
    more = [f"… {len(entries) - MOST_ENTRIES} more"] if len(entries) > MOST_ENTRIES else []
    lines = [f"{name} = {value}" for name, value in shown.items()]
    return {"entries": shown, "said": "\n".join([*lines, *more]) or "nothing is written"}


def _shown(value: Any) -> str:
    text = json.dumps(codec.plain(value), ensure_ascii=False)
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"


def status(debugger: Debugger) -> dict[str, Any]:
    """Returns the debugger's state for clients."""
    return {
        "run": debugger.run.parts.name,
        "past": debugger.of_past,
        "paused": debugger.paused,
        "at": debugger.at,
        "tick": debugger.engine.count,
        "status": debugger.engine.status.name,
        "breakpoints": [{"number": b.number, "path": b.pattern, "text": b.text()} for b in debugger.breakpoints],
        "changes": [
            *({"number": f.number, "path": f.pattern, "text": f.text()} for f in debugger.forces),
            *({"number": r.number, "path": r.path, "text": r.text()} for r in debugger.replaced),
        ],
        "limit": debugger.pause_of.limit if debugger.pause_of.limit < float("inf") else None,
        "then": debugger.pause_of.then,
    }


def _status(debugger: Debugger, given: Given) -> Json:
    found = status(debugger)
    where = f" at {found['at']}" if found["at"] and found["paused"] and not found["past"] else ""
    how = "looked at" if found["past"] else "paused" if found["paused"] else "going on"
    said = [f"{found['run']}: {how}{where}, tick {found['tick']}, {found['status']}"]
    said += [f"{each['number']}: {each['text']}" for each in (*found["breakpoints"], *found["changes"])]
    return {**found, "said": "\n".join(said)}


def _did(text: str, act: Callable[[Debugger, Given], object]) -> Callable[[Debugger, Given], Json]:
    def done(debugger: Debugger, given: Given) -> Json:
        act(debugger, given)
        return {"said": text}

    return done


def _help(debugger: Debugger, given: Given) -> Json:
    wide = max(len(word.usage) for word in COMMANDS.values())
    return {"said": "\n".join(f"{word.usage:<{wide}}  {word.about}" for word in COMMANDS.values())}


_PATH: Mapping[str, tuple[type, ...]] = {"path": (str,)}
_WHICH: Mapping[str, tuple[type, ...]] = {"which": (int, str)}
_TEXT: Mapping[str, tuple[type, ...]] = {"path": (str,), "text": (str,)}
COMMANDS: dict[str, Word] = {
    "break": Word(
        "break PATH [MOMENT] [if EXPR]", f"pause there; MOMENT: {', '.join(MOMENTS)}",
        {"path": (str,), "moment": (str,), "condition": (str,), "once": (bool,)}, ("path",), _broken,
    ),
    "clear": Word("clear [N|PATH]", "remove one breakpoint, or all", _WHICH, (), _cleared),
    "pause": Word("pause", "no tick from now on", {}, (), _did("paused", lambda d, g: d.pause())),
    "continue": Word("continue", "go on", {}, (), _did("going on", lambda d, g: d.resume()), True),
    "step": Word(
        "step [N]", "N ticks (1), then pause", {"ticks": (int,)}, (),
        _did("stepping", lambda d, g: d.step(g.get("ticks", 1))), True,
    ),
    "into": Word("into", "to the next node that starts", {}, (), _did("stepping", lambda d, g: d.into()), True),
    "over": Word(
        "over [PATH]", "until this node and all below it have ended", _PATH, (),
        _did("stepping", lambda d, g: d.over(g.get("path", ""))), True,
    ),
    "to": Word(
        "to PATH|TICK", "until this node is about to start; or show this past tick", {"path": (str,), "tick": (int,)},
        (), _to, True,
    ),
    "force": Word(
        "force PATH RESULT...", f"answer for it: {', '.join(RESULTS)}, 3:success (after 3 ticks)",
        {"path": (str,), "acts": (list,)}, ("path", "acts"), _forced,
    ),
    "replace": Word("replace PATH FILE", "put the YAML of a file in its place", _TEXT, ("path", "text"), _replaced),
    "check": Word("check PATH FILE", "what would be wrong with that", _TEXT, ("path", "text"), _checked),
    "source": Word("source PATH", "its YAML", _PATH, ("path",), _source),
    "undo": Word("undo [N|PATH]", "take back one change, or all", _WHICH, (), _undone),
    "back": Word("back [N]", "show the run as it was N ticks (1) before", {"ticks": (int,)}, (), _back),
    "fork": Word(
        "fork [anyway]", "go on from the tick that is shown, as a run of its own; anyway: the outside was put back",
        {"anyway": (bool,)}, (), lambda d, g: {"said": travel_of(d).begin(bool(g.get("anyway")))},
    ),
    "why": Word("why [PATH]", "why it is as it is", _PATH, (), _why),
    "print": Word(
        "print [ENTRY [PATH]]", "entries as a node sees them", {"entry": (str,), "path": (str,)}, (), _printed,
    ),
    "status": Word("status", "where it stands; breakpoints and changes", {}, (), _status),
    "halt": Word("halt", "end the run", {}, (), _did("halted", lambda d, g: d.run.halt(*HALTED, for_good=True)), True),
    "help": Word("help", "this", {}, (), _help),
}  # fmt: skip
TRAVELLING = frozenset({"back", "fork"})
LOOKING = frozenset({"check", "source", "why", "print", "status", "help"})  # commands that change nothing
SHORT = {"b": "break", "c": "continue", "s": "step", "n": "over", "i": "into", "p": "print", "w": "why", "?": "help"}
