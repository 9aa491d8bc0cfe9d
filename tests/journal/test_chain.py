"""A change, a cut and an exchange of sealed journals are seen; what was only read is not."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import bt_runtime as bt
from bt_runtime import BtError
from bt_runtime.cli import main
from bt_runtime.journal import Recording
from bt_runtime.journal.chain import CHAIN, FIRST, seal, verify

KEY = b"0123456789abcdef"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for name in ("a", "b", "c"):
        made(tmp_path / "runs", name)
    return tmp_path / "runs"


def made(place: Path, name: str) -> Path:
    with bt.Run(bt.load(f"version: 1\ntree: {name}\nroot:\n  log: hello {name}\n"), journal=place) as run:
        run.spin(seconds=30)
        assert run.parts.journal is not None and run.parts.journal.path is not None
        return run.parts.journal.path


def file_of(place: Path, name: str) -> Path:
    return next(place.glob(f"{name}-*.btr"))


def flipped(place: Path) -> None:
    path = file_of(place, "b")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def exchanged(place: Path) -> None:
    shutil.copy(file_of(place, "a"), file_of(place, "b"))


def a_line_gone(place: Path) -> None:
    lines = (place / CHAIN).read_text().splitlines(True)
    (place / CHAIN).write_text("".join(lines[:1] + lines[2:]))


def lines_turned(place: Path) -> None:
    (place / CHAIN).write_text("".join(reversed((place / CHAIN).read_text().splitlines(True))))


def half_a_line(place: Path) -> None:
    (place / CHAIN).write_bytes((place / CHAIN).read_bytes()[:-9])


def junk(place: Path) -> None:
    (place / CHAIN).write_text("[" * 100_000)


CHANGES: list[Callable[[Path], object]] = [
    flipped, exchanged, a_line_gone, lines_turned, half_a_line, junk, lambda place: file_of(place, "b").unlink(),
]  # fmt: skip


@pytest.mark.parametrize("key", [b"", KEY])
@pytest.mark.parametrize("change", CHANGES)
def test_each_change_is_seen(runs: Path, change: Callable[[Path], object], key: bytes) -> None:
    names, link = seal(runs, key)
    assert len(names) == 3 and verify(runs, key, link) == (3, [], [], [])
    change(runs)
    assert verify(runs, key, link)[1]


def test_reading_a_journal_changes_nothing(runs: Path) -> None:
    seal(runs)
    Recording(file_of(runs, "a"))
    assert verify(runs)[0] == 3


def test_a_chain_grows_and_what_has_no_line_is_told(runs: Path) -> None:
    _, first = seal(runs)
    new = made(runs, "d").stem
    assert verify(runs)[2] == [new]
    assert seal(runs)[0] == [new] and seal(runs)[0] == []
    assert verify(runs, head=first) == (4, [], [], [])


def test_a_cut_end_and_a_chain_made_anew_show_by_the_link_that_was_kept(runs: Path) -> None:
    _, link = seal(runs)
    (runs / CHAIN).write_text("".join((runs / CHAIN).read_text().splitlines(True)[:-1]))
    assert verify(runs)[1] == [] and verify(runs, head=link)[1]
    (runs / CHAIN).unlink()
    flipped(runs)
    seal(runs)
    assert verify(runs, head=link)[1]


def test_without_the_key_nobody_makes_a_chain_that_fits(runs: Path) -> None:
    seal(runs)
    assert verify(runs, KEY)[1]


def test_a_run_that_goes_on_is_not_sealed(tmp_path: Path) -> None:
    with bt.Run(bt.load("version: 1\ntree: t\nroot:\n  wait: 9\n"), journal=tmp_path) as run:
        run.tick()
        assert seal(tmp_path) == ([], FIRST)


def test_the_commands_say_what_is_wrong_and_end_with_1(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = tmp_path / "seal.key"
    key.write_bytes(KEY)
    more = ["--runs", str(runs), "--key", str(key)]
    assert main(["runs", "seal", *more]) == 0
    link = capsys.readouterr().out.split()[-1]
    assert main(["runs", "verify", *more, "--head", link]) == 0
    flipped(runs)
    assert main(["runs", "verify", *more, "--head", link]) == 1
    assert "was changed or exchanged" in capsys.readouterr().out


def test_a_project_seals_its_runs_as_they_end_and_a_run_that_was_cut_off_is_told_as_such(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`seal: FILE` in btr.yaml: `verify` finds each finished run, and says of the others whether they are sound."""
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "btr.yaml": "seal: seal.key\n",
        "seal.key": "short",
        "t.yaml": "version: 1\ntree: t\nroot:\n  wait: 0.01\n",
    }.items():
        (tmp_path / name).write_text(text)
    assert main(["run", "t.yaml"]) == 2 and "is too short" in capsys.readouterr().err
    (tmp_path / "seal.key").write_bytes(KEY)
    assert main(["run", "t.yaml"]) == main(["run", "t.yaml"]) == 0
    assert main(["run", "t.yaml", "--ticks", "1"]) == 4
    cut = max(tmp_path.glob("runs/*.btr"), key=lambda path: path.stat().st_mtime_ns)
    assert verify(tmp_path / "runs", KEY) == (2, [], [], [cut.stem])
    capsys.readouterr()
    assert main(["runs", "verify"]) == 0
    assert capsys.readouterr().out == (
        f"{cut.stem}: unfinished, sound so far\n2 as they were sealed, 0 faults, 0 finished and not sealed\n"
    )
    data = bytearray(cut.read_bytes())
    data[len(data) * 3 // 4 :] = bytes(len(data) - len(data) * 3 // 4)
    cut.write_bytes(data)
    assert main(["runs", "verify"]) == 1
    assert f"{cut.stem}: unfinished, and damaged" in capsys.readouterr().out


def test_no_chain_and_a_short_key_are_told(runs: Path) -> None:
    with pytest.raises(BtError):
        verify(runs)
    (runs / "k").write_text("short")
    assert main(["runs", "seal", "--runs", str(runs), "--key", str(runs / "k")]) == 2
