"""The common part of text worlds: they check the task, keep their state as JSON and show a page of text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.skills.worlds.manual import manual
from bt_runtime.types import Json, Observation, Task

_UNFIT = (KeyError, TypeError, ValueError, AttributeError)  # exceptions of reading strange data


def one_of(said: str, known: Sequence[str], what: str, way: str) -> None:
    """Raises for an unknown way to show the world; `what` names the option."""
    if said not in known:
        raise BtError(f"no {what} is called `{said}`", f"{way}: {', '.join(known)}")


def listed(value: Json) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is no list")
    return tuple(map(str, value))


class TextWorld:
    """A world of text. A subclass defines its first text, its page, and the state that it keeps besides its task."""

    instant = False  # an act reads a disk, or asks an engine
    called = ""  # the game's name in its paper
    name = ""  # the suite's, and the manifest's
    rules: Sequence[str] = ()
    without: Sequence[str] = ()  # kinds of the manifest that are not told of

    _task: Task | None = None

    def begin(self, task: Task) -> Observation:
        """Takes the task, or raises one of the errors of strange data, and nothing has changed."""
        raise NotImplementedError

    def page(self) -> str:
        """Returns the page that a person sees."""
        raise NotImplementedError

    def kept(self) -> dict[str, Any]:
        """Returns the state as JSON values."""
        raise NotImplementedError

    def recover(self, task: Task | None, kept: Mapping[str, Any]) -> None:
        """Restores a task and its state."""
        raise NotImplementedError

    def reset(self, task: Task) -> Observation:
        try:
            return self.begin(task)
        except _UNFIT as problem:
            way = f"see `btr lab tasks {self.name} --json`"
            raise BtError(f"the task `{task.id}` is none of {self.called}: {problem!r}", way) from problem

    def picture(self) -> Json:
        return {"is": "text", "text": self.page()}

    def digest(self) -> str:
        return blake2b(self.snapshot(), digest_size=8).hexdigest()

    def snapshot(self) -> bytes:
        return json.dumps({"task": self._task._asdict() if self._task else None, **self.kept()}).encode()

    def restore(self, snapshot: bytes) -> None:
        try:
            kept = json.loads(snapshot)
            self.recover(Task(**kept["task"]) if kept["task"] is not None else None, kept)
        except _UNFIT as problem:
            way = "give what `snapshot()` returned"
            raise BtError(f"this is no snapshot of {self.called}: {problem!r}", way) from problem

    def close(self) -> None:
        """No-op: the underlying data is shared between worlds and stays open."""

    def manual(self) -> Mapping[str, Json]:
        return manual(self.name, self.rules, "", self.without)
