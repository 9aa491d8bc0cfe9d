"""A run goes on with what it ran with, however that was given; what is missing or has changed is refused, untouched."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bt_runtime import BtError, Run, llm, load, skill
from bt_runtime.agents import ScriptedModel
from bt_runtime.cli import Exit, main
from bt_runtime.clock import Manual
from bt_runtime.journal import Recording, resume, sources
from bt_runtime.journal.folder import NothingBegun
from bt_runtime.language.project import file_digest
from bt_runtime.llm import starter
from bt_runtime.memory.experience import Experience
from bt_runtime.memory.store import Store
from bt_runtime.plugins import open_suite
from bt_runtime.run.replay.resume import CannotResume
from bt_runtime.testing import SUCCESS
from tests.support.abandoned import abandoned

ASKS = "version: 1\ntree: t\ninputs:\n  goal: {type: string, default: get out}\nroot:\n  agent: {goal: '{goal}'}\n"


def model_file(folder: Path, name: str = "m.gguf", content: bytes = b"GGUF and the weights") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is opened as a model: each is a script that looks around for ever."""
    found: list[str] = []

    def open_model(where: str, **how: Any) -> ScriptedModel:
        found.append(where)
        return ScriptedModel(lambda ask: "Act: inventory", polls=2)

    monkeypatch.setattr(llm, "open_model", open_model)
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("BTR_MODEL", "BTR_MEMORY", "BTR_PROJECT", "BTR_RUNS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def cut(folder: Path, **how: Any) -> Path:
    """The journal of an agent's run that was cut off after some ticks."""
    suite = open_suite("textcraft")
    task = suite.tasks(3, 1)[0]
    world = suite.open()
    world.reset(task)
    run = Run(
        load("react"),
        inputs={"goal": task.goal},
        world=world,
        task=task,
        clock=Manual(),
        journal=folder / "runs",
        **how,
    )
    for _ in range(3):
        run.tick()
    path = abandoned(run)
    run.parts.resources.close()
    return path


def untouched(folder: Path) -> str:
    """Of all that a refused resume must leave as it was."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.endswith(("-shm", "-wal")):
            found.update(f"{path.name} ".encode() + path.read_bytes())
    return found.hexdigest()


def events(path: Path) -> list[tuple[int, str, str]]:
    return [(e.tick, e.kind, e.body) for e in Recording(path).events]


def test_the_head_names_what_was_given_whoever_gave_it(folder, opened, monkeypatch, capsys):
    """By a flag, by the environment, by the project file, and in a program: `btr runs resume last` opens the same."""
    model = model_file(folder)
    ways: list[Callable[[], list[str]]] = [
        lambda: ["--model", "m.gguf"],
        lambda: monkeypatch.setenv("BTR_MODEL", "m.gguf") or [],  # type: ignore[func-returns-value]
        lambda: [(folder / "btr.yaml").write_text("model: m.gguf\n"), ""][1:1],  # type: ignore[list-item]
    ]
    for number, way in enumerate(ways):
        runs = f"runs{number}"
        words = ["run", "react", "--env", "textcraft", "--runs", runs, "--ticks", "4", "--memory", "mem.sqlite"]
        main([*words, *way()])
        monkeypatch.delenv("BTR_MODEL", raising=False)
        (folder / "btr.yaml").unlink(missing_ok=True)
        head = Recording(next((folder / runs).glob("*.btr"))).head
        assert head["given"]["models"]["default"]["name"] == str(model)
        assert head["given"]["memory"]["name"] == str(folder / "mem.sqlite")
        opened.clear()
        main(["runs", "resume", "last", "--runs", runs, "--seconds", "0.05"])
        assert opened == [str(model)]
        assert "error" not in capsys.readouterr().err
    shipped = cut(folder, model="starter")
    assert Recording(shipped).head["given"]["models"] == {
        "default": {"name": "starter", "digest": sources.digest(starter())}
    }


def test_a_model_that_is_missing_or_has_changed_is_refused_and_nothing_is_touched(folder, opened, capsys):
    model = model_file(folder)
    path = cut(folder, model=str(model), memory=str(folder / "mem.sqlite"))
    model.write_bytes(b"GGUF and other weights")
    changed, before, noted = untouched(folder), events(path), len(opened)
    with pytest.raises(CannotResume, match=r"m\.gguf, has changed"):
        resume(path, clock=Manual())
    model.unlink()
    assert main(["runs", "resume", "last"]) == 2
    said = capsys.readouterr().err
    assert "is not there any more" in said and "--model FILE --changed" in said and "NoneType" not in said
    other = model_file(folder, "other.gguf", b"GGUF from elsewhere")
    with pytest.raises(CannotResume, match=r"was .*m\.gguf, not .*other\.gguf"):
        resume(path, model=str(other), clock=Manual())
    assert events(path) == before and len(opened) == noted
    other.rename(model)
    model.write_bytes(b"GGUF and other weights")
    assert untouched(folder) == changed
    with resume(path, clock=Manual(), changed=True) as run:
        run.tick()
    assert opened[noted:] == [str(model)]


def test_a_model_that_was_moved_is_the_same_model(folder, opened):
    path = cut(folder, model=str(model_file(folder)))
    (folder / "m.gguf").rename(folder / "moved.gguf")
    with resume(path, model="moved.gguf", clock=Manual()) as run:
        run.tick()
    assert opened[-1].endswith("moved.gguf")


def test_a_model_that_a_program_made_has_to_be_given_again_and_be_of_its_kind(folder):
    class Oracle(ScriptedModel):
        pass

    path = cut(folder, model=ScriptedModel(lambda ask: "Act: inventory", polls=2))
    assert Recording(path).head["model"] == {"default": "object: ScriptedModel"}
    before = events(path)
    with pytest.raises(CannotResume, match="made by a program"):
        resume(path, clock=Manual())
    with pytest.raises(CannotResume, match="was ScriptedModel, not Oracle"):
        resume(path, model=Oracle([]), clock=Manual())
    assert events(path) == before
    with resume(path, model=ScriptedModel(lambda ask: "Act: inventory", polls=2), clock=Manual()) as run:
        run.tick()


def test_every_role_keeps_its_model_and_one_that_is_given_serves_all(folder, opened):
    big, small = model_file(folder, "big.gguf"), model_file(folder, "small.gguf", b"GGUF small")
    path = cut(folder, model={"default": str(big), "planner": str(big), "executor": str(small)})
    assert opened == [str(big), str(small)]  # a file that has two roles is opened once
    del opened[:]
    resume(path, clock=Manual()).close()
    assert opened == [str(big), str(small)]
    small.unlink()
    with pytest.raises(CannotResume, match=r"its model `executor`, .*small\.gguf, is not there"):
        resume(path, clock=Manual())


def test_a_server_that_does_not_answer_is_known_before_anything_is_ticked(folder):
    model = model_file(folder)
    path = cut(folder, model=ScriptedModel(lambda ask: "Act: inventory", polls=2))
    before = events(path)
    with pytest.raises(Exception, match=r"127\.0\.0\.1"):
        resume(path, model="http://127.0.0.1:9", clock=Manual(), changed=True)
    assert events(path) == before and model.exists()


def test_a_memory_that_is_missing_or_another_one_is_refused_and_one_that_grew_is_not(folder, opened):
    model, memory = model_file(folder), folder / "mem.sqlite"
    path = cut(folder, model=str(model), memory=str(memory))
    aside = memory.rename(folder / "aside.sqlite")
    with pytest.raises(CannotResume, match=r"mem\.sqlite, is not there any more"):
        resume(path, clock=Manual())
    assert not memory.exists()
    Store(memory).identity()
    with pytest.raises(CannotResume, match="another memory"):
        resume(path, clock=Manual())
    with resume(path, memory=str(aside), clock=Manual()) as run:
        run.parts.resources.memory.add([Experience("find apple", "Act: done", "success")])
    resume(path, memory=str(aside), clock=Manual()).close()


def test_python_that_a_skill_is_made_of_and_a_manifest_may_not_change_unseen(folder, monkeypatch):
    (folder / "btr.yaml").touch()
    (folder / "skills").mkdir()
    code, manifest = folder / "skills/s.py", folder / "skills/s.yaml"
    code.write_text("def slow():\n    yield\n    yield\n    return True\n")
    manifest.write_text("version: 1\nskills: s\nkinds:\n  slow: {on_resume: repeat, impl: 's.py:slow'}\n")
    (folder / "t.yaml").write_text("version: 1\ntree: t\nskills: [s]\nroot:\n  sequence: [wait: 5, slow: {}]\n")
    run = Run(load(folder / "t.yaml"), clock=Manual(), journal=folder / "runs")
    run.tick()
    path = abandoned(run)
    resume(path, clock=Manual()).close()
    code.write_text("def slow():\n    return False\n")
    with pytest.raises(CannotResume, match=r"s\.py has changed"):
        resume(path, clock=Manual())
    manifest.unlink()
    with pytest.raises(CannotResume, match=r"s\.py has changed; .*s\.yaml is not there any more"):
        resume(path, clock=Manual())


def test_services_and_worlds_of_a_program_are_asked_for_by_name(folder):
    class Elsewhere:
        lasting = True

        def act(self, sentence: str) -> str:
            return ""

    @skill("drill", name="drill", on_resume="fail")
    def drill() -> bool:
        return True

    tree = load("version: 1\ntree: t\nroot:\n  sequence: [wait: 5, drill: {}]\n", skills=[drill])
    run = Run(tree, clock=Manual(), services={"radio": [1]}, world=Elsewhere(), journal=folder / "runs")
    run.tick()
    path = abandoned(run)
    with pytest.raises(CannotResume, match=r"`radio` was given by a program \(list\)"):
        resume(path, skills=[drill], world=Elsewhere(), clock=Manual())
    with pytest.raises(CannotResume, match="its world was Elsewhere, not"):
        resume(path, skills=[drill], world=object(), services={"radio": []}, clock=Manual())
    resume(path, skills=[drill], world=Elsewhere(), services={"radio": []}, clock=Manual()).close()


def test_a_large_file_s_digest_reads_parts_of_it_its_end_among_them(tmp_path, monkeypatch):
    monkeypatch.setattr(file_digest, "WHOLE", 10)
    monkeypatch.setattr(file_digest, "_PART", 4)
    path = tmp_path / "m"
    path.write_bytes(bytes(range(200)) * 3)
    first = sources.digest(path)
    for at in (0, 599):
        data = bytearray(bytes(range(200)) * 3)
        data[at] ^= 1
        path.write_bytes(data)
        assert sources.digest(path) != first
    assert sources.digest(tmp_path / "nothing") == ""


def test_a_journal_without_a_head_is_stepped_over_in_words(folder, capsys):
    """Killed while it was made: nothing in it yet, or SQLite's log that takes it back to nothing still beside it."""
    with Run(load("version: 1\ntree: t\nroot:\n  succeed: {}\n"), clock=Manual(), journal=folder / "runs") as run:
        run.spin()
    (folder / "runs" / "y.btr").touch()
    (folder / "runs" / "z.btr").write_bytes(bytes(4096))
    (folder / "runs" / "z.btr-journal").write_bytes(bytes(512))
    assert main(["runs", "resume", "last", "--runs", "runs", "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["why"] == "it had ended"
    assert "z: cut off before it began" in said.err and "y: cut off before it began" in said.err
    assert main(["runs", "resume", "z", "--runs", "runs"]) == Exit.NOTHING
    assert "a run that never began: nothing was done" in capsys.readouterr().err


@pytest.mark.parametrize("named", ["last", "z"])
def test_a_run_that_never_began_has_an_answer_of_its_own_by_which_it_can_be_run_anew(named, folder, capsys):
    (folder / "runs").mkdir()
    (folder / "runs" / "z.btr").touch()
    assert main(["runs", "resume", named, "--runs", "runs", "--json"]) == Exit.NOTHING
    said = capsys.readouterr()
    assert json.loads(said.out)["status"] == "NOT_BEGUN" and "nothing was done" in said.err
    with pytest.raises(NothingBegun, match="never began"):
        resume(folder / "runs" / "z.btr")
    assert not list((folder / "runs").glob("*.lock"))


def test_the_head_of_a_journal_is_on_the_disk_before_anything_is_done(tmp_path):
    """So a journal without a head is one of a run that has done nothing."""
    heads: list[str] = []

    @skill("work", name="work", on_resume="fail", instant=True)
    def work() -> bool:
        shutil.copytree(tmp_path / "runs", tmp_path / "copy")
        heads.append(Recording(next((tmp_path / "copy").glob("*.btr"))).name)
        return True

    text = "version: 1\ntree: t\nroot: {work: {}}\n"
    with Run(load(text, skills=[work]), journal=tmp_path / "runs", clock=Manual()) as run:
        assert run.spin() is SUCCESS
    assert heads == [run.parts.name]


def test_a_journal_named_as_a_file_is_a_fault_that_names_the_folder(tmp_path):
    """It would become a folder in which no run is found."""
    with pytest.raises(BtError, match="folder of the journals") as raised:
        Run(load("version: 1\ntree: t\nroot: {wait: 1}\n"), journal=tmp_path / "runs/mine.btr")
    assert str(tmp_path / "runs") in raised.value.hint and not (tmp_path / "runs").exists()
