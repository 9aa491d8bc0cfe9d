"""A tree's model and the engine, tick by tick: the model makes the choices, the engine's skills follow them."""

from __future__ import annotations

import math
from collections import deque
from random import Random
from typing import Any

from bt_runtime.language.properties.property import of
from bt_runtime.proof.live import state_of
from bt_runtime.proof.model.build import model_of
from bt_runtime.proof.model.decorators import Replaced
from bt_runtime.proof.model.model import Options
from bt_runtime.proof.model.skill import BREAKS
from bt_runtime.proof.model.tick import BAD, LATER, OK, RUN, UNKNOWN, UNSET, WORDS, State, Tick
from bt_runtime.proof.standing import Standing, inserted, paired, replaced, tree_of
from bt_runtime.run.run import Tree
from bt_runtime.skills.skill import Skill
from bt_runtime.testing import FAILURE, RUNNING, SUCCESS, Trial
from bt_runtime.tree.changes import unguarded
from bt_runtime.tree.context import POLL
from bt_runtime.tree.node import INVALID, path_of


class ByChance(Tick):
    """Chooses at random; its clocks are concrete."""

    __slots__ = ("began", "log", "now", "random", "woken")

    def wake(self, clock: int) -> None:
        super().wake(clock)
        self.woken.append((self.began[clock] + self.s[clock]) / 1000)

    def choose(self, count: int) -> int:
        return self.random.randrange(count)

    def raised(self, attempt: Any) -> bool:
        """What the engine's `try` finds: whether a node that broke since its start is one of those that failed."""
        failed = [attempt.branch("do")]
        for node in failed:
            failed += [child for child in node.children if self.s[child.i] == BAD]
        events = [*self.log, *(self.events or ())]
        start = max(at for at, event in enumerate(events) if event[:2] == ("try", attempt.path))
        return any(("crash", node.path) in events[start:] for node in failed)

    def start(self, clock: int, seconds: float) -> None:
        super().start(clock, seconds)
        self.began[clock] = self.now

    def passed(self, clock: int) -> bool:
        limit = self.s[clock]
        if not limit:
            return True
        late, early = self.zone.at_least(clock, limit), self.zone.at_most(clock, limit - 1)
        over = self.now - self.began[clock] >= limit
        assert (late if over else early) is not None, "the zone forbids what the clock shows"
        self.zone = late if over else early
        return over


class Beside:
    """Both at once. `differs` says where they part."""

    def __init__(self, tree: Tree, random: Random, options: Options | None = None) -> None:
        self.random = random
        self.model = model_of(tree.spec, (of("never", "a and b and n == 5"),), options or Options())
        for node in self.model.nodes.values():
            node.shown = True
        todo = [self.model.root]
        while todo:
            node = todo.pop()
            node.shown = True
            todo += node.children
        self.polls: deque[Any] = deque()
        self.trial = Trial(tree, allow="*", slow=None)
        self.trial.run.context.services.scripted_skills = self
        self.now = 0
        self.began: dict[int, int] = {}
        self.state = self.model.first()
        self.log: list[tuple[Any, ...]] = []  # what nodes of the model did in earlier ticks
        self.fault = ""

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
        model, trial = self.model, self.trial
        first = not trial.ticks
        waits = trial.due - trial.clock.now() if not first and math.isfinite(trial.due) else 0.0
        passes = round(waits * 1000) if waits > 0 and self.random.random() < 0.6 else 0
        self.now += passes
        t = ByChance.__new__(ByChance)
        t.random, t.began, t.now, t.woken, t.log = self.random, self.began, self.now, [], self.log
        t.__init__(model, self.state, (), True)  # type: ignore[misc]
        step = model.tick(t)
        events = t.events or []
        for event in events:
            if event[0] == "write" or (event[0] == "set" and trial.board.get(event[1]) != event[2]):
                trial.board[event[1]] = event[2]
        self.polls = deque(event[1:] for event in events if event[0] == "poll")
        if passes:
            trial.clock.advance(passes / 1000)
        trial.tick()
        self.state = step.state
        self.log += [event for event in events if event[0] in ("try", "crash")]
        return self.differs(t, step.status)

    def differs(self, t: Tick, status: int) -> str:
        if self.fault or self.polls:
            return self.fault or f"the engine did not poll {list(self.polls)}"
        trial, model = self.trial, self.model
        ended = "idle" if trial.status is INVALID else trial.status.name.lower()
        if ended != WORDS[status]:
            return f"the tree: engine {ended}, model {WORDS[status]}"
        shown: dict[str, str] = {}
        for node in trial.run.nodes():
            shown.setdefault(path_of(node), "idle" if node.status is INVALID else node.status.name.lower())
        for path, node in model.nodes.items():
            if "(replaced)" not in path and shown.get(path, "idle") != WORDS[t.s[node.i]]:
                return f"{path}: engine {shown.get(path)}, model {WORDS[t.s[node.i]]}"
        for (where, name), slot in model.places.items():
            board: Any = trial.run.context.blackboard.scopes.get(where) if where else trial.board
            if board is None or (slot in model.outside and slot not in t.memo):
                continue
            number, there = t.memo.get(slot, t.s[slot]), name in board
            if number not in (UNKNOWN, LATER) and (
                there != (number != UNSET) or (there and board[name] != model.values[number])
            ):
                return f"{where} {name}: engine {board.get(name)!r}, model {model.values[number]!r}"
        return self.times(t.woken) if status == RUN else ""

    def times(self, woken: list[float]) -> str:
        """`woken`: the times for which the nodes of this tick have asked. The engine keeps those of halted nodes."""
        trial, state = self.trial, self.state
        due = trial.due
        left = [state.slots[c] - (self.now - self.began[c]) for c in state.armed]
        model = -math.inf if state.urgent else min(left) / 1000 + self.now / 1000 if left else math.inf
        if due == model or (math.isfinite(due) and math.isfinite(model) and abs(due - model) < 1e-6):
            return ""
        if model > due and any(abs(due - each) < 1e-6 for each in woken):
            return ""
        if due <= trial.clock.now() and (state.urgent or model <= trial.clock.now()):
            return ""
        if abs(due - trial.clock.now() - POLL) < 1e-6 and model > due:
            return ""  # a skill that waits for what another one uses asks every 0.02 s
        return f"due: engine {due}, model {model}"

    def reload(self) -> None:
        """Takes the model's state anew from the engine."""
        run = self.trial.run
        live = paired(self.model, run.root)
        self.state = state_of(self.model, live, run.context.blackboard, run.blackboard, self.trial.clock.now())

    def change(self, path: str, text: str, index: int | None = None, insert: bool = False) -> None:
        """Changes the tree of the engine, and takes the model of the changed tree, from the state before the change."""
        run, standing = self.trial.run, Standing(self.trial.run)
        spec = run.growth.checked(path, text)
        node = run.engine.find(path)
        chain = inserted(standing, unguarded(node), index, spec) if insert else replaced(standing, node, spec)
        options = Options(paths=chain.paths)
        self.model = model_of(tree_of(run.spec, chain.root), (of("never", "a and b and n == 5"),), options)
        parts = [self.model.root]
        for part in parts:
            part.shown = True
            parts += part.children
        halted = [part.children[0] for part in parts if isinstance(part, Replaced)]
        live, now = paired(self.model, run.root, chain), self.trial.clock.now()
        self.state = state_of(self.model, live, run.context.blackboard, run.blackboard, now, "", halted)
        self.began = {c: self.now - self.state.zone.least(c) for c in self.state.zone.names}
        if insert:
            self.trial.insert(path, text, index)
        else:
            self.trial.replace(path, text)

    def close(self) -> None:
        self.trial.close()


__all__ = ["Beside", "State"]
