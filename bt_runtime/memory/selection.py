"""Selects examples for a planner with one prompt as LoTa-Bench does: random, of one kind, or nearest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, Protocol

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.memory.draw import Draw
from bt_runtime.memory.experience import Experience
from bt_runtime.memory.retrieval import Retrieval
from bt_runtime.memory.rows import Filter, roots
from bt_runtime.memory.store import Store

Strategy = Literal["random", "task_specific", "similar"]


class SelectedMemory(Protocol):
    """A store and the retrieval over it."""

    @property
    def store(self) -> Store: ...

    @property
    def retrieve(self) -> Callable[..., Retrieval]: ...


def select(
    memory: SelectedMemory,
    strategy: Strategy,
    count: int,
    *,
    goal: str = "",
    kind: str = "",
    seed: int = 0,
    exclude_task: str | None = None,
    namespace: str | None = "default",
) -> list[Experience]:
    """`random`: `count` of every kind; `task_specific`: `count` of this kind; `similar`: the `count` nearest goals.

    Only whole tasks that were met are chosen from, one example per task.
    """
    if strategy == "similar":
        found = memory.retrieve(
            goal, None, count, level="task", seed=seed, exclude_task=exclude_task, namespace=namespace
        )
        first = {look.uid for look in found.looks}
        return [e for e in found.taken if e.uid in first]
    if strategy not in ("random", "task_specific"):
        raise BtError(f"no way of selecting is called `{strategy}`", "one of: random, task_specific, similar")
    if strategy == "task_specific" and not kind:
        raise BtError("task_specific needs the kind of the task", "name a kind, or use `similar`, which needs none")
    wanted = Filter(namespace, True, exclude_task, kind=kind if strategy == "task_specific" else None)
    pools: dict[str, dict[str, Experience]] = {}
    for experience in _roots(memory, wanted):
        pools.setdefault(experience.kind, {})[experience.uid] = experience
    return [e for name in sorted(pools) for e in _drawn(pools[name].values(), count, seed, name)]


def _roots(memory: SelectedMemory, wanted: Filter) -> Iterable[Experience]:
    store = memory.store
    with store.reading() as db:
        goals = [goal for (goal,) in db.execute("SELECT id FROM goals ORDER BY id")]
        chosen = {row.uid for row in roots(db, goals, wanted)}
    return (e for e in store.each(wanted) if e.uid in chosen)


def _drawn(pool: Iterable[Experience], count: int, seed: int, kind: str) -> list[Experience]:
    left = sorted(pool, key=lambda e: e.uid)
    draw = Draw(seed, f"kind {kind}", [e.uid for e in left])
    return [left.pop(draw.below(len(left))) for _ in range(min(count, len(left)))]
