"""A journal has one writer: no moment at which one lets go or dies gives it two."""

from __future__ import annotations

import fcntl
import os
import random
import threading
from pathlib import Path

import pytest

from bt_runtime import BtError, Run, load
from bt_runtime.clock import Manual
from bt_runtime.journal import folder, lock, resume
from bt_runtime.journal.lock import Lock, is_held


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(lock, "PATIENCE", 0.0)
    return tmp_path / "a.btr"


def test_only_one_has_it_and_the_file_goes_with_it(path):
    held = Lock(path)
    assert is_held(path)
    with pytest.raises(BtError, match="written by another process"):
        Lock(path)
    held.release()
    held.release()
    assert not is_held(path) and not list(path.parent.iterdir())
    Lock(path).release()


def test_a_lock_whose_holder_lets_go_while_another_waits_has_one_holder(path, monkeypatch):
    """The other has opened the file, and locks it only when it has gone and a third has made a new one."""
    held, third = Lock(path), []
    flock = fcntl.flock

    def late(file: int, how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", flock)
        held.release()
        third.append(Lock(path))
        flock(file, how)

    monkeypatch.setattr(fcntl, "flock", late)
    with pytest.raises(BtError, match="written by another process"):
        Lock(path)
    assert is_held(path)
    third[0].release()


def test_many_who_take_it_and_let_go_at_random_are_never_two(path):
    inside, most, taken, guard = [0], [0], [0], threading.Lock()

    def work(seed: int) -> None:
        draw = random.Random(seed)
        for _ in range(150):
            try:
                held = Lock(path)
            except BtError:
                continue
            with guard:
                inside[0] += 1
                taken[0] += 1
                most[0] = max(most[0], inside[0])
            for _ in range(draw.randrange(200)):
                pass
            with guard:
                inside[0] -= 1
            held.release()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert taken[0] > 0 and most[0] == 1


def test_a_lock_that_a_process_left_before_its_journal_was_there_goes_and_one_that_is_held_stays(path):
    lock.beside(path).touch()
    held = Lock(path.with_name("b.btr"))
    folder.sweep(path.parent)
    assert [p.name for p in path.parent.iterdir()] == ["b.lock"] and is_held(path.with_name("b.btr"))
    held.release()


def test_a_forked_child_neither_holds_it_nor_lets_go_of_it(path):
    held = Lock(path)
    ready, go = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:  # nothing that could raise: the child is a copy of the test
        held.release()
        os.write(ready[1], b"." if lock.beside(path).exists() else b"!")
        os.read(go[0], 1)
        os._exit(0)
    try:
        assert os.read(ready[0], 1) == b"."
        assert is_held(path)
        held.release()
        assert not is_held(path)
        Lock(path).release()  # although the child still lives
    finally:
        os.write(go[1], b".")
        os.waitpid(child, 0)
        for end in (*ready, *go):
            os.close(end)


def test_a_run_that_ended_while_its_resume_waited_for_the_lock_is_read_as_it_ended(tmp_path, monkeypatch):
    """What another process wrote until it let go is read, not cut off."""
    tree = load("version: 1\ntree: t\nroot:\n  sequence:\n    - set: {x: 1}\n    - wait: 5\n    - log: done\n")
    first = Run(tree, clock=Manual(), journal=tmp_path / "runs")
    first.tick()
    assert first.parts.journal is not None and first.parts.journal.path is not None
    assert first.parts.journal.tape.writer is not None and first.parts.journal.tape.writer.durable().wait(60)
    taken = lock._taken

    def late(place: Path) -> int | None:
        monkeypatch.setattr(lock, "_taken", taken)
        first.spin()
        first.close()
        return taken(place)

    monkeypatch.setattr(lock, "_taken", late)
    with resume(first.parts.journal.path, clock=Manual()) as again:
        assert again.status.name == "SUCCESS"
        assert again.parts.engine.count == first.parts.engine.count
