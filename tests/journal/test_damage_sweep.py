"""Whatever row of a journal or part of its log is changed or cut off: what was done may be done again only when its
`on_resume` is `repeat`, or its `verify` says that it was not done."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bt_runtime import BtError, Run, Skill, load, skill
from bt_runtime.journal import Recording, outage, resume
from bt_runtime.journal.summary import summary
from bt_runtime.testing import SUCCESS

KINDS = {"sure": "fail", "seen": "verify", "again": "repeat"}
STEP = int(os.environ.get("BTR_DAMAGES", "2"))  # 1: at every row and frame


class Ledger:
    """What was done, in the order of doing."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def skills(self) -> list[type[Skill]]:
        return [self._skill(name, on_resume) for name, on_resume in KINDS.items()]

    def _skill(self, name: str, on_resume: str) -> Any:
        ledger = self

        class Act(Skill):
            def start(self, n: int) -> None:
                ledger.done.append(f"{name} {n}")

            def poll(self) -> Any:
                return SUCCESS

        class Seen(Act):
            def verify(self, n: int) -> bool:
                return f"{name} {n}" in ledger.done

        return skill(f"{name} {{n}}", name=name, on_resume=on_resume)(Seen if on_resume == "verify" else Act)


def tree(*kinds: str) -> str:
    lines = [f"    - {kind}: {n}\n    - log: after {kind} {n}" for n in range(2) for kind in kinds]
    return "version: 1\ntree: acts\nroot:\n  sequence:\n" + "\n".join(lines) + "\n    - wait: 0.001\n"


def finished(kinds: tuple[str, ...], folder: Path) -> tuple[Path, list[str], Path]:
    """The journal of a run that has ended; what it did; and what lay in its folder at the end, as after a kill."""
    ledger, live = Ledger(), folder / "live"
    with Run(load(tree(*kinds), skills=ledger.skills()), journal=folder / "runs", slow=None) as run:
        assert run.spin(seconds=30) is SUCCESS
        assert (
            run.parts.journal is not None
            and run.parts.journal.path is not None
            and run.parts.journal.tape.writer is not None
        )
        assert run.parts.journal.tape.writer.durable().wait(10)
        shutil.copytree(folder / "runs", live, ignore=shutil.ignore_patterns("*.lock", "*-shm"))
        path = run.parts.journal.path
    assert Counter(ledger.done) == Counter(f"{kind} {n}" for n in range(2) for kind in kinds)
    return path, ledger.done, live / path.name


def gone_on(journal: Path, done: list[str]) -> tuple[str, Counter[str]]:
    """Resumes it to its end; tells how that went, and what was done in all."""
    ledger = Ledger()
    ledger.done = list(done)
    try:
        with resume(journal, skills=ledger.skills()) as run:
            assert run.spin(seconds=30).name in ("SUCCESS", "FAILURE")
    except BtError as error:
        assert error.message and error.hint, error
        return "refused", Counter(ledger.done)
    return "went on", Counter(ledger.done)


def only_as_the_rule_allows(counts: Counter[str], what: str) -> None:
    for act, count in counts.items():
        assert count == 1 or act.startswith("again"), f"{what}: {act}: {count} times"


def damages(journal: Path, to: Path) -> Iterator[tuple[str, Path]]:
    """A copy for each row that is changed, lost with all that follow, or lost alone, one after the other."""
    rows = len(Recording(journal).events)
    for seq in range(1, rows + 1, STEP):
        for how, sql in (
            ("changed", "UPDATE events SET body = replace(body, '\"', '''') WHERE seq = ?"),
            ("of another kind", "UPDATE events SET kind = 'log' WHERE seq = ?"),
            ("cut off", "DELETE FROM events WHERE seq >= ?"), ("left out", "DELETE FROM events WHERE seq = ?"),
        ):  # fmt: skip
            path = copied(journal, to)
            connection = sqlite3.connect(path)
            connection.execute(sql, (seq,))
            connection.commit()
            connection.close()
            yield f"row {seq} {how}", path


def copied(journal: Path, to: Path) -> Path:
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(journal.parent, to)
    return to / journal.name


@pytest.mark.parametrize("kinds", [("sure",), ("seen",), ("again",), ("sure", "seen", "again")])
def test_no_damaged_row_of_a_finished_run_has_its_actions_done_again(kinds: tuple[str, ...], tmp_path: Path) -> None:
    path, done, _ = finished(kinds, tmp_path)
    ways: Counter[str] = Counter()
    for what, broken in damages(path, tmp_path / "copy"):
        way, counts = gone_on(broken, done)
        only_as_the_rule_allows(counts, what)
        ways[way] += 1
    assert ways["refused"] and (kinds != ("again",) or ways["went on"]), ways


@pytest.mark.parametrize("kinds", [("sure",), ("seen",), ("sure", "seen", "again")])
@pytest.mark.parametrize("how", ["cut", "flipped"])
def test_no_damage_of_its_log_has_the_actions_of_a_killed_run_done_again(
    how: str, kinds: tuple[str, ...], tmp_path: Path
) -> None:
    """SQLite leaves out, without a word, what follows a damaged frame of the log: the mark beside the journal tells."""
    _, done, live = finished(kinds, tmp_path)
    size = Path(f"{live}-wal").stat().st_size
    assert outage.read(live).events == len(Recording(live).events)
    for at in range(0, size, 4120 * STEP):
        path = copied(live, tmp_path / "copy")
        log = Path(f"{path}-wal")
        data = bytearray(log.read_bytes())
        if how == "flipped":
            data[min(at + 60, size - 1)] ^= 1
        log.write_bytes(data[:at] if how == "cut" else data)
        lost = len(Recording(path).events) < len(Recording(live).events)
        assert not lost or summary(path).state == "damaged", f"log {how} at {at}"
        way, counts = gone_on(path, done)
        assert way == "refused" or not lost, f"log {how} at {at}"
        only_as_the_rule_allows(counts, f"log {how} at {at}")


def test_without_the_mark_an_action_is_verified_before_its_first_start(tmp_path: Path) -> None:
    """Then nobody can tell whether rows were lost: what is so already, and has no row, counts as done."""
    _, done, live = finished(("seen", "again"), tmp_path)
    outage.marker_of(live).unlink()
    log = Path(f"{live}-wal")
    log.write_bytes(log.read_bytes()[: 32 + 4120 * 8])
    assert len(Recording(live).events) < 10
    way, counts = gone_on(live, done)
    assert way == "went on"
    only_as_the_rule_allows(counts, "no mark")


def test_a_resume_that_is_killed_before_it_writes_can_be_resumed_again(tmp_path: Path) -> None:
    """The mark is lowered before rows are cut off, so that it never speaks of rows that are to be written anew."""
    ledger = Ledger()
    with Run(load(tree("again"), skills=ledger.skills()), journal=tmp_path / "runs", slow=None) as run:
        for _ in range(4):
            run.tick()
        assert (
            run.parts.journal is not None
            and run.parts.journal.path is not None
            and run.parts.journal.tape.writer is not None
        )
        assert run.parts.journal.tape.writer.durable().wait(10)
        path = copied(run.parts.journal.path, tmp_path / "copy")
    path.with_suffix(".lock").unlink()
    for _ in range(3):
        with resume(path, skills=ledger.skills()) as again:
            assert again.parts.journal is not None
            again.parts.journal.settled()  # else the copy may hold the mark of rows that it lacks
            kept = copied(path, tmp_path / "kept")
            kept.with_suffix(".lock").unlink()
        path = copied(kept, tmp_path / "copy")
        assert not Recording(path).damage
