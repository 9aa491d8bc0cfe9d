"""Episodic memory: stores the experiences of whole runs, and retrieves them by the nearness of their goals."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from bt_runtime.language.closing import Closing
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.memory import embedder as embedders
from bt_runtime.memory.cache import Cache
from bt_runtime.memory.draw import Tie, order
from bt_runtime.memory.experience import Experience, from_json, normalise
from bt_runtime.memory.index import Hit
from bt_runtime.memory.retrieval import Candidate, Fit, Retrieval, fill
from bt_runtime.memory.rows import Filter, Row, allowed, by_ids, eligible, roots, whole_task
from bt_runtime.memory.selection import Strategy, select
from bt_runtime.memory.store import Added, Store, Vanished
from bt_runtime.types import Embedder

# A job on a thread: asked now, polled later, dropped when cancelled.

T = TypeVar("T")


class MemoryAnswer(Generic[T]):
    def __init__(self, future: Future[T]) -> None:
        self._future = future
        self.cancelled = ""  # why

    def poll(self) -> T | None:
        """The answer once it is there. Raises what the work raised; nothing after a cancel."""
        if self.cancelled or not self._future.done():
            return None
        return self._future.result()

    def cancel(self, reason: str) -> None:
        self.cancelled = self.cancelled or reason or "cancelled"
        self._future.cancel()


Level = Literal["agent", "task"]
FIRST = 8  # goals fetched beyond k at first: enough when the filter leaves most in
WIDER = 8  # times as many, when it does not
REMEMBERED = 4096  # query vectors and token counts kept at hand


class Episodes(Closing):
    """An episodic memory: a store, an embedder and a token counter. Thread-safe; open it once per process."""

    def __init__(self, store: Store, embedder: Embedder, count: Callable[[str], int]) -> None:
        self.store, self.embedder, self._count = store, embedder, count
        self._cache: Cache | None = None
        self._vectors: dict[str, bytes] = {}
        self._tokens: dict[str, int] = {}
        self._workers = ThreadPoolExecutor(2, thread_name_prefix="memory")

    @classmethod
    def open(
        cls,
        path: Path | str,
        embedder: Embedder | str = "",
        count: Callable[[str], int] = lambda text: len(text.split()),
        *,
        readonly: bool = False,
    ) -> Episodes:
        """Opens the store, and makes its index before the first question needs it. Without an `embedder` the store's
        own is opened, or for a new store the default one."""
        store = Store(path, readonly=readonly)
        try:
            if embedder == "":
                kept = store.kept()
                embedder = embedders.name_of(kept.fingerprint) if kept else embedders.default_name()
            chosen = embedders.open_embedder(embedder) if isinstance(embedder, str) else embedder
            made = cls(store, chosen, count)
            with store.reading() as db:
                if db.execute("SELECT 1 FROM vectors LIMIT 1").fetchone():
                    made._index().abreast(db)
        except BaseException:
            store.close()
            raise
        return made

    def close(self) -> None:
        self._workers.shutdown(wait=True, cancel_futures=True)
        self.store.close()
        embedders.close(self.embedder)

    # Writing -------------------------------------------------------------------------------------

    def add(self, experiences: Iterable[Experience]) -> Added:
        """Adds all experiences in one transaction, on disk when this returns. Known ones are not written twice."""
        return self._add(experiences)

    def retell(self, experiences: Iterable[Experience]) -> Added:
        """Replaces the experiences that the run stored before by these."""
        return self._add(experiences, instead=True)

    def _add(self, experiences: Iterable[Experience], instead: bool = False) -> Added:
        found = [self._complete(e) for e in experiences]
        if not found:
            return Added(0, 0)
        while True:
            lacking = self.store.missing((e.key for e in found), self.embedder.fingerprint)
            vectors = dict(zip(lacking, embedders.embed_packed(self.embedder, lacking), strict=True))
            try:
                return self.store.add(found, vectors, self.embedder.fingerprint, self.embedder.dim, instead)
            except Vanished:
                continue

    def identity(self) -> str:
        """Returns the memory's id, which does not depend on its content."""
        return self.store.identity()

    def _complete(self, experience: Experience) -> Experience:
        checked = from_json(experience.to_json())
        tokens = checked.tokens
        if not tokens:
            with suppress(BtError):  # a model that cannot count costs no experience: 0 stands for not counted
                tokens = self._count(checked.text)
        return replace(checked, tokens=tokens, when=checked.when or round(time.time(), 3))

    # Reading -------------------------------------------------------------------------------------

    def retrieve(
        self,
        goal: str,
        budget: int | None = None,
        k: int = 5,
        *,
        level: Level = "agent",
        fit: Fit = "prefix",
        tie: Tie = "uniform",
        seed: int = 0,
        exclude_task: str | None = None,
        namespace: str | None = "default",
        failed: bool = False,
        similarity: float = 0.0,
    ) -> Retrieval:
        """The experiences nearest to the goal that fit the budget, whole. `failed` admits tasks not known to be met;
        goals less alike than `similarity` are refused.

        The same question to the same store gives the same answer, in any process.
        """
        _check(goal, level, fit, tie)
        key = normalise(goal)
        wanted = Filter(namespace, None if failed else True, exclude_task)
        with self.store.reading() as db:
            offers = self._offers(db, key, k, wanted, level, tie, seed)
            return fill(goal, offers, self._counted, budget, k, fit, similarity)

    def ask(self, goal: str, budget: int | None = None, k: int = 5, **how: Any) -> MemoryAnswer[Retrieval]:
        """`retrieve` as a job, for callers that must not block."""
        return MemoryAnswer(self._workers.submit(self.retrieve, goal, budget, k, **how))

    def select(self, strategy: Strategy, count: int, **how: Any) -> MemoryAnswer[Retrieval]:
        """LoTa-Bench's ways of choosing (see `selection`), as a job."""
        return MemoryAnswer(self._workers.submit(self._selected, strategy, count, how))

    def _selected(self, strategy: Strategy, count: int, how: dict[str, Any]) -> Retrieval:
        found = select(self, strategy, count, **how)
        tokens = sum(self._counted(e.text) for e in found)
        return Retrieval(how.get("goal", ""), tuple(found), (), tokens, None, f"{strategy}, {count} asked for")

    def _offers(
        self, db: sqlite3.Connection, key: str, k: int, wanted: Filter, level: Level, tie: Tie, seed: int
    ) -> Iterator[Candidate]:
        path = self.store.path
        ranked = (
            (score, row) for score, rows in self._ties(db, key, k, wanted, level) for row in order(rows, tie, seed, key)
        )
        while page := list(islice(ranked, max(1, k))):
            firsts = by_ids(db, [row.id for _, row in page], path)
            for (score, _), first in zip(page, firsts, strict=True):
                yield Candidate(score, (first,) if level == "agent" else tuple(whole_task(db, first, path)))

    def _ties(
        self, db: sqlite3.Connection, key: str, k: int, wanted: Filter, level: Level
    ) -> Iterator[tuple[float, list[Row]]]:
        """Yields eligible experiences in order of falling score, grouped by equal scores."""
        seen: set[int] = set()
        for hits in self._nearer(db, key, k, wanted):
            fresh = [hit for hit in hits if hit.goal not in seen]
            seen.update(hit.goal for hit in fresh)
            rows: dict[int, list[Row]] = {}
            for row in (eligible if level == "agent" else roots)(db, [hit.goal for hit in fresh], wanted):
                rows.setdefault(row.goal, []).append(row)
            for score, tied in groupby(fresh, key=lambda hit: hit.score):
                together = [row for hit in tied for row in rows.get(hit.goal, ())]
                if together:
                    yield score, together

    def _nearer(self, db: sqlite3.Connection, key: str, k: int, wanted: Filter) -> Iterator[list[Hit]]:
        """Yields the nearest goals in growing numbers. When the filter admits few, only admitted goals are searched."""
        index = self._index()
        if not db.execute("SELECT 1 FROM vectors LIMIT 1").fetchone():
            return
        query = self._vector(db, key)
        size = max(k, 0) + FIRST
        for count in (size, size * WIDER):
            hits = index.search(db, query, count)
            yield hits
            if len(hits) == len(index):
                return
        within = allowed(db, wanted)
        count = size * WIDER**2
        while True:
            hits = index.search(db, query, count, within)
            yield hits
            if len(hits) >= len(within) or count > len(within):
                return
            count *= WIDER

    def _index(self) -> Cache:
        if self._cache is None:
            self._cache = Cache(self.store, self.embedder.fingerprint, self.embedder.dim)
        return self._cache

    def _vector(self, db: sqlite3.Connection, key: str) -> bytes:
        """Returns a goal's vector: the stored one for a known goal, without asking a model."""
        sql = (
            "SELECT v.vector FROM goals g JOIN vectors v ON v.goal = g.id JOIN embedders m ON m.id = v.embedder"
            " WHERE g.goal = ? AND m.fingerprint = ? AND typeof(v.vector) = 'blob'"
        )
        row = db.execute(sql, (key, self.embedder.fingerprint)).fetchone()
        if row:
            return bytes(row[0])
        if key not in self._vectors:
            if len(self._vectors) >= REMEMBERED:
                self._vectors.clear()
            self._vectors[key] = embedders.embed_packed(self.embedder, [key])[0]
        return self._vectors[key]

    def _counted(self, text: str) -> int:
        if text not in self._tokens:
            if len(self._tokens) >= REMEMBERED:
                self._tokens.clear()
            self._tokens[text] = self._count(text)
        return self._tokens[text]


def opened(where: str, count: Callable[[str], int]) -> Episodes:
    """Opens the memory in a file: the entry point `sqlite`."""
    return Episodes.open(where, count=count)


def _check(goal: str, level: str, fit: str, tie: str) -> None:
    if not goal.strip():
        raise BtError("nothing can be retrieved for an empty goal", "say what is to be done")
    choices = (("level", level, ("agent", "task")), ("fit", fit, ("prefix", "skip")))
    for name, value, known in (*choices, ("tie", tie, ("uniform", "round_robin"))):
        if value not in known:
            raise BtError(f"`{name}` must be {' or '.join(known)}, not `{value}`", f"such as {name}={known[0]!r}")
