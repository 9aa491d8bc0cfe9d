"""A journal from anywhere tells no other story; what every command says to it, tests/hostile tries."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from bt_runtime import BtError
from bt_runtime.cli import main
from bt_runtime.journal import Recording
from bt_runtime.journal.lines import lines
from tests.journal import mutations

FLIPS = int(os.environ.get("BTR_FLIPS", "120"))


@pytest.fixture
def whole(errand_of) -> Path:
    return errand_of("textcraft", 8)


def told(path: Path) -> list[str]:
    return [json.dumps(line) for line in lines(Recording(path))]


def test_a_flipped_bit_never_tells_another_story(whole, tmp_path):
    """What is read is what was written, or the damage is told, or the file is refused in words."""
    data, story, path = whole.read_bytes(), told(whole), tmp_path / "flipped" / whole.name
    path.parent.mkdir()
    outcomes = {"same": 0, "damaged": 0, "refused": 0}
    for seed in range(FLIPS):
        path.write_bytes(mutations.flipped(data, seed))
        try:
            found = told(path)
        except BtError as error:
            assert error.message and error.hint, seed
            outcomes["refused"] += 1
            continue
        damage = json.loads(found[0])["damage"]
        assert damage or found == story, seed
        outcomes["damaged" if damage else "same"] += 1
    assert min(outcomes.values()) >= 3, outcomes


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ticks SET changes = replace(changes, 'S', 'F')",
        "UPDATE ticks SET at = at + 1 WHERE tick = (SELECT max(tick) FROM ticks)",
        "UPDATE nodes SET path = path || 'x' WHERE number = 3",
        "UPDATE nodes SET place = 7 WHERE number = 3",
        "UPDATE events SET at = at + 1 WHERE seq = 5",
        "UPDATE texts SET keep = keep - 1 WHERE parent > 0",
        "DELETE FROM ticks WHERE tick = (SELECT max(tick) FROM ticks)",
        "DELETE FROM ticks WHERE tick = (SELECT tick FROM ticks LIMIT 1 OFFSET 2)",
        "DELETE FROM nodes WHERE number = (SELECT max(number) FROM nodes)",
        "DELETE FROM events WHERE seq > 20",
        "UPDATE head SET value = replace(value, '[', '[1') WHERE name = 'end'",
    ],
)
def test_every_value_of_every_table_is_covered(whole, statement):
    connection = sqlite3.connect(whole)
    assert connection.execute(statement).rowcount
    connection.commit()
    connection.close()
    assert Recording(whole).damage


WRITER = """
import sys, threading
from bt_runtime import Run, load
from bt_runtime.journal import Recorder
tree = load("version: 1\\ntree: t\\nblackboard:\\n  n: {type: integer, default: 0}\\n"
            "root: {repeat: {times: 1000000, child: {set: {n: '{n + 1}'}}}}\\n")
over = threading.Event()
with Run(tree, journal=sys.argv[1]) as run:
    print("begun", flush=True)
    threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
    while not over.wait(0.003):
        run.tick()
"""


def test_a_journal_that_is_being_written_never_reads_as_damaged(tmp_path):
    """A real process writes; every read sees one moment of it, and so does every copy that `copy` makes."""
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path / "runs")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert writer.stdout is not None and writer.stdout.readline() == b"begun\n"
        path = next((tmp_path / "runs").glob("*.btr"))
        seen = []
        for number in range(60):
            recording = Recording(path)
            assert not recording.damage, number
            seen.append(len(recording.events))
            if number % 20 == 0:
                assert main(["runs", "copy", str(path), str(tmp_path / f"copy{number}.btr")]) == 0
                assert not Recording(tmp_path / f"copy{number}.btr").damage
        assert seen == sorted(seen)
    finally:
        writer.communicate(timeout=900)


def test_a_copy_without_its_log_says_so_and_one_that_copy_made_is_whole(errand_of, tmp_path, monkeypatch):
    """After a kill the end may be in the log beside the file."""
    killed = killed_run(tmp_path)
    alone = tmp_path / "alone.btr"
    shutil.copy(killed, alone)
    assert "-wal is not beside it" in Recording(alone).damage
    assert not Recording(killed).damage
    assert main(["runs", "copy", str(killed), str(tmp_path / "kept.btr")]) == 0
    kept, was = Recording(tmp_path / "kept.btr"), Recording(killed)
    assert not kept.damage and kept.events == was.events and kept.ticks == was.ticks
    assert main(["runs", "copy", str(killed), str(tmp_path / "kept.btr")]) == 2


def killed_run(folder: Path) -> Path:
    end = "run.parts.journal.tape.writer.durable().wait(60) and run.parts.engine.count > 50 and os._exit(9)"
    code = WRITER.replace("        run.tick()\n", f"        run.tick(); {end}\n").replace("sys.stdin.read()", "None")
    code = code.replace("over.set()", "None")
    subprocess.run(
        [sys.executable, "-c", f"import os\n{code}", str(folder / "runs")],
        stdin=subprocess.PIPE,
        check=False,
        timeout=60,
    )
    return next((folder / "runs").glob("*.btr"))


def test_what_was_committed_is_soon_in_the_file_itself(tmp_path):
    from bt_runtime.journal.store import SETTLE, Event, JournalStore, RowBatch

    store = JournalStore(tmp_path / "a.btr", head={"name": '"a"'})
    store.commit(RowBatch(events=[Event(1, 1, 1.0, "note", "{}")]), durable=True)
    before = (tmp_path / "a.btr").read_bytes()
    store.settle()
    assert (tmp_path / "a.btr").read_bytes() == before
    store.next -= SETTLE
    store.settle()
    assert b"note" in (tmp_path / "a.btr").read_bytes()
    store.close()
    assert [p.name for p in tmp_path.glob("a.*")] == ["a.btr"]


def test_a_journal_of_another_format_is_refused_with_a_way_out(whole, tmp_path):
    for number in (1, 3):
        path = tmp_path / f"v{number}.btr"
        shutil.copy(whole, path)
        connection = sqlite3.connect(path)
        connection.execute(f"PRAGMA user_version = {number}")
        connection.commit()
        connection.close()
        with pytest.raises(BtError) as refused:
            Recording(path)
        assert "version of btr that wrote it" in refused.value.hint


def test_flips_are_drawn_from_their_seed():
    data = random.Random(1).randbytes(4096)
    assert mutations.flipped(data, 4) == mutations.flipped(data, 4) != mutations.flipped(data, 5)
