"""A journal's entries as events of the page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from bt_runtime.agents.plan_text import Unreadable, goals, read_plan
from bt_runtime.journal.reading import Recording
from bt_runtime.types import Json
from bt_runtime.view.event import Event
from bt_runtime.view.grown import Grown
from bt_runtime.view.patch import NAME, patch
from bt_runtime.view.plain import MOST_TEXT, clipped, plain
from bt_runtime.view.shadow import Shadow

TOLD = frozenset({
    "decision", "act", "step", "expand", "refused", "retrieval", "retrieval failed", "reflection", "rewriting",
    "episode", "outcome", "end",
})  # fmt: skip
LETTERS = {"SUCCESS": "S", "FAILURE": "F"}
_TASK = re.compile(r"^Your task is to: (.*)$", re.MULTILINE)


class Retold:
    def __init__(self, grown: Grown, shadow: Shadow) -> None:
        self.grown, self.shadow = grown, shadow
        self.time = 0.0
        self.prompts: dict[int, str] = {}
        self.goals: dict[int, str] = {}
        self.sentences: dict[int, str] = {}  # of actions that have begun
        self.spent = {"decisions": 0, "tokens": 0, "steps": 0, "nodes": 0}
        self.memory: Json = None  # working memory, as it was shown last
        self.ended = False

    def take(self, kind: str, body: dict[str, Any], at: float) -> Iterator[Event]:
        self.time = max(self.time, at)
        if kind in TOLD:
            yield from self._agent(kind, body)
        else:
            handle = getattr(self, f"_{kind}", None)
            if handle is not None:
                yield from handle(body)

    def over(self, recording: Recording) -> Iterator[Event]:
        if not self.ended:
            self.ended = True
            verdict = list(recording.verdict) if recording.verdict else None
            status = LETTERS.get(recording.result, "I")
            yield self._event("over", status=status, verdict=verdict, why="" if recording.result else "it did not end")

    # Agents ----------------------------------------------------------------------------------

    def _agent(self, kind: str, body: dict[str, Any]) -> Iterator[Event]:
        number = self.grown.numbers.get(str(body.get("path", "")))
        if number is None:
            return
        if kind == "end" and body.get("goal"):
            yield from self._goal(number, str(body["goal"]))
        told = {k: plain(v, MOST_TEXT) for k, v in body.items() if k not in ("path", "id", "what", "k", "t")}
        yield {**told, "k": "agent", "t": self.time, "id": number, "what": kind}
        if kind in ("act", "expand"):
            self.spent["steps"] += kind == "act"
            self.spent["nodes"] += _parts(str(body.get("plan", ""))) if kind == "expand" else 0
            yield self._event("spent", **self.spent)

    def _goal(self, number: int, goal: str) -> Iterator[Event]:
        if self.goals.get(number) != goal:
            self.goals[number] = goal
            yield self._event("agent", id=number, what="goal", goal=clipped(goal, 2000))

    def _ask(self, body: dict[str, Any]) -> Iterator[Event]:
        """A prompt only grows: it is shown as it was before the first step."""
        self.spent["decisions"] += body.get("what") != "embed"
        number, prompt = self.grown.numbers.get(str(body.get("path", ""))), str(body.get("prompt", ""))
        if number is None or (number in self.prompts and prompt.startswith(self.prompts[number])):
            return
        self.prompts[number] = prompt
        tasks = _TASK.findall(prompt)
        if tasks:
            yield from self._goal(number, tasks[-1])
        yield self._event("agent", id=number, what="prompt", whole=clipped(prompt))

    def _answer(self, body: dict[str, Any]) -> Iterator[Event]:
        value = body.get("value")
        if isinstance(value, dict) and value.get("$") == "writing":
            self.spent["tokens"] += int(value["v"][2])
        yield self._event("spent", **self.spent)

    # The world and the rest ------------------------------------------------------------------

    def _begin(self, body: dict[str, Any]) -> Iterator[Event]:
        self.sentences[body["job"]] = str(body.get("sentence", ""))
        yield from self._seen(self.shadow.begun())

    def _done(self, body: dict[str, Any]) -> Iterator[Event]:
        sentence = self.sentences.pop(body["job"], "")
        if "error" not in body:
            yield from self._seen(self.shadow.acted(sentence, body.get("value")))

    def _seen(self, picture: Json) -> Iterator[Event]:
        if picture is not None:
            yield self._event("world", picture=picture)

    def _world(self, body: dict[str, Any]) -> Iterator[Event]:
        if body.get("call") == "look":
            yield from self._seen(self.shadow.begun())

    def _blackboard(self, body: dict[str, Any]) -> Iterator[Event]:
        value = body["value"]
        told: dict[str, Json] = {"scope": str(body["scope"]), "name": str(body["name"])}
        if body["name"] == "goal" and isinstance(body["value"], str):
            shape = self.grown.says(str(body["scope"]), clipped(body["value"], 120), self.time)
            if shape is not None:
                yield shape
        if body["name"] != NAME:
            yield self._event("write", **told, value=plain(untagged(value)))
            return
        shown = known(value)
        change, self.memory = patch(self.memory, shown), shown
        yield self._event("write", **told, **({"value": shown} if change is None else {"patch": change}))

    _write = _blackboard

    def board(self, head: Mapping[str, Any]) -> Iterator[Event]:
        """What stands on the blackboard before the first tick."""
        for part in ("inputs", "board"):
            values = head.get(part)
            for name, value in (values if isinstance(values, dict) else {}).items():
                yield from self._blackboard({"scope": "", "name": name, "value": value})

    def _log(self, body: dict[str, Any]) -> Iterator[Event]:
        text = clipped(str(body["text"]), 4000)
        yield self._event("line", path=str(body["path"]), level=str(body["level"]), text=text)

    def _crash(self, body: dict[str, Any]) -> Iterator[Event]:
        yield self._event("crash", path=str(body["path"]), message=clipped(str(body["message"]), 2000))

    def _halted(self, body: dict[str, Any]) -> Iterator[Event]:
        path = next((self.grown.paths[n] for n in body.get("nodes", ()) if n in self.grown.paths), "")
        yield self._event("halt", path=path, by=str(body["by"]), why=str(body["reason"]))

    def _graft(self, body: dict[str, Any]) -> Iterator[Event]:
        text = clipped(f"{body['how']}\n{body['yaml']}".strip(), 4000)
        self.grown.grafts.append({"path": str(body["path"]), "text": text})
        if body["how"] == "remove":
            shape = self.grown.removed(str(body["path"]), self.time)
            if shape is not None:
                yield shape

    def _event(self, k: str, **what: Json) -> Event:
        return {"k": k, "t": self.time, **what}


def _parts(plan: str) -> int:
    """How many goals a plan has: that many agents grew."""
    with suppress(Unreadable):
        return len(list(goals(read_plan(plan, None))))
    return 0


def untagged(value: Json) -> Json:
    """The journal's marks for what JSON cannot say, as a person would write it."""
    if isinstance(value, list):
        return [untagged(v) for v in value]
    if not isinstance(value, dict):
        return value
    if "$" not in value:
        return {k: untagged(v) for k, v in value.items()}
    if value["$"] == "dict":
        return {str(k if isinstance(k, str) else untagged(k)): untagged(v) for k, v in value["v"]}
    return untagged(value["v"])


def known(value: Json) -> Json:
    """Working memory in the form in which it tells of itself."""
    if not isinstance(value, list) or len(value) != 4:
        return plain(untagged(value))
    things, facts, here, seq = value
    return {"things": _rows(things), "facts": _rows(facts), "here": untagged(here), "seq": seq}


def _rows(table: Json) -> list[Json]:
    pairs = table.get("v", []) if isinstance(table, dict) and table.get("$") == "dict" else []
    return [[*untagged(key), *untagged(row)] for key, row in pairs]
