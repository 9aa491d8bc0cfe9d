"""Plays a tree by choices: skill results, outside writes, and the passing of time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from bt_runtime import BtError, Skill
from bt_runtime.plugins import Kind
from bt_runtime.testing import FAILURE, RUNNING, SUCCESS, Trial
from bt_runtime.testing.case import BROKEN, Case, Move, Subject, moved, played
from bt_runtime.testing.casting import nodes_of, skills_of
from bt_runtime.testing.values import ChosenValues
from bt_runtime.types import Json


class Oracle:
    """Answers each question by a choice: those of a prefix first, then always the first one."""

    def __init__(self, prefix: Sequence[int] = ()) -> None:
        self.prefix = prefix
        self.trail: list[tuple[int, int]] = []  # the choice, out of how many

    def choose(self, options: Sequence[Any]) -> Any:
        at = len(self.trail)
        choice = self.prefix[at] if at < len(self.prefix) else 0
        self.trail.append((choice, len(options)))
        return options[choice]

    def next(self) -> list[int] | None:
        """Returns the next prefix of choices in order; None after the last one."""
        trail = list(self.trail)
        while trail and trail[-1][0] + 1 == trail[-1][1]:
            trail.pop()
        return [*(c for c, _ in trail[:-1]), trail[-1][0] + 1] if trail else None


class Play:
    """One run by a list of choices; it ends where the list does."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.oracle = Oracle()
        self.acts: dict[str, list[list[Any]]] = {}  # skill → its starts: ticks, result
        self.moves: list[Move] = []
        self.inputs: dict[str, Json] = {}
        self.trial: Trial | None = None

    def begin(self) -> None:
        """Makes the first choices: the run's inputs."""
        self.inputs = dict(self.choices.inputs)
        for name, values in self.choices.starts.items():
            self.inputs[name] = self.oracle.choose(values)
        subject = self.choices.subject
        self.trial = Trial(subject.tree, allow="*", inputs=self.inputs, slow=None)
        self.trial.promises = subject.promises
        self.trial.run.parts.context.services.scripted_skills = self

    def get(self, name: str) -> type[Skill]:
        """Returns a skill class whose results the oracle chooses; the trial calls this as its cast."""
        play, options = self, self.choices.results[name]

        class Chosen(Skill):
            wakes = True  # time passes by what else is due

            def start(self, **params: Any) -> None:
                self.record: list[Any] = [0, None]
                play.acts.setdefault(name, []).append(self.record)

            def poll(self) -> Any:
                said: Any = play.oracle.choose(options)
                if said is RUNNING:
                    self.record[0] += 1
                    return RUNNING
                self.record[1] = said
                if isinstance(said, BaseException):
                    raise said
                if said is FAILURE:
                    return FAILURE
                if said is SUCCESS:
                    return SUCCESS
                self.result = said
                return SUCCESS

        return Chosen

    def step(self) -> None:
        """Plays the events before a tick, then the tick. Raises Broken."""
        trial = self.trial
        assert trial is not None
        began, now = bool(trial.ticks), trial.clock.now()
        if began:
            for name, value in self.oracle.choose(self.choices.changes(trial)):
                self.do(("set", name, value))
        due = trial.due if began else now
        waits = math.isfinite(due) and due > now
        if waits and self.oracle.choose((False, True)):
            self.do(("advance", due - now))
        else:
            self.do(("tick", 1))

    def do(self, move: Move) -> None:
        assert self.trial is not None
        self.moves.append(move)
        moved(self.trial, move)

    def close(self) -> None:
        if self.trial is not None:
            self.trial.close()

    def case(self) -> Case:
        skills = {name: [played(*start) for start in starts] for name, starts in self.acts.items()}
        return Case(self.inputs, skills, {}, tuple(self.moves))


class Choices:
    def __init__(self, subject: Subject, values: ChosenValues, inputs: Mapping[str, Json]) -> None:
        self.subject, self.inputs = subject, inputs
        tree = subject.tree.spec
        self.playable(tree)
        kinds = skills_of(tree)
        values.unused(f.name for kind in kinds.values() for f in kind.fields if f.writes)
        catches = any(node.kind.name == "try" for node in nodes_of(tree))
        wired = {name: set[str]() for name in kinds}  # outputs that some node writes to an entry
        for node in nodes_of(tree):
            wired.get(node.kind.name, set()).update(node.values)
        self.results = {name: self.of(kind, wired[name], values, catches) for name, kind in kinds.items()}
        self.starts = {n: self.listed(p, values) for n, p in tree.inputs.items() if n not in inputs}
        outside = [port for port in values.outside() if port.name not in inputs]
        self.entries = {port.name: self.listed(port, values) for port in outside}
        self.starts |= self.entries

    def playable(self, tree: Any) -> None:
        for node in nodes_of(tree):
            if node.kind.asks or node.kind.foreign or node.again is not None:
                what = (
                    "asks a model" if node.kind.asks else "is none of ours" if node.kind.foreign else "grows the tree"
                )
                raise BtError(
                    f"`{node.kind.name}` ({node.file}:{node.span.line}) {what}: its states cannot be listed",
                    "try the tree by random cases instead: btr fuzz",
                )

    def of(self, kind: Kind, wired: set[str], values: ChosenValues, catches: bool) -> list[Any]:
        """Returns the possible answers of a polled skill; outputs that no node uses are left out."""
        good: list[Any] = [{}]
        for output in (f for f in kind.fields if f.writes and f.name in wired):
            good = [{**made, output.name: value} for made in good for value in self.listed(output, values)]
        instant = kind.data["entry"].instant
        ends: list[Any] = [*(made or SUCCESS for made in good), FAILURE, *([RuntimeError(BROKEN)] if catches else [])]
        return ends if instant else [RUNNING, *ends]

    def listed(self, port: Any, values: ChosenValues) -> list[Json]:
        found = values.bounded(port)
        if found is None:
            default = getattr(port, "default", None)
            if isinstance(default, str | int | float | list | dict):
                return [default]  # it stays as it is
            raise BtError(
                f"the values of `{port.name}` cannot be listed: it is of type {port.type}",
                f"say which are to be tried: --values '{port.name}=…, …', or values={{'{port.name}': […]}}",
            )
        return found

    def changes(self, trial: Trial) -> list[list[tuple[str, Json]]]:
        """The possible changes of entries: any values for any of them at once."""
        ways = [[(name, value) for value in values] for name, values in self.entries.items()]
        return [[each for each in way if each[1] != trial.board.get(each[0], _NO)] for way in product(*ways)]


_NO = object()
