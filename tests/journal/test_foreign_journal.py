"""A journal tells what happened; nothing that stands in it is ever run by looking at it or by replaying it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bt_runtime import Run, load
from bt_runtime.cli import main
from bt_runtime.journal import replay, sources
from bt_runtime.journal.layout import head_sum
from bt_runtime.language.project import trust

PAYLOAD = "import pathlib, py_trees\npathlib.Path({mark!r}).touch()\nclass X(py_trees.behaviours.Success):\n    pass\n"
PLAIN = "version: 1\ntree: t\nroot:\n  sequence: [log: hello]\n"
PY = "version: 1\ntree: t\nroot:\n  py: {class: 'pay.py:X'}\n"


def forged(path: Path, head: dict[str, object]) -> None:
    """The journal with another head, and checksums that fit: anybody can write those."""
    with closing(sqlite3.connect(path)) as connection:
        now = {n: json.loads(v) for n, v in connection.execute("SELECT name, value FROM head")} | head
        now["sum"] = head_sum(now)
        for name, value in now.items():
            connection.execute("INSERT OR REPLACE INTO head VALUES (?, ?)", (name, json.dumps(value)))
        connection.commit()


@pytest.fixture
def evil(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A journal that brings a tree, its Python, settings that allow everything, and things that Python would import."""
    monkeypatch.delenv("BTR_TRUST")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with Run(load(PLAIN), journal=runs) as run:
        run.spin()
    path = next(runs.glob("*.btr"))
    code = PAYLOAD.format(mark=str(tmp_path / "EXECUTED"))
    places = ["trees/pay.py", "pay.py", "sitecustomize.py", "trees/pay/__init__.py", "trees/pay.pyc", "py_trees.py"]
    files = [{"origin": f"/nowhere/{p}", "place": p, "text": code} for p in places]
    files.append({"origin": "/nowhere/btr.yaml", "place": "btr.yaml", "text": "version: 1\nallow: {python: [os]}\n"})
    tree = {"origin": "/nowhere/trees/t.yaml", "place": "trees/t.yaml", "text": PY}
    forged(path, {"files": [tree, *files], "text": PY, "root": "/nowhere/trees/t.yaml"})
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    monkeypatch.chdir(outside)
    return path


LOOKS = ["runs replay", "runs replay --json", "runs show", "runs export", "runs resume", "view top --once"]


@pytest.mark.parametrize("words", [look.split() for look in LOOKS], ids=LOOKS)
def test_no_command_runs_what_a_journal_brings(evil: Path, tmp_path: Path, words: list[str], capsys) -> None:
    code = main([*words, str(evil)])
    told = capsys.readouterr()
    assert not (tmp_path / "EXECUTED").exists()
    assert "internal error" not in told.err
    if words[1] == "replay":
        assert code == 2 and "a journal's own is never run" in told.err


def test_nothing_that_python_imports_is_laid_out(evil: Path, tmp_path: Path) -> None:
    from bt_runtime.journal import Recording

    sources.lay_out(Recording(evil).head["files"], tmp_path / "elsewhere")
    laid = sorted(p.name for p in (tmp_path / "elsewhere").rglob("*") if p.is_file())
    assert laid == ["btr.yaml", "t.yaml"]
    assert "allow" not in (tmp_path / "elsewhere" / "btr.yaml").read_text()


def test_skills_need_no_implementation_to_be_replayed(tmp_path: Path, runs: Path, monkeypatch) -> None:
    """Their answers are on the tape, so that a run of another machine is replayed without its Python."""
    for folder in ("trees", "skills"):
        (tmp_path / "p" / folder).mkdir(parents=True)
    (tmp_path / "p" / "btr.yaml").touch()
    (tmp_path / "p" / "skills" / "s.yaml").write_text("version: 1\nskills: s\nkinds:\n  go: {impl: 's.py:go'}\n")
    (tmp_path / "p" / "skills" / "s.py").write_text("def go():\n    return True\n")
    (tmp_path / "p" / "trees" / "t.yaml").write_text("version: 1\ntree: t\nskills: [s]\nroot:\n  go: {}\n")
    with Run(load("t", project=tmp_path / "p"), journal=runs) as run:
        run.spin()
    (tmp_path / "p" / "skills" / "s.py").unlink()
    found = replay(next(runs.glob("*.btr")))
    assert found.same and found.status == "SUCCESS"


def test_a_node_of_the_project_is_taken_from_the_trusted_project_that_is_here(
    tmp_path: Path, runs: Path, monkeypatch, capsys
) -> None:
    home = tmp_path / "p"
    (home / "trees").mkdir(parents=True)
    (home / "btr.yaml").touch()
    (home / "trees" / "pay.py").write_text(PAYLOAD.format(mark=str(tmp_path / "ours")))
    (home / "trees" / "t.yaml").write_text(PY)
    with Run(load("t", project=home), journal=runs) as run:
        run.spin()
    path = str(next(runs.glob("*.btr")))
    monkeypatch.delenv("BTR_TRUST")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(home)
    assert main(["runs", "replay", path]) == 2
    assert "is not trusted" in capsys.readouterr().err
    trust.remember(home)
    assert main(["runs", "replay", path]) == 0, capsys.readouterr().err


def test_a_journal_from_elsewhere_is_asked_about_before_it_is_gone_on_with(evil: Path, capsys) -> None:
    """By what is in it: another one of that name is another one."""
    forged(evil, {"model": {"default": "http://models.invalid:1"}, "text": PLAIN, "root": "", "files": []})
    with closing(sqlite3.connect(evil)) as connection:
        connection.execute("DELETE FROM events")
        connection.commit()
    assert main(["runs", "resume", str(evil)]) == 2
    said = capsys.readouterr().err
    assert f"the journal {evil} is not trusted" in said and "questions go to http://models.invalid:1" in said
    assert main(["trust", str(evil)]) == 0
    assert trust.knows(evil)
    forged(evil, {"seed": 7})
    assert not trust.knows(evil)
