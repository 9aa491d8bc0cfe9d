"""The door to people's files: what is no file is refused at once, and nothing is written outside the project."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest

from bt_runtime import BtError
from bt_runtime.cli import main
from bt_runtime.language.project import disk


@pytest.mark.parametrize("what", ["pipe", "device", "folder", "loop", "sparse", "missing"])
def test_what_is_no_readable_file_is_an_os_error_with_words_at_once(tmp_path, what):
    """Neither a pipe that nobody writes nor a device nor 5 GB are waited for or read."""
    path = tmp_path / "x"
    match what:
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case "folder":
            path.mkdir()
        case "loop":
            path.symlink_to("x")
        case "sparse":
            with path.open("wb") as file:
                file.truncate(5 * 2**30)
    with pytest.raises(OSError, match=r"pipe|folder|itself|bytes|No such file"):
        disk.read(path)
    assert disk.read_or_nothing(path) == b""


def test_a_failed_write_leaves_the_file_and_no_draft(tmp_path):
    """An exception in the middle of the lines keeps what was there."""
    path = tmp_path / "x"
    path.write_text("before")

    def lines():
        yield "half"
        raise RuntimeError

    with pytest.raises(RuntimeError):
        disk.write(path, lines())
    assert path.read_text() == "before" and [each.name for each in tmp_path.iterdir()] == ["x"]


def test_a_write_keeps_the_permissions_of_the_file_and_the_link_to_it(tmp_path):
    """A link within the project is followed, and stays one."""
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    (tmp_path / "real").write_text("before")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    disk.write(tmp_path / "link", "after")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text() == "after"
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o640


def test_a_draft_that_a_killed_process_left_goes_with_the_next_write(tmp_path):
    """The name of a draft holds the process; one of a process that lives is left alone."""
    dead, alive = tmp_path / ".x.2147483646.1.part", tmp_path / f".x.{os.getppid()}.1.part"
    dead.touch()
    alive.touch()
    disk.write(tmp_path / "x", "whole")
    assert not dead.exists() and alive.exists()


def test_a_folder_is_looked_at_once_however_many_files_are_written_there(tmp_path, monkeypatch):
    """A look for each of them would take a thousand files a million names."""
    looks, plain = [], os.scandir
    monkeypatch.setattr(os, "scandir", lambda folder: looks.append(folder) or plain(folder))
    for number in range(20):
        disk.write(tmp_path / f"{number}", "whole")
    assert looks == [tmp_path] and len(list(tmp_path.iterdir())) == 20


@pytest.mark.parametrize("name", ["n" * 255, "\u00e9" * 127])
def test_the_longest_name_of_a_file_can_be_written(tmp_path, name):
    """A draft's name is no longer than the file's."""
    disk.write(tmp_path / name, "whole")
    assert (tmp_path / name).read_text() == "whole"


@pytest.fixture
def linked(tmp_path, monkeypatch):
    """A foreign folder whose links lead to a person's files."""
    home, own = tmp_path / "home", tmp_path / "p"
    for folder in (home, own / "trees", own / "skills"):
        folder.mkdir(parents=True)
    (own / "btr.yaml").write_text("version: 1\n")
    (home / "mine.yaml").write_text("version:   1\ntree:    u\nroot:\n    sequence:   [log: hi, lgo: hi]\n")
    (own / "trees" / "u.yaml").symlink_to("../../home/mine.yaml")
    (own / "schemas").symlink_to("../home")
    (own / "skills" / "abc.py").symlink_to("../../home/new.py")
    (own / "trees" / "sub").symlink_to("../../home")
    (own / "loop.html").symlink_to("loop.html")
    monkeypatch.chdir(own)
    return home


@pytest.mark.parametrize(
    "words", [["fmt"], ["fmt", "trees/u.yaml"], ["schema"], ["new", "skill", "abc"], ["new", "tree", "sub/deep/x"],
              ["validate", "--fix"]],
)  # fmt: skip
def test_a_link_out_of_a_project_is_not_written_through(linked, words, capsys):
    """Formatting, fixing, schemas and new files refuse in words, and the person's files stay as they were."""
    before = {path.name: path.read_bytes() for path in linked.iterdir()}
    assert main(words) != 0
    assert {path.name: path.read_bytes() for path in linked.iterdir()} == before
    assert "help:" in capsys.readouterr().err


def test_a_folder_without_a_project_keeps_writes_in_itself(tmp_path):
    """The file's own folder is the bound then."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x").symlink_to("../y")
    with pytest.raises(BtError, match="leads out of"):
        disk.write(tmp_path / "a" / "x", "z")
    assert not (tmp_path / "y").exists()


def test_an_export_is_not_written_through_a_link_and_may_go_to_a_device(tmp_path, monkeypatch):
    """Without -o it goes to the working directory under the run's name: a link may wait there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "btr.yaml").write_text("version: 1\n")
    (tmp_path / "p" / "t.yaml").write_text("version: 1\ntree: t\nroot: {log: hi}\n")
    monkeypatch.chdir(tmp_path / "p")
    assert main(["run", "t.yaml", "--runs", "runs", "--plain"]) == 0
    for form in ("jsonl", "btlog", "mcap", "otlp"):
        (tmp_path / "p" / form).symlink_to("../mine")
        assert main(["runs", "export", "last", "--format", form, "-o", form]) == 2
        assert main(["runs", "export", "last", "--format", form, "-o", "/dev/null"]) == 0
    assert not (tmp_path / "mine").exists()


def test_a_short_file_takes_little_memory_however_much_may_be_read(tmp_path: Path) -> None:
    """A bound of a gigabyte is no reason to take a gigabyte."""
    (tmp_path / "short.txt").write_bytes(b"a" * 3_000_000)
    tracemalloc.start()
    try:
        assert disk.read(tmp_path / "short.txt", disk.HUGE) == b"a" * 3_000_000
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
