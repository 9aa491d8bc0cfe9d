"""Pictures in `infer` and agents: what a model that sees is asked, what a journal keeps, what is refused."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

import pytest

from bt_runtime import BtError, Run, load, skill
from bt_runtime.agents import ScriptedModel, pictures
from bt_runtime.journal import folder, replay, resume
from bt_runtime.llm import picture
from bt_runtime.testing import FAILURE, SUCCESS
from bt_runtime.types import Observation
from tests.support.projectors import png
from tests.support.scoring import Scoring

TEAM = 'infer: {prompt: "What is it?", picture: "{photo}", outputs: {team: {choices: [billing, support]}}}'


class Seeing(Scoring):
    sees = True


class SeeingActor(ScriptedModel):
    sees = True


def until(what, step):
    """Steps until it has come about; the bound is for a failure, which is then no hang."""
    end = time.monotonic() + 60
    while not what():
        assert time.monotonic() < end, "it never came about"
        step()
        time.sleep(0.001)


def first(question):
    return [-float(n) for n in range(len(question.options))]


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    """A project with a picture, and a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "btr.yaml").write_text("{}\n")
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos/door.png").write_bytes(png(1))
    return tmp_path


def tree(root, more="", photo="photos/door.png"):
    return f"version: 1\ntree: t\ninputs: {{photo: {{type: string, default: '{photo}'}}}}\n{more}root:\n  {root}\n"


def run_of(text, model, **given):
    with Run(load(text), services={"model": model}, **given) as run:
        status = run.spin(seconds=60)
        return run, status


def test_infer_shows_a_picture_before_its_prompt():
    """The model gets the mark within the prompt, and the kept file; the answer is as always."""
    model = Seeing(first)
    run, status = run_of(tree(TEAM), model)
    (question,) = model.asked
    mark = picture.of(png(1)).mark
    assert status is SUCCESS and run.blackboard["team"] == "billing"
    assert question.prompt.index(mark) < question.prompt.index("What is it?")
    assert [picture.read(Path(file))[0].mark for file in question.pictures] == [mark]


@pytest.mark.parametrize(
    ("photo", "words"),
    [
        ("photos/no.png", "cannot be read"), ("btr.yaml", "neither PNG nor JPEG"), ("../../x.png", "outside"),
        ("/etc/passwd", "outside"), ("photos", "cannot be read"), ("[picture " + "0" * 32 + "]", "not kept"),
    ],
)  # fmt: skip
def test_what_cannot_be_shown_is_a_fault_of_the_node(photo, words):
    """Missing, no picture, outside the project, a folder, an unknown mark: no question is asked."""
    model = Seeing(first)
    run, status = run_of(tree(TEAM, photo=photo), model)
    assert status is FAILURE and not model.asked
    assert words in run.parts.engine.root.feedback_message


def test_a_model_that_sees_nothing_refuses_the_node():
    """Before any question: the fault names the node, and what to give the model."""
    for root in (TEAM, "agent: {goal: look, pictures: true}"):
        model = Scoring(first)
        run, status = run_of(tree(root), model)
        assert status is FAILURE and not model.asked
        assert (
            "/" in run.parts.engine.root.feedback_message
            and "its model sees none" in run.parts.engine.root.feedback_message
        )


def look(*told):
    texts = list(told)

    @skill("look around")
    def look_around() -> Observation:
        return Observation(texts.pop(0))

    return look_around


AGENT = "agent: {goal: find the door, moves: [act], pictures: true}"


def agents_run(*told, root=AGENT, **given):
    model = SeeingActor(["Act: look around"] * len(told) + ["Act: done"])
    tree = load(f"version: 1\ntree: t\nroot:\n  {root}\n", skills=[look(*told)])
    with Run(tree, services={"model": model}, **given) as run:
        assert run.spin(seconds=60) is SUCCESS
        return model, run.parts.journal.path if given else None


def test_an_agent_is_shown_what_its_skill_returns():
    """`[picture PATH]` becomes the picture; it stays in the story, and a second one is shown with the first."""
    (Path("photos") / "sink.png").write_bytes(png(2))
    model, _ = agents_run("You see a door. [picture photos/door.png]", "[picture photos/sink.png] A sink.")
    door, sink = (picture.of(png(seed)) for seed in (1, 2))
    assert [len(question.pictures) for question in model.asked] == [0, 1, 2]
    last = model.asked[-1]
    assert f"You see a door. {door.mark}" in last.prompt and f"{sink.mark} A sink." in last.prompt
    assert [Path(file).name for file in last.pictures] == [door.file, sink.file]
    assert "photos/" not in last.prompt


def test_an_observation_that_cannot_be_shown_is_told_in_words():
    """The agent goes on; what bytes were kept is shown by its mark; an agent without `pictures` is shown nothing."""
    kept = pictures.keep_picture(png(5))
    model, _ = agents_run("[picture photos/none.png]", f"It shows {kept}.")
    assert [len(question.pictures) for question in model.asked] == [0, 0, 1]
    assert "photos/none.png cannot be read" in model.asked[1].prompt
    plain, _ = agents_run("[picture photos/door.png]", kept, root=AGENT.replace(", pictures: true", ""))
    assert not any(question.pictures for question in plain.asked) and "photos/door.png]" in plain.asked[1].prompt


def test_a_mark_that_a_text_made_up_shows_nothing():
    """Though a picture of that digest is kept: only what a node has taken is shown."""
    foreign = pictures.keep_picture(png(5))
    model = Seeing(first)
    run_of(tree(TEAM.replace("What is it?", f"It says {foreign}.")), model)
    (question,) = model.asked
    assert foreign in question.prompt and [Path(file).name for file in question.pictures] == [picture.of(png(1)).file]


def test_a_recorded_run_is_replayed_without_files_and_resumed_with_those_beside_its_journal(tmp_path):
    """The journal keeps marks; the files lie in a folder of its own, which goes when the journal goes."""
    root = "sequence: [{" + TEAM + '}, {wait: {until: "go"}}, {' + TEAM.replace("What", "Where") + "}]"
    file = tmp_path / "t.yaml"
    file.write_text(tree(root, "blackboard: {go: {type: boolean, default: false}}\n"))
    with Run(load(str(file)), services={"model": Seeing(first)}, journal=tmp_path / "runs") as run:
        until(lambda: "team" in run.blackboard, run.tick)
        path = run.parts.journal.path
    kept = folder.pictures_of(path) / picture.of(png(1)).file
    assert kept.read_bytes() == png(1) and kept.stat().st_mode & 0o77 == 0
    assert folder.usage(path) > path.stat().st_size
    shutil.rmtree(tmp_path / "cache")
    assert replay(path).same
    (tmp_path / "photos/door.png").unlink()
    later = Seeing(first)
    with resume(path, model=later, changed=True) as again:
        again.blackboard["go"] = True
        assert again.spin(seconds=60) is FAILURE  # the file itself is gone: the second question has to read it
        assert (
            not later.asked
            and "photos/door.png cannot be read" in again.parts.engine.root.children[-1].feedback_message
        )
    folder.remove(path)
    assert not kept.parent.exists()


def test_a_resumed_story_shows_the_picture_that_lies_beside_the_journal(tmp_path):
    """What an agent saw before the process ended is shown again, though its file and the cache are gone."""
    texts = iter(["[picture photos/door.png]", "nothing more"])

    @skill("look around")
    def look_around() -> Observation:
        return Observation(next(texts))

    given = load(f"version: 1\ntree: t\nroot:\n  {AGENT}\n", skills=[look_around])
    model = SeeingActor(["Act: look around", "Act: look around"])
    with suppress(BtError), Run(given, services={"model": model}, journal=tmp_path / "runs") as run:
        until(lambda: len(model.asked) == 2, run.tick)
        path = run.parts.journal.path
    shutil.rmtree(tmp_path / "cache")
    (tmp_path / "photos/door.png").unlink()
    later = SeeingActor(["Act: done"])
    with resume(path, skills=[look_around], model=later, changed=True) as again:
        assert again.spin(seconds=60) is SUCCESS
    assert later.asked and [Path(f).parent for f in later.asked[-1].pictures] == [folder.pictures_of(path)]


def test_a_folder_of_pictures_is_bounded(tmp_path, monkeypatch):
    """The oldest go first; what a run has shown and is kept no more is told when it is needed again."""
    monkeypatch.setattr(pictures, "MOST_KEPT", 3 * len(png(1)) + 40)
    album = pictures.Pictures(tmp_path / "own")
    files = []
    for seed in range(5):
        name = f"photos/{seed}.png"
        (tmp_path / name).write_bytes(png(seed))
        files.append(album._taken(name))
        for place in ("own", "cache/bt_runtime/pictures"):
            at = tmp_path / place / f"{files[-1][9:-1]}.png"
            os.utime(at, (seed, seed))
    assert len([*(tmp_path / "own").iterdir()]) == 3
    assert len(album.files("".join(files[2:]))) == 3
    with pytest.raises(BtError, match="is kept no more"):
        album.files(files[0])
