"""Worlds by name: ours are imported when asked for, others come from the entry points `bt_runtime.worlds`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Literal, Protocol, cast

from bt_runtime.faults.diagnostic import BtError, nearest
from bt_runtime.types import Task, World

GROUP = "bt_runtime.worlds"
Split = Literal["train", "eval"]

# name → where its suite is; an entry point has the same form and may replace one of ours
OURS: dict[str, str] = {
    "textcraft": "bt_runtime.envs.textcraft.suite:SUITE",
    "house": "bt_runtime.envs.house.suite:SUITE",
    "thor": "bt_runtime.envs.thor.suite:SUITE",
}


class Suite(Protocol):
    """A world with its tasks and its oracle. Stateless: everything random comes from `seed`."""

    name: str
    kinds: Sequence[str]  # the kinds of task, in the order that help shows them
    skills: str  # the manifest in skills/ whose sentences this world acts

    def open(self, **options: Any) -> World:
        """A fresh world; an option that it does not know raises BtError. `data` is a folder of outside data."""

    def tasks(
        self, seed: int, count: int, split: Split = "train", kinds: Sequence[str] | None = None, **options: Any
    ) -> list[Task]:
        """The same arguments give the same tasks. No task of one split is in the other."""

    def oracle(self, world: World, task: Task, **options: Any) -> Iterator[str]:
        """Sentences that reach the goal, one at a time. The caller resets the world and acts each one before
        asking for the next, so an oracle may look at the world as it goes."""


def suite_names() -> list[str]:
    """Every world that can be asked for."""
    return sorted({*OURS, *(e.name for e in entry_points(group=GROUP))})


def open_suite(name: str) -> Suite:
    """The suite of that name."""
    found = _installed(name)
    if found is not None:
        return found
    if name not in OURS:
        guess = nearest(name, suite_names())
        hint = f"did you mean `{guess}`?" if guess else f"worlds here: {', '.join(suite_names())}"
        raise BtError(f"no world is called `{name}`", hint)
    module, _, attribute = OURS[name].partition(":")
    return cast(Suite, getattr(import_module(module), attribute))


@lru_cache(maxsize=32)
def _installed(name: str) -> Suite | None:
    """Looked for once: an evaluation opens a world for each of its episodes."""
    return next((cast(Suite, entry.load()) for entry in entry_points(group=GROUP, name=name)), None)


def choose_kinds(known: Sequence[str], asked: Sequence[str] | None) -> Sequence[str]:
    """The kinds of task asked for, all of them when none is named; an unknown one is an error."""
    for kind in asked or ():
        if kind not in known:
            guess = nearest(kind, known)
            raise BtError(f"no kind of task is called `{kind}`", f"did you mean `{guess}`?" if guess else _list(known))
    return list(asked) if asked else known


def no_more_options(world: str, left: Mapping[str, Any], known: Sequence[str]) -> None:
    """Raise for an option that a suite does not know."""
    for name in left:
        raise BtError(f"the world `{world}` has no option `{name}`", _list(known) if known else "it takes none here")


def _list(known: Sequence[str]) -> str:
    return f"known: {', '.join(known)}"


def open_world(name: str, **options: Any) -> World:
    """`open_world("house", feedback="terse")`: a fresh world, ready for `reset(task)`."""
    return open_suite(name).open(**options)
