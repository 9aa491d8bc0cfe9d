"""What a store does when its file, its disk or its user goes wrong: a clear word, and nothing lost."""

from __future__ import annotations

import json
import math
import os
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bt_runtime import BtError
from bt_runtime.memory import Episodes
from bt_runtime.memory.experience import Experience
from bt_runtime.memory.reembed import reembed
from bt_runtime.memory.rows import Filter
from bt_runtime.memory.salvage import salvage
from bt_runtime.memory.store import Store
from bt_runtime.memory.vector import seal

Make = Callable[..., Any]


def settled(remember: Make, path: Path, *experiences: Experience) -> list[Experience]:
    """A closed store on disk, and what is in it."""
    memory = remember(*experiences, path=path)
    found = list(memory.store.each())
    memory.close()
    return found


def many(lived: Make, count: int) -> list[Experience]:
    return [lived(f"find apple {i}", text=f"step {i}\n" * 200) for i in range(count)]


def test_what_is_written_comes_back(remember: Make, lived: Make) -> None:
    """Every field survives, whatever text it holds, and writing it again adds nothing."""
    odd = lived(
        "Put “the” apple\nin Küche ☕\x00", text="a\r\nb\t\U0001f34e", end="expand", task="t", kind="k", run="r",
        place="/1", verdict=None, tokens=7, when=12.5, namespace="n",
    )  # fmt: skip
    memory = remember(odd)
    assert list(memory.store.each()) == [odd]
    assert memory.add([odd, replace(odd, tokens=9, when=99.0)]) == (0, 2)
    assert memory.add([replace(odd, verdict=True)]) == (1, 0)


def test_a_run_is_written_whole_or_not_at_all(remember: Make, lived: Make) -> None:
    """One bad experience in a run keeps the whole run out."""
    memory = remember(lived())
    with pytest.raises(BtError, match="`end` is one of"):
        memory.add([lived("wash cup"), lived("find cup", end="done")])
    assert [e.goal for e in memory.store.each()] == ["find apple"]


def test_forgetting_leaves_no_trace(remember: Make, lived: Make, tmp_path: Path) -> None:
    """A removed experience is not found, its goal is gone with the last one that had it, and so are the bytes."""
    path = tmp_path / "m"
    memory = remember(lived("find secret apple", text="hidden words"), lived("find cup"), path=path)
    assert memory.store.remove([memory.store.like("")[0].uid, "no such id"]) == 1
    assert [e.goal for e in memory.retrieve("find secret apple").taken] == ["find cup"]
    memory.close()
    raw = path.read_bytes()
    assert b"hidden words" not in raw
    assert b"secret" not in raw


def test_a_file_that_is_no_memory_is_refused(tmp_path: Path) -> None:
    """Another SQLite file, a text, an empty file, a folder and a newer layout are told apart and left untouched."""
    other, text, empty, newer = (tmp_path / name for name in ("other", "text", "empty", "newer"))
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE t (x)")
    db.close()
    text.write_text("not a database, but long enough to be looked at " * 20)
    empty.touch()
    Store(newer).close()
    with sqlite3.connect(newer) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    before = {path: path.read_bytes() for path in (other, text, empty, newer)}
    told = {other: "not a memory", text: "not a memory", empty: "is empty", newer: "newer bt_runtime"}
    for path, words in told.items():
        with pytest.raises(BtError, match=words):
            Store(path)
        assert path.read_bytes() == before[path]
    with pytest.raises(BtError, match="cannot open"):
        Store(tmp_path)
    with pytest.raises(BtError, match="cannot make the folder"):
        Store(text / "below" / "m.sqlite")


def test_a_cut_off_store_is_told_and_its_rest_saved(remember: Make, lived: Make, tmp_path: Path) -> None:
    """A truncated file is refused with the way to save the rest; what is saved is true, the file is left alone."""
    path = tmp_path / "m.sqlite"
    kept = settled(remember, path, *many(lived, 60))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) * 2 // 3])
    for _ in range(2):
        with pytest.raises(BtError, match="cut off") as told:
            Store(path)
        assert "--salvage" in told.value.hint
    saved = list(salvage(path))
    assert 10 < len(saved) < 60
    assert set(saved) <= set(kept)
    assert path.read_bytes() == whole[: len(whole) * 2 // 3]


def test_a_damaged_page_never_gives_a_false_answer(remember: Make, lived: Make, tmp_path: Path) -> None:
    """Wherever noise lands in the file: the answers are those of before, or an error in words. Nothing else."""
    path = tmp_path / "m.sqlite"
    kept = {e.uid: e for e in settled(remember, path, *many(lived, 12))}
    true = remember(path=path, readonly=True).retrieve("find apple 3", k=20)
    whole = path.read_bytes()
    page, refused = 8192, 0
    for number in range(len(whole) // page):
        noisy = bytearray(whole)
        for at in range(number * page + 100, (number + 1) * page, 7):
            noisy[at] ^= 0xA5
        path.write_bytes(noisy)
        for rest in ("-wal", "-shm"):
            Path(f"{path}{rest}").unlink(missing_ok=True)
        try:
            memory = remember(path=path, readonly=True)
            assert memory.retrieve("find apple 3", k=20).looks == true.looks
            for e in memory.store.each():
                assert kept[e.uid] == replace(e, tokens=kept[e.uid].tokens, when=kept[e.uid].when)
        except BtError as told:
            assert str(path) in told.message
            refused += 1
        assert all(e.uid in kept for e in _saved(path))
    assert refused > 4


def _saved(path: Path) -> list[Experience]:
    try:
        return list(salvage(path))
    except BtError:
        return []


def test_a_changed_vector_is_noticed(remember: Make, lived: Make, tmp_path: Path) -> None:
    """One bit of a vector, or the vectors of two goals exchanged, is an error and not another ranking."""
    path = tmp_path / "m.sqlite"
    settled(remember, path, lived("find apple"), lived("wash cup"))
    good = path.read_bytes()
    for change in (
        "UPDATE vectors SET vector = (SELECT w.vector FROM vectors w WHERE w.goal = 3 - vectors.goal)",
        "UPDATE vectors SET vector = cast(x'00' || substr(vector, 2) AS BLOB) WHERE goal = 1",
    ):
        path.write_bytes(good)
        with sqlite3.connect(path) as db:
            db.execute(change)
        db.close()
        with pytest.raises(BtError, match="the vector of goal") as told:
            remember(path=path, readonly=True).retrieve("find apple")
        assert "reembed" in told.value.hint


def test_a_store_opened_for_reading_stays_as_it_is(remember: Make, lived: Make, tmp_path: Path) -> None:
    """Reading needs no right to write, not even on the folder; writing is refused in words."""
    folder = tmp_path / "locked"
    folder.mkdir()
    path = folder / "m.sqlite"
    settled(remember, path, lived())
    path.chmod(0o444)
    folder.chmod(0o555)
    try:
        memory = remember(path=path, readonly=True)
        assert len(memory.retrieve("find apple").taken) == 1
        with pytest.raises(BtError, match="reading only"):
            memory.add([lived("wash cup")])
    finally:
        folder.chmod(0o755)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anything")
def test_a_write_protected_store_says_so(remember: Make, lived: Make, tmp_path: Path) -> None:
    """Adding to a file without write permission is an error in words, and the file still reads."""
    path = tmp_path / "m.sqlite"
    settled(remember, path, lived())
    path.chmod(0o444)
    with pytest.raises(BtError, match=r"may only be read|cannot open"):
        remember(lived("wash cup"), path=path)


FILL = """
import resource, signal, sys
from bt_runtime import BtError
from bt_runtime.memory import Episodes
from bt_runtime.memory.experience import Experience
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limit = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
memory = Episodes.open(sys.argv[1], "hashing")
for i in range(1000):
    try:
        memory.add([Experience(f"find cup {i}", "word " * 4000, "success", run=str(i), verdict=True)])
    except BtError as told:
        print("!", told.message, flush=True)
        print(len(memory.retrieve("find cup 0", k=2000).taken), flush=True)
        break
    print(i, flush=True)
"""


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    """When no more can be written: an error in words, reading goes on, and all that was acknowledged is there."""
    path = tmp_path / "m.sqlite"
    said = subprocess.run(
        [sys.executable, "-c", FILL, str(path), str(1 << 20)], capture_output=True, text=True, timeout=900
    )
    *numbers, fault, readable = said.stdout.splitlines()
    assert fault.startswith("!") and ("no room left" in fault or "disk failed" in fault), said
    assert int(readable) == len(numbers) > 5
    with Episodes.open(path, "hashing") as memory:
        assert [e.run for e in memory.store.each()] == numbers
        assert memory.add([Experience("wash cup", "x", "success")]) == (1, 0)


def test_a_writer_that_waits_too_long_says_so(
    remember: Make, lived: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While another process holds the store a writer waits its turn; when its patience ends it says who and what."""
    path = tmp_path / "m.sqlite"
    memory = remember(lived(), path=path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr("bt_runtime.memory.store.PATIENCE_S", 0.2)
    with pytest.raises(BtError, match="another process has been writing"):
        memory.add([lived("wash cup")])
    assert len(memory.retrieve("find apple").taken) == 1
    other.execute("ROLLBACK")
    other.close()
    assert memory.add([lived("wash cup")]) == (1, 0)


def test_two_embedders_are_never_mixed(remember: Make, lived: Make, tmp_path: Path) -> None:
    """Another embedder may neither ask nor add, and is told the command that mends it."""
    path = tmp_path / "m.sqlite"
    settled(remember, path, lived())
    for attempt in (lambda m: m.retrieve("find cup"), lambda m: m.add([lived("wash cup")])):
        with pytest.raises(BtError, match="embedded by axes:1") as told:
            attempt(Episodes(Store(path), _Other(), len))
        assert "btr memory reembed" in told.value.hint
    assert len(remember(path=path).retrieve("find apple").taken) == 1


class _Other:
    fingerprint = "other:1"
    dim = 3

    def embed(self, texts: Any) -> Any:
        return [[1.0, 0.0, 0.0] for _ in texts]


def test_filters_choose(remember: Make, lived: Make) -> None:
    """A listing shows what the filter says, in the order of writing, a page at a time."""
    found = [lived(f"find cup {i}", run=str(i % 2), verdict=i % 3 == 0) for i in range(1100)]
    memory = remember(*found)
    assert [e.goal for e in memory.store.each(Filter(run="1", verdict=True))] == [
        e.goal for e in found if e.run == "1" and e.verdict
    ]
    assert len(list(memory.store.each(limit=700))) == 700
    assert json.dumps(memory.store.counts()["verdict"]) == '{"failure": 733, "success": 367}'


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_store_whose_vectors_are_no_numbers_is_damaged_whatever_its_seals_say(
    remember: Make, lived: Make, tmp_path: Path, value: float
) -> None:
    """Who can write a vector can write its seal; a score of NaN is before and after everything."""
    path = tmp_path / "m.db"
    settled(remember, path, lived("find the cup"), lived("wash the cup"))
    db = sqlite3.connect(path)
    for goal, blob in db.execute("SELECT goal, vector FROM vectors").fetchall():
        odd = struct.pack("<f", value) * (len(blob) // 4)
        db.execute("UPDATE vectors SET vector = ?, seal = ? WHERE goal = ?", (odd, seal(goal, odd), goal))
    db.commit()
    db.close()
    with pytest.raises(BtError, match="no numbers") as fault:
        remember(path=path).retrieve("find the cup", k=2)
    assert "reembed" in fault.value.hint


CELLS = [
    ("experiences", "text", b"\xff\0", "salvage"),
    ("experiences", "uid", b"", "salvage"),
    ("experiences", "tokens", "x", "salvage"),
    ("experiences", "at", float("inf"), "salvage"),
    ("experiences", "verdict", 0.5, "salvage"),
    ("goals", "goal", b"\xff", "salvage"),
    ("vectors", "vector", "x", "reembed"),
    ("vectors", "vector", 2**62, "reembed"),
    ("vectors", "goal", 0.5, "reembed"),
    ("vectors", "seal", "x", "reembed"),
    ("embedders", "dim", 1, "reembed"),
    ("embedders", "dim", "[]", "reembed"),
]


@pytest.mark.parametrize(("table", "column", "value", "mend"), CELLS)
def test_a_value_of_another_type_is_damage_with_a_way_out_that_helps(
    table: str, column: str, value: Any, mend: str, remember: Make, lived: Make, axes: Any, tmp_path: Path
) -> None:
    """Whoever writes a cell may put anything into it; what is named then brings back what is whole."""
    path = tmp_path / "typed.sqlite"
    settled(remember, path, *many(lived, 3))
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute(
        f"UPDATE {table} SET {column} = ? WHERE rowid = 2 OR (SELECT count(*) FROM {table}) = 1", (value,)
    )
    connection.commit()
    connection.close()
    with pytest.raises(BtError) as refused:
        remember(path=path).retrieve("find apple 1", failed=True)
    assert "damaged" in refused.value.message and mend in refused.value.hint
    if mend == "salvage":
        assert len(list(salvage(path))) >= (0 if column == "goal" else 2)
        return
    store = Store(path)
    reembed(store, axes)
    store.close()
    found = remember(path=path).retrieve("find apple 1", failed=True)
    assert len(found.taken) == 3
