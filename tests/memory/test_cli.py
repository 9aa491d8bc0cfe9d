"""`btr memory`, as a person or a script uses it."""

from __future__ import annotations

import io
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from bt_runtime.cli import main
from bt_runtime.memory.embedder import default_name

Run = Any


@pytest.fixture
def btr(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`btr("list")` → exit code, stdout; `--json` output is read."""
    monkeypatch.setenv("BTR_MEMORY", str(tmp_path / "own" / "memory.sqlite"))

    def call(*words: str) -> tuple[int, Any]:
        code = main(["memory", *words])
        out, call.complaint = capsys.readouterr()
        return code, json.loads(out) if "--json" in words and out else out

    call.complaint = ""  # what the latest call said on standard error
    return call


def test_a_memory_is_begun_looked_into_and_corrected(btr: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Starters are imported once, something is added by hand, found, shown, and forgotten after a yes only."""
    code, told = btr("import", "--json")
    assert (code, told["new"]) == (0, told["experiences"])
    assert btr("import", "--json")[1]["new"] == 0
    monkeypatch.setattr("sys.stdin", io.StringIO("Act: pour water\nThe plant is wet.\nAct: done\n"))
    code, told = btr("add", "water the plant", "--kind", "garden", "--json")
    assert (code, told["new"]) == (0, 1)
    (uid,) = told["ids"]
    assert btr("search", "water a plant", "-k", "1", "--json")[1][0]["id"] == uid
    assert "The plant is wet." in btr("show", uid[:10])[1]
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert btr("rm", uid[:10])[0] == 1
    assert btr("rm", uid[:10], "--yes", "--json") == (0, {"removed": 1})
    assert btr("list", "--kind", "garden")[0] == 5


def test_why_is_told(btr: Run) -> None:
    """`why` shows the cut; with --json a program reads the same."""
    btr("import", "household")
    code, out = btr("why", "find and pick up the apple", "--budget", "200", "--fit", "prefix")
    assert code == 0
    assert "cut: " in out
    told = btr("why", "find and pick up the apple", "--budget", "200", "--json")[1]
    assert told["tokens"] <= 200
    assert {"uid", "score", "end", "tokens", "fate"} <= set(told["looks"][0])


def test_export_and_import_move_a_memory(btr: Run, tmp_path: Path) -> None:
    """What one store exports another one imports, all of it, and again none of it."""
    btr("import", "crafting")
    file, other = str(tmp_path / "all.jsonl"), str(tmp_path / "other.sqlite")
    assert btr("export", file)[0] == 0
    first = btr("import", file, "--store", other, "--json")[1]
    assert first["new"] == len(Path(file).read_text().splitlines())
    assert btr("import", file, "--store", other, "--json")[1]["new"] == 0
    assert btr("export", "--store", other)[1] == Path(file).read_text()
    assert btr("export", "--run", "no such run")[0] == 5


def test_verdicts_decide_what_is_retrieved(btr: Run, tmp_path: Path) -> None:
    """Without a verdict an experience is kept but not retrieved, unless asked or vouched for."""
    file = tmp_path / "x.jsonl"
    file.write_text('{"goal": "find the red key", "text": "t", "end": "success"}\n')
    assert btr("import", str(file))[0] == 0
    assert btr("search", "find the red key")[0] == 5
    assert btr("search", "find the red key", "--failed")[0] == 0
    assert btr("import", str(file), "--verdict", "success")[0] == 0
    assert btr("search", "find the red key")[0] == 0
    assert btr("stats", "--json")[1]["verdict"] == {"success": 1, "unknown": 1}


def test_reactree_files_are_counted(btr: Run, tmp_path: Path) -> None:
    """The import of trajectories says how many files were what."""
    (tmp_path / "1_put_fridge_dec001_depth01.txt").write_text("Your task is to: eat\nAct: done")
    (tmp_path / "2.txt").write_text("nothing")
    told = btr("import", str(tmp_path), "--format", "reactree", "--verdict", "success", "--json")[1]
    assert (told["files"], told["new"], told["end"]) == (2, 1, {"success": 1})
    assert told["refused"] == [["2.txt", "no line `Your task is to:`"]]


def test_stats_reembed_and_path(btr: Run, tmp_path: Path) -> None:
    """The state of a store is told, whole or not, and its vectors can be made anew."""
    assert btr("path", "--json")[1]["exists"] is False
    btr("import", "household")
    told = btr("stats", "--check", "--json")[1]
    own = told["embedder"]
    assert own.partition(":")[0] == default_name()
    assert told["experiences"] == sum(told["end"].values())
    assert btr("path")[1].strip() == told["store"]
    code, done = btr("reembed", "--embedder", "hashing", "--json")
    assert code == 0
    assert (done["before"], done["now"]) == (own, "hashing:1:384")


def test_what_cannot_be_done_is_said(btr: Run, tmp_path: Path) -> None:
    """No store, unknown ids, ambiguous ids, missing files and nothing to remove are told with a way out."""
    assert btr("list")[0] == 2
    assert "no memory at" in btr.complaint and "btr memory import" in btr.complaint
    btr("import")
    for words in (("show", "zzz"), ("show", ""), ("rm", "zzz"), ("import", "no-such-file"), ("import", "houshold")):
        assert btr(*words)[0] == 2 and btr.complaint.startswith("error: ")
    assert btr("rm")[0] == 2
    for words in (["frobnicate"], ["list", "--end", "done"], ["search"]):
        with pytest.raises(SystemExit) as stopped:
            btr(*words)
        assert stopped.value.code == 2


def test_a_damaged_memory_is_saved_as_its_hint_says(btr: Run, tmp_path: Path) -> None:
    """A cut-off store names the command that writes out the rest, and that file imports."""
    store = tmp_path / "s.sqlite"
    btr("import", "--store", str(store))
    whole = store.read_bytes()
    store.write_bytes(whole[:-8192])
    assert btr("list", "--store", str(store))[0] == 2
    assert "export --salvage" in btr.complaint
    rest = str(tmp_path / "rest.jsonl")
    assert btr("export", rest, "--salvage", "--store", str(store))[0] == 0
    assert 0 < btr("import", rest, "--json")[1]["new"] <= 43
    assert store.read_bytes() == whole[:-8192]


def test_a_store_of_another_kind_is_left_alone(btr: Run, tmp_path: Path) -> None:
    """Somebody's own SQLite file named by mistake is not touched."""
    other = tmp_path / "mine.db"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE notes (x)")
    db.close()
    before = other.read_bytes()
    assert btr("import", "--store", str(other))[0] == 2
    assert "not a memory" in btr.complaint
    assert other.read_bytes() == before


def test_bytes_that_are_no_text_are_refused_and_not_a_bug(btr: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a pipe or a shell hands over in another encoding is a fault with a way out."""
    monkeypatch.setattr("sys.stdin", io.StringIO("Act: pour \udcff\n"))
    assert btr("add", "water the plant")[0] == 2
    assert "not UTF-8" in btr.complaint and "bug" not in btr.complaint
    for words in (
        ("add", "\udcff", "--text", "Act: done"),
        ("search", "\udcff"),
        ("why", "\udcff"),
        ("show", "\udcff"),
    ):
        assert btr(*words)[0] == 2 and "not UTF-8" in btr.complaint
    assert btr("rm", "\udcff", "--yes")[0] == 2 and "not UTF-8" in btr.complaint


def test_an_experience_in_which_nothing_was_done_is_refused(btr: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("\n"))
    assert btr("add", "water the plant")[0] == 2 and "--text" in btr.complaint
    assert btr("list")[0] == 2, "no store was begun for it"


def test_an_export_in_the_place_of_a_memory_is_told_the_command_that_reads_it(btr: Run, tmp_path: Path) -> None:
    """`btr run --memory export.jsonl` names `btr memory import`, and no option that only `btr memory` has."""
    btr("import")
    export, store = tmp_path / "e.jsonl", tmp_path / "s.sqlite"
    assert btr("export", str(export))[0] == 0
    assert btr("list", "--memory", str(export))[0] == 2
    assert f"btr memory import {export} --memory" in btr.complaint
    assert btr("import", str(export), "--memory", str(store))[0] == 0
    store.write_bytes(b"x" * 200)
    assert btr("list", "--memory", str(store))[0] == 2 and "another --memory" in btr.complaint
