"""Reads what agents did in recorded runs: each agent's goal, its acts with the possible actions, its parts, its end."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from bt_runtime.agents.surroundings import DONE, FAILURE, RECALL
from bt_runtime.journal.reading import Recording
from bt_runtime.journal.sources import kinds_of
from bt_runtime.language import source
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.source import YamlList, YamlMap

_CONTROLS = ("sequence", "fallback", "parallel")
_ENDS = frozenset((DONE, FAILURE))
MOST_OFFERED = 400  # sentences kept of one moment
MARK = "# Compiled from recorded runs."  # first line of every compiled tree


@dataclass(frozen=True, slots=True)
class Act:
    """One action of an agent or of a tree."""

    sentence: str
    observation: str
    succeeded: bool
    offered: tuple[str, ...] = ()  # other acts on offer, in order
    heard: str = ""  # the observation before it
    after: int = 0  # how many of the run's actions had succeeded before


@dataclass(slots=True)
class Life:
    """The acts of one agent for one goal."""

    path: str
    goal: str
    acts: list[Act | PlanPart] = field(default_factory=list)
    why: str = ""
    detail: str = ""
    offered: tuple[str, ...] = ()  # acts on offer when it ended
    heard: str = ""  # the last observation
    after: int = 0  # how many of the run's actions had succeeded when it ended
    cut: bool = False  # a part that an agent without a plan did, found by what other agents did too

    @property
    def succeeded(self) -> bool:
        return self.why == DONE or (self.why == "expanded" and self.detail.startswith("succeeded"))

    def deeds(self) -> Iterator[Act]:
        """Returns its own acts and those of its parts, in order."""
        for act in self.acts:
            if isinstance(act, Act):
                yield act
            else:
                for life in act.lives:
                    yield from life.deeds()


@dataclass(slots=True)
class PlanPart:
    """A plan of an agent, and the agents that worked at its parts."""

    control: str  # sequence, fallback or parallel; "" for anything nested
    goals: tuple[str, ...]
    lives: list[Life] = field(default_factory=list)
    offered: tuple[str, ...] = ()
    heard: str = ""
    leave: tuple[str, ...] = ()  # values of the goal above that were never searched for it
    after: int = 0


@dataclass(slots=True)
class Trace:
    """One recorded run."""

    name: str
    task: str  # the task's identity, "" without one
    kind: str
    goal: str
    met: bool
    strategy: str
    decisions: int
    lives: list[Life]
    text: str = ""  # the tree's text, for the compiled head
    world: str = ""  # the suite that it was in
    skills: tuple[str, ...] = ()  # manifests that its tree listed
    written: int = 0
    inputs: Mapping[str, Any] = field(default_factory=dict)
    content: str = ""  # a digest of the task, whatever it is called
    look: str = ""  # the world's first observation
    given: tuple[Kind, ...] = ()  # skills that a program gave to the run, without a manifest
    done: Sequence[tuple[str, Any]] = ()  # (successful action, what it returned), in order

    @property
    def compiled(self) -> bool:
        """True for a run of a compiled tree. Only what its agent did is a lesson: the rest is what was compiled."""
        return MARK in self.text

    def every(self) -> Iterator[Life]:
        """Yields all lives, parents before their parts."""
        todo = list(reversed(self.lives))
        while todo:
            life = todo.pop()
            yield life
            inner = [each for act in life.acts if isinstance(act, PlanPart) for each in act.lives]
            todo += reversed(inner)


def met(recording: Recording) -> bool:
    """True when the run succeeded and, where the world gave a verdict, the goal was reached."""
    verdict = recording.verdict
    return recording.result == "SUCCESS" and (verdict is None or verdict[0] == verdict[1])


def read(paths: Iterable[Path]) -> Iterator[Trace]:
    """Yields the traces of these journals; a damaged journal is skipped."""
    for path in paths:
        try:
            yield of_recording(Recording(path))
        except BtError:
            continue


def of_recording(recording: Recording) -> Trace:
    return _TraceReader(recording).trace()


def task_digest(task: Mapping[str, Any]) -> str:
    """Returns a digest of a task without its name."""
    told = {name: task.get(name) for name in ("goal", "kind", "data")}
    return blake2b(json.dumps(told, sort_keys=True, default=str).encode(), digest_size=12).hexdigest()


def _listed(head: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the manifests that the run's tree lists."""
    root = source.parse(str(head.get("text") or ""), "tree").root
    named = root.get("skills") if isinstance(root, YamlMap) else None
    return tuple(str(each.data()) for each in named) if isinstance(named, YamlList) else ()


def _planned(grafted: str) -> tuple[str, tuple[str, ...]]:
    """The control node of a plan and its parts' goals; no control where anything else stands in it."""
    root = source.parse(grafted, "plan").root
    data: Any = root.data() if root is not None else None
    if not isinstance(data, dict) or len(data) != 1:
        return "", ()
    control, value = next(iter(data.items()))
    parts = value.get("children") if isinstance(value, dict) else value
    if control == "tree":
        control, parts = "sequence", [data]
    goals = [_goal(each) for each in parts] if isinstance(parts, list) else [""]
    return (control, tuple(goals)) if control in _CONTROLS and all(goals) else ("", ())


def _goal(part: Any) -> str:
    tree = part.get("tree") if isinstance(part, dict) else None
    given = tree.get("with") if isinstance(tree, dict) else None
    return str(given.get("goal") or "") if isinstance(given, dict) else ""


class _TraceReader:
    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.open: dict[str, Life] = {}
        self.top: list[Life] = []
        self.offered: dict[str, tuple[str, ...]] = {}
        self.heard: dict[str, str] = {}
        self.ended = True  # how the latest action ended
        self.jobs: dict[int, str] = {}
        self.loose: list[Act] = []  # acts of the tree's own nodes
        self.done: list[tuple[str, Any]] = []
        self.agents: set[str] = set()  # sentences that an agent has begun and not ended
        self.decisions = self.written = 0
        self.look = ""

    def trace(self) -> Trace:
        head = self.recording.head
        task: dict[str, Any] = head.get("task") or {}
        world: dict[str, Any] = head.get("world") or {}
        for event, body in self.recording.of(
            "ask", "goal", "act", "begin", "done", "step", "expand", "end", "decision", "answer", "world"
        ):
            getattr(self, f"on_{event.kind}")(body)
        for life in self.open.values():
            life.why = life.why or "cut off"
        inputs: dict[str, Any] = head.get("inputs") or {}
        goal = str(task.get("goal") or inputs.get("goal") or "")
        good = met(self.recording)
        text = str(head.get("text") or "")
        if not self.top and self.loose and MARK not in text:
            self.top = [Life("/", goal, list(self.loose), DONE if good else "failed")]
        return Trace(
            self.recording.name, str(task.get("id") or ""), str(task.get("kind") or ""), goal, good,
            str(head.get("tree") or ""), self.decisions, self.top, text,
            str(world.get("suite") or ""), _listed(head), self.written, inputs, task_digest(task) if task else "",
            self.look, kinds_of(head.get("kinds") or ()), self.done,
        )  # fmt: skip

    def on_goal(self, body: dict[str, Any]) -> None:
        path = str(body["path"])
        life = Life(path, str(body["goal"]))
        above = max((p for p in self.open if path.startswith(f"{p}/")), key=len, default=None)
        parts = [act for act in self.open[above].acts if isinstance(act, PlanPart)] if above is not None else []
        (parts[-1].lives if parts else self.top).append(life)
        self.open[path] = life

    def on_world(self, body: dict[str, Any]) -> None:
        if body.get("call") == "look" and not self.look:
            value = body.get("value")
            self.look = str(value["v"][0]) if isinstance(value, dict) and isinstance(value.get("v"), list) else ""
        if body.get("call") == "skills" and isinstance(body.get("lines"), str):
            self.offered[""] = tuple(body["lines"].split("\n")[:MOST_OFFERED])

    def on_ask(self, body: dict[str, Any]) -> None:
        offered = json.loads(body["offered"]) if isinstance(body.get("offered"), str) else None
        acts = offered.get("moves", {}).get("Act:") if isinstance(offered, dict) else None
        if acts:
            said = (str(each).strip() for each in acts)
            kept = [each for each in said if each not in _ENDS and not each.startswith(RECALL)]
            self.offered[str(body["path"])] = tuple(kept[:MOST_OFFERED])

    def on_answer(self, body: dict[str, Any]) -> None:
        value = body.get("value")
        if isinstance(value, dict) and value.get("$") == "writing":
            self.written += int(value["v"][2]) if len(value["v"]) > 2 and isinstance(value["v"][2], int) else 0

    def on_decision(self, body: dict[str, Any]) -> None:
        self.decisions += 1

    def on_act(self, body: dict[str, Any]) -> None:
        self.agents.add(str(body["sentence"]))

    def on_begin(self, body: dict[str, Any]) -> None:
        self.jobs[body["job"]] = str(body["sentence"])

    def on_done(self, body: dict[str, Any]) -> None:
        sentence = self.jobs.pop(body["job"], "")
        value = body.get("value")
        self.ended = not (isinstance(value, list) and value and value[0] != "SUCCESS")
        before = len(self.done)
        if self.ended and sentence:
            self.done.append((sentence, value[1] if isinstance(value, list) and len(value) > 1 else None))
        if sentence in self.agents:
            self.agents.discard(sentence)
        elif sentence:
            said = value[2] if isinstance(value, list) and len(value) > 2 else ""
            self.loose.append(Act(sentence, str(said), self.ended, self.offered.get("", ()), after=before))

    def on_step(self, body: dict[str, Any]) -> None:
        path, move = str(body["path"]), str(body["move"])
        life = self.open.get(path)
        if life is None or move != "act" or str(body["text"]) in _ENDS:
            return
        sentence, observation = str(body["text"]), str(body["observation"] or "")
        self.agents.discard(sentence)
        offered, heard = self.offered.get(path, ()), self.heard.get(path, "")
        before = len(self.done) - (self.ended and self.done[-1:] != [] and self.done[-1][0] == sentence)
        life.acts.append(Act(sentence, observation, self.ended, offered, heard, before))
        self.heard[path] = observation
        self.ended = True

    def on_expand(self, body: dict[str, Any]) -> None:
        life = self.open.get(str(body["path"]))
        if life is None:
            return
        control, goals = _planned(str(body["grafted"]))
        offered, heard = self.offered.get(life.path, ()), self.heard.get(life.path, "")
        life.acts.append(PlanPart(control, goals, [], offered, heard, after=len(self.done)))

    def on_end(self, body: dict[str, Any]) -> None:
        life = self.open.pop(str(body["path"]), None)
        if life is not None:
            life.why, life.detail = str(body["why"]), str(body.get("detail") or "")
            life.offered, life.heard = self.offered.get(life.path, ()), self.heard.get(life.path, "")
            life.after = len(self.done)
