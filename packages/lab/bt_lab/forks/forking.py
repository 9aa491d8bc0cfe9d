"""Plays forks of one recorded run to their ends. Models are opened once, and no fork writes into a memory."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from bt_lab.distill import chats
from bt_lab.distill.journals import lives, met
from bt_lab.run.metered_model import MeteredModel, Tally
from bt_lab.run.readonly_memory import ReadonlyMemory
from bt_runtime.agents.recorded import models
from bt_runtime.events import Tick
from bt_runtime.journal.reading import Recording
from bt_runtime.llm import open_model
from bt_runtime.run.replay.fork import Edits, fork
from bt_runtime.run.replay.refit import Offer, refit
from bt_runtime.types import Model

# Preference pairs of a run that failed and a fork of it that was saved: two answers to the same prompt.


def pairs_of(failed: Recording, saved: Recording) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields each pair with a key. Nothing where the recorded run reached its goal, or the fork did not."""
    if met(failed) or not met(saved):
        return
    both = [*((life, True) for life in lives(saved)), *((life, False) for life in lives(failed))]
    for row in chats.pairs(both):
        yield json.dumps(row, sort_keys=True), row


PATIENCE = 600.0  # seconds of one fork
SPENT = "the tokens are spent"


class Interrupted(Exception):
    """Raised when a person ends a fork, and with it those that would follow."""


class How(NamedTuple):
    """What all forks of a run have in common."""

    model: Any = None  # in place of the run's; one, or one for each role
    memory: Any = None
    skills: Iterable[Any] = ()
    services: Mapping[str, Any] | None = None
    clock: Callable[[], Any] | None = None  # makes the clock of a fork
    changed: bool = False
    hz: float | None = None
    seconds: float | None = None


class Played(NamedTuple):
    passed: bool  # it succeeded and, where the world judges, the goal was reached
    status: str
    ticks: int
    tokens: int = 0  # tokens its models computed; cached prompt tokens do not count


class Forking:
    """Forks one recorded run. The journals of the forks are removed at the end."""

    def __init__(self, journal: Path | str, how: How | None = None) -> None:
        self.journal, self.how = Path(journal), how or How()
        self.recording = Recording(self.journal)
        self.pairs: dict[str, dict[str, Any]] = {}  # preference pairs of the forks that passed, without duplicates
        self._stack = ExitStack()
        self._opened: dict[str, Model] = {}
        self._memories: dict[str, Any] = {}

    def __enter__(self) -> Forking:
        try:
            self.runs = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="bt-forks-")))
            how = self.how
            kit = refit(self.recording, Offer(how.model, how.memory, None, how.services or {}, changed=how.changed))
            self.models: dict[str, Model] = {role: self.model(each) for role, each in (kit["model"] or {}).items()}
            self.memory = self._readonly(kit["memory"])
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def model(self, named: Any) -> Model:
        """Returns a model; one that is named is opened once."""
        if isinstance(named, Model):
            return named
        name = str(named)
        if name not in self._opened:
            self._opened[name] = self._stack.enter_context(open_model(name))
        return self._opened[name]

    def play(self, at: str, edits: Edits, roles: Mapping[str, Model] | None = None, tokens: float = math.inf) -> Played:
        """Plays one fork to its end, or until its models have computed so many tokens. `roles`: its models, where they
        are not the run's."""
        how, tally = self.how, Tally()
        own = {role: MeteredModel(model, tally) for role, model in (roles or self._roles(edits.model)).items()}
        memory = self._readonly(edits.memory) if edits.memory is not None else self.memory
        run = fork(
            self.journal, at, edits._replace(model=own or None, memory=memory), runs=self.runs, skills=how.skills,
            services=dict(how.services or {}), clock=how.clock() if how.clock else None, changed=True,
        )  # fmt: skip

        def spent(_: Tick) -> None:
            if tally.computed >= tokens:
                run.parts.runner.halt(SPENT)

        with run:
            run.listen(spent, Tick)
            status = run.spin(how.hz, PATIENCE if how.seconds is None else how.seconds)
            stopped, timed_out, ticks = run.parts.runner.stopped, run.parts.runner.timed_out, run.parts.engine.count
            assert run.parts.journal is not None and run.parts.journal.path is not None
            path = run.parts.journal.path
        if stopped not in ("", SPENT):
            raise Interrupted(stopped)
        made = Recording(path)
        passed = not timed_out and not stopped and met(made)
        if passed:
            self._teach(made)
        path.unlink()
        return Played(passed, "time is up" if timed_out else stopped or status.name, ticks, tally.computed)

    def _roles(self, named: Any) -> dict[str, Model]:
        if named is None:
            return self.models
        offered = models.by_role(named)
        return {role: self.model(offered.get(role, offered.get("default", was))) for role, was in self.models.items()}

    def _teach(self, made: Recording) -> None:
        for key, row in pairs_of(self.recording, made):
            self.pairs.setdefault(key, row)

    def _readonly(self, memory: Any) -> Any:
        if memory is None or not isinstance(memory, str | Path):
            return memory
        from bt_runtime.memory.episodes import Episodes

        name = str(memory)
        if name not in self._memories:
            first = next(iter(self.models.values()), None)
            count = first.count if first is not None else lambda text: len(text.split())
            self._memories[name] = self._stack.enter_context(Episodes.open(name, count=count, readonly=True))
        return ReadonlyMemory(self._memories[name])
