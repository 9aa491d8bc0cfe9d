"""A node for any skill: starts it, polls it, cancels it, and keeps what it returns."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from py_trees.common import Status

from bt_runtime.events import SkillEnded, WorldActed
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.language import ports
from bt_runtime.language.manifest import Entry
from bt_runtime.language.sentence import Sentence
from bt_runtime.project.importing import resolve
from bt_runtime.skills.activity import Activity, Ended, InThread, begin, ended
from bt_runtime.tree.node import FAILURE, POLL, RUNNING, Node
from bt_runtime.types import Instant

if TYPE_CHECKING:
    from bt_runtime.language.spec import NodeSpec
    from bt_runtime.tree.blackboard import Scope
    from bt_runtime.tree.context import Context


class SkillNode(Node):
    activity: Activity | None = None
    target: Any = None

    def __init__(self, spec: NodeSpec, context: Context, scope: Scope) -> None:
        super().__init__(spec, context, scope)
        self.entry: Entry = spec.kind.data["entry"]
        self.sentence = ""  # as it was said at the last start

    def setup(self, **kwargs: Any) -> None:
        """Finds the implementation, so that a missing one is known before the first tick."""
        if not self.around:
            self.find()

    @property
    def around(self) -> bool:
        """True if the target belongs to one episode, and must not be kept for the next."""
        return self.entry.impl in ("world", "memory") and self.context.services.in_episode

    def find(self) -> Any:
        if self.target is None or self.around:
            scripted = self.context.services.scripted_skills or {}
            python = scripted.get(self.spec.kind.name) or self.spec.kind.data.get("python")
            if python is None and self.entry.impl not in ("world", "memory"):
                python = resolve(self.entry.impl, Path(self.entry.folder))
            if python is None:
                python = self.context.services.acted_in(self.entry.impl)
                if python is None:
                    raise BtError(
                        f"`{self.spec.kind.name}` acts in a {self.entry.impl}, and this run has none",
                        "name one: `btr run TREE --env house`" if self.entry.impl == "world" else "",
                    )
            self.target = python() if isinstance(python, type) else python
        return self.target

    def initialise(self) -> None:
        taken = [f for f in self.spec.kind.fields if not f.writes and f.name in self.spec.values]
        params = {f.name: self.value(f.name) for f in taken}
        for field in taken:
            ports.check_range(field, params[field.name])
        self.sentence = Sentence(self.entry.sentence).say(params)
        self.feedback_message = self.sentence
        target = self.find()
        self.activity = None
        if hasattr(target, "act") and target is self.context.services.acted_in(self.entry.impl):
            self.activity = act(target, self.sentence, self.context, self.entry)
        else:
            start = partial(begin, target, params, self.context.wake)
            self.activity = started(self.context, start, self.sentence, target, self.entry, params)

    def update(self) -> Status:
        assert self.activity is not None
        done = self.activity.poll()
        if done is None:
            if not self.activity.wakes:
                self.context.wake_at(self.context.clock.now() + POLL)
            return RUNNING
        self.activity = None
        if done.feedback:
            self.feedback_message = done.feedback
        self.keep(done)
        return done.status

    def keep(self, done: Ended) -> None:
        """Writes the outputs that the tree asked for: a mapping by name, a single value as it is, None not at all."""
        outputs = [f.name for f in self.spec.kind.fields if f.writes and f.name in self.spec.values]
        if done.status is FAILURE or done.value is None or not outputs:
            return
        values = done.value if isinstance(done.value, dict) else {outputs[0]: done.value}
        for name in outputs:
            if name in values:
                self.scope[self.spec.values[name].text.strip()] = values[name]

    def terminate(self, new_status: Status) -> None:
        activity, self.activity = self.activity, None
        if activity is not None:
            activity.cancel(self.context.halting.reason)


class Done:
    """An action that is done by the time it was asked for."""

    wakes = True

    def __init__(self, done: Ended) -> None:
        self.done = done

    def poll(self) -> Ended | None:
        return self.done

    def cancel(self, reason: str) -> None:
        pass


def act(world: Any, sentence: str, context: Context, entry: Entry | None = None) -> Activity:
    """One action in a world: at once when it is instant, else in a thread, one at a time."""
    return started(context, partial(_act, world, sentence, context), sentence, world, entry, None)


def started(context: Context, start: Callable[[], Activity], sentence: str, target: Any, *about: Any) -> Activity:
    """Every action begins here, an agent's and a plan's; a journal wraps it, and its end is told."""
    activity = context.wrap_action(start, sentence, target, *about)
    return Told(activity, sentence, context) if context.stream.wanted(SkillEnded) else activity


class Told:
    """An activity whose end is told to those who listen."""

    def __init__(self, inner: Activity, sentence: str, context: Context) -> None:
        self.inner, self.sentence, self.context = inner, sentence, context
        self.wakes = inner.wakes

    def poll(self) -> Ended | None:
        done = self.inner.poll()
        if done is not None:
            self.context.emit(SkillEnded(self.sentence, done.status, done.value, done.feedback))
        return done

    def cancel(self, reason: str) -> None:
        self.inner.cancel(reason)


def _act(world: Any, sentence: str, context: Context) -> Activity:
    quick: object = world
    if isinstance(quick, Instant) and quick.instant:
        return Done(ended(world.act(sentence)))
    turn = context.services.turns.setdefault(id(world), threading.Lock())
    return InThread(_watched(world, context), {"sentence": sentence}, context.wake, turn)


def _watched(world: Any, context: Context) -> Callable[[str], Any]:
    """Tells that the world has acted before anybody acts there again, so that a listener sees what this act left."""

    def act(sentence: str) -> Any:
        said = world.act(sentence)
        context.emit(WorldActed(sentence))
        return said

    return act
