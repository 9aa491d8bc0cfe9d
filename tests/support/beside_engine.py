"""An explored tree beside a run of it, tick by tick: the exploration makes the choices, the run's skills follow."""

from __future__ import annotations

import math
from collections import deque
from random import Random
from typing import Any

from bt_author.proof.board import LATER, MISSING, OUTSIDE, UNKNOWN
from bt_author.proof.choices import BAD, BREAKS, OK, RUN, WORDS, Choices, State
from bt_author.proof.explorer import Explorer
from bt_author.proof.options import Options
from bt_author.proof.shadow import Change, Copied, Shadow
from bt_author.proof.times import Time
from bt_author.proof.zone import tightened
from bt_runtime import Skill, Tree
from bt_runtime.language.properties.property import of
from bt_runtime.run.monitoring.standing import Standing
from bt_runtime.testing import FAILURE, INVALID, RUNNING, SUCCESS, Trial
from bt_runtime.tree.changes import unguarded
from bt_runtime.tree.context import POLL
from bt_runtime.tree.node import path_of

PROPERTY = of("never", "a and b and n == 5")
OPTIONS = Options(entries=True)


class ByChance(Choices):
    """Chooses at random; its clocks are concrete. `began`: when each was started, in milliseconds."""

    def __init__(self, state: State, random: Random, began: dict[int, int]) -> None:
        self.random, self.began = random, began
        super().__init__(state, (), True, dict.fromkeys(began, 0))

    def choose(self, count: int) -> int:
        return self.random.randrange(count)

    def not_before(self, one: Time, other: Time) -> bool:
        i, j, most = one.clock, other.clock, one.offset - other.offset
        holds = self.began[i] + one.offset >= self.began[j] + other.offset
        zone = tightened(self.zone, i, j, most) if holds else tightened(self.zone, j, i, -most - 1)
        assert zone is not None, "the zone forbids what the clocks show"
        self.zone = zone
        return holds


class Beside:
    """Both at once. `tick` says where they part."""

    def __init__(self, tree: Tree, random: Random) -> None:
        self.random, self.now = random, 0
        self.polls: deque[Any] = deque()
        self.trial = Trial(tree, allow="*", slow=None)
        self.trial.run.parts.context.services.scripted_skills = self
        self.began: dict[int, int] = {}
        self.fault = ""
        self.explorer = shown(Explorer(tree.spec, PROPERTY, OPTIONS))
        self.state = self.explorer.first()

    def get(self, name: str) -> type[Skill]:
        beside = self

        class Follows(Skill):
            wakes = True

            def start(self, **params: Any) -> None: ...

            def poll(self) -> Any:
                if not beside.polls or beside.polls[0][0] != name:
                    beside.fault = f"the engine polls {name}, the model {list(beside.polls)[:1]}"
                    return FAILURE
                _, _, status, given = beside.polls.popleft()
                if status == OK and given:
                    self.result = given
                if status == BREAKS:
                    raise RuntimeError("it breaks")
                return {RUN: RUNNING, OK: SUCCESS, BAD: FAILURE}[status]

        return Follows

    def tick(self) -> str:
        """One tick of both; "" when they agree."""
        explorer, trial = self.explorer, self.trial
        if trial.ticks and trial.status is not RUNNING:
            return ""
        waits = trial.due - trial.clock.now() if trial.ticks and math.isfinite(trial.due) else 0.0
        passes = round(waits * 1000) if waits > 0 and self.random.random() < 0.6 else 0
        self.now += passes
        t = ByChance(self.state, self.random, {**self.began, 0: self.now})
        step = explorer.tick(t, self.state)
        events = t.events or []
        for event in events:
            if event[0] == "write" or (event[0] == "set" and trial.board.get(event[1]) != event[2]):
                trial.board[event[1]] = event[2]
        self.polls = deque(event[1:] for event in events if event[0] == "poll")
        if passes:
            trial.clock.advance(passes / 1000)
        trial.tick()
        self.state = step.state
        if step.status == RUN:
            self.began = {new: t.began[old] for old, new in explorer.renamed.items()}
        return self.differs(step.status)

    def differs(self, status: int) -> str:
        if self.fault or self.polls:
            return self.fault or f"the engine did not poll {list(self.polls)}"
        trial, explorer = self.trial, self.explorer
        ended = "idle" if trial.status is INVALID else trial.status.name.lower()
        if ended != WORDS[status]:
            return f"the tree: engine {ended}, model {WORDS[status]}"
        there: dict[str, str] = {}
        for node in trial.run.nodes():
            there.setdefault(path_of(node), "idle" if node.status is INVALID else node.status.name.lower())
        for path, number in explorer.nodes.items():
            if there.get(path, "idle") != explorer.word(number):
                return f"{path}: engine {there.get(path)}, model {explorer.word(number)}"
        return self.entries() or (self.times() if status == RUN else "")

    def entries(self) -> str:
        board = self.explorer.board
        for path, scope in board.scopes.items():
            theirs: Any = self.trial.run.parts.context.blackboard.scopes.get(path) if path else self.trial.board
            for name in {*scope.entries, *(theirs.entries if theirs is not None else ())}:
                value = (
                    board.now.get(name, scope.entries.get(name, MISSING))
                    if not path
                    else scope.entries.get(name, MISSING)
                )
                if value is UNKNOWN or value is LATER or value is OUTSIDE or theirs is None:
                    continue
                if (value is not MISSING) != (name in theirs.entries) or (
                    value is not MISSING and theirs.entries[name] != value
                ):
                    return f"{path} {name}: engine {theirs.entries.get(name)!r}, model {value!r}"
        return ""

    def times(self) -> str:
        trial, state = self.trial, self.state
        left = [self.began[clock] + offset for clock, offset in state.armed]
        model = -math.inf if state.urgent else min(left) / 1000 if left else math.inf
        due, now = trial.due, trial.clock.now()
        if due == model or (math.isfinite(due) and math.isfinite(model) and abs(due - model) < 1e-6):
            return ""
        if due <= now and (state.urgent or model <= now):
            return ""
        if due <= now and any(scope.entries.get(name) is UNKNOWN for scope, name in self.explorer.board.written):
            return ""  # whether a value that only a run knows has changed is not known
        if abs(due - now - POLL) < 1e-6 and model > due:
            return ""  # a skill that waits for what another one uses asks every 0.02 s
        return f"due: engine {due}, model {model}"

    def reload(self) -> None:
        """Takes the state of the exploration anew from the run."""
        self.stand(None)

    def change(self, path: str, text: str, index: int | None = None, insert: bool = False) -> None:
        """Changes the tree of the run, and explores the changed tree from the state before the change."""
        run = self.trial.run
        spec, node = run.parts.engine.growth.checked(path, text), run.parts.engine.find(path)
        self.stand(Change("insert", unguarded(node), spec, index) if insert else Change("replace", node, spec))
        if insert:
            self.trial.insert(path, text, index)
        else:
            self.trial.replace(path, text)

    def stand(self, change: Change | None) -> None:
        standing = Standing(self.trial.run)
        copied = Copied(standing, change)
        options = OPTIONS._replace(apart=copied.apart, origins=copied.origins)
        shadow = Shadow(standing, copied, PROPERTY, options, change)
        self.explorer, self.state = shown(shadow), shadow.begin({}, ())
        self.began = dict.fromkeys(range(1, len(self.state.zone)), self.now)

    def close(self) -> None:
        self.trial.close()


def shown(explorer: Any) -> Any:
    """The same, with the results of all nodes."""
    explorer.shown = set(range(len(explorer.all)))
    for slot in explorer.slots[: len(explorer.all)]:
        if not slot.shown:
            slot.show()
    return explorer
