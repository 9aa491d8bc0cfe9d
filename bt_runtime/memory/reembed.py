"""Gives every goal a vector by another embedder. It may be broken off at any moment, and goes on where it was."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import NamedTuple

from bt_runtime.memory.embedder import BATCH, embed_packed
from bt_runtime.memory.store import KeptEmbedder, Store
from bt_runtime.memory.vector import seal
from bt_runtime.types import Embedder

_LACKING = (
    "SELECT g.id, g.goal FROM goals g WHERE g.id > ? AND NOT EXISTS"
    " (SELECT 1 FROM vectors v WHERE v.goal = g.id AND v.embedder = ?) ORDER BY g.id LIMIT ?"
)


class Reembedded(NamedTuple):
    goals: int
    before: str
    now: str


def reembed(store: Store, embedder: Embedder, tell: Callable[[int], None] = lambda done: None) -> Reembedded:
    """Replaces all vectors in one transaction. Until then the old vectors serve searches."""
    owner = store.kept()
    before = owner.fingerprint if owner else ""
    new = _register(store, embedder)
    if owner and owner.id == new.id:  # asked for again: the vectors themselves are in doubt
        with store.writing() as db:
            db.execute("DELETE FROM vectors WHERE embedder = ?", (new.id,))
            db.execute("DELETE FROM meta WHERE key = 'embedder'")
    done = 0
    while True:
        done += _catch_up(store, embedder, new, tell, done)
        with store.writing() as db:
            if not db.execute(_LACKING, (0, new.id, 1)).fetchone():
                _hand_over(db, new)
                return Reembedded(done, before, new.fingerprint)


def _register(store: Store, embedder: Embedder) -> KeptEmbedder:
    with store.writing() as db:
        told = (embedder.fingerprint, embedder.dim)
        db.execute("INSERT OR IGNORE INTO embedders (fingerprint, dim) VALUES (?, ?)", told)
        number, dim = db.execute("SELECT id, dim FROM embedders WHERE fingerprint = ?", told[:1]).fetchone()
        if dim != embedder.dim:  # damaged: nothing that was made by it can be trusted
            db.execute("UPDATE embedders SET dim = ? WHERE id = ?", (embedder.dim, number))
            db.execute("DELETE FROM vectors WHERE embedder = ?", (number,))
    return KeptEmbedder(number, *told)


def _catch_up(store: Store, embedder: Embedder, new: KeptEmbedder, tell: Callable[[int], None], before: int) -> int:
    """Embeds the missing rows in batches, without holding a lock meanwhile."""
    last = done = 0
    while True:
        with store.reading() as db:
            batch = db.execute(_LACKING, (last, new.id, BATCH)).fetchall()
        if not batch:
            return done
        vectors = embed_packed(embedder, [goal for _, goal in batch])
        with store.writing() as db:
            for (goal, _), vector in zip(batch, vectors, strict=True):
                db.execute(
                    "INSERT OR IGNORE INTO vectors (goal, embedder, vector, seal)"
                    " SELECT ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM goals WHERE id = ?)",
                    (goal, new.id, vector, seal(goal, vector), goal),
                )
        last, done = batch[-1][0], done + len(batch)
        tell(before + done)


def _hand_over(db: sqlite3.Connection, new: KeptEmbedder) -> None:
    db.execute("INSERT OR REPLACE INTO meta VALUES ('embedder', ?)", (new.id,))
    db.execute("DELETE FROM vectors WHERE embedder <> ?", (new.id,))
    db.execute("DELETE FROM embedders WHERE id <> ?", (new.id,))
