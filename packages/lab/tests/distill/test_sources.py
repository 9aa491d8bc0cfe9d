"""Documents of one's own: recorded runs and what is remembered become what the runtime asked and heard."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the distill extra")

from bt_lab.distill import experiences, journals
from bt_lab.distill.documents import Document, read
from bt_lab.distill.gguf_file import CHAT_TEMPLATE
from bt_lab.distill.sources import gathered
from bt_runtime import BtError, Run, load, skill
from bt_runtime.clock import Manual
from bt_runtime.journal.folder import journals as journals_in
from bt_runtime.memory.experience import Experience
from bt_runtime.memory.store import Store
from bt_runtime.plugins import open_suite
from packages.lab.tests.distill.recorded import Noting, oracle, recorded


def learnt(document: Document) -> list[str]:
    return [document.text[a:b] for a, b in document.learn]


def test_a_run_that_succeeded_is_what_was_asked_and_answered(tmp_path):
    """Every prompt is the document up to an answer, and the answers are all that is to be learnt."""
    script = oracle()
    model = recorded(tmp_path, script)
    (document,) = journals.told(journals_in(tmp_path))
    assert learnt(document) == [f"{line}\n" for line in script]
    asked = {ask.prompt for ask in model.asked}
    starts = {document.text[:start] for start, _ in document.learn}
    assert starts <= asked
    assert all(document.text.startswith(prompt) for prompt in asked)


def test_the_recorded_models_own_chat_form_is_taken_off(tmp_path):
    """Whatever a model's template put around the parts, the documents are those of a base model."""
    recorded(tmp_path / "base", oracle())
    template = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|over|>{% endfor %}<|assistant|>"
    recorded(tmp_path / "chat", oracle(), template)
    recorded(tmp_path / "own", oracle(), CHAT_TEMPLATE)
    base, chat, own = (list(journals.told(journals_in(tmp_path / name))) for name in ("base", "chat", "own"))
    assert base == chat == own


def test_an_expansion_teaches_the_plan_and_each_part(tmp_path):
    """Each node of a grown tree is a document of its own; a plan that was refused is shown and not learnt."""
    plans = iter(["sequence:\n- look around\n- look around\n", "sequence:\n- look around\n- finish the rest\n"])
    acts = iter([line for line in oracle() if line.startswith("Act:")])

    def script(ask):
        goal = re.findall(r"Your task is to: (.*)\n", ask.prompt)[-1]
        if goal == "look around":
            return "Act: done"
        if goal == "finish the rest":
            return next(acts)
        return next(plans) if ask.kind == "write" else "Expand:"

    recorded(tmp_path, script)
    parts = {re.findall(r"Your task is to: (.*)\n", d.text)[-1]: d for d in journals.told(journals_in(tmp_path))}
    goal = open_suite("house").tasks(7, 1)[0].goal
    assert set(parts) == {"look around", "finish the rest", goal}
    assert learnt(parts[goal]) == ["Expand:\n", "Expand:\nsequence:\n- look around\n- finish the rest\n"]
    assert "This plan cannot be used: " in parts[goal].text
    assert learnt(parts["look around"]) == ["Act: done\n"]
    assert learnt(parts["finish the rest"])[-1] == "Act: done\n"


def test_a_run_that_failed_teaches_nothing(tmp_path):
    """An agent that says it is done without having met the goal is no example."""
    recorded(tmp_path, ["Act: done"])
    assert list(journals.told(journals_in(tmp_path))) == []
    with pytest.raises(BtError, match="only what succeeded"):
        gathered([str(tmp_path)], tmp_path / "documents")


TEXT = """\
Your task is to: find the cup
You see a sink.
Think: it may be in the sink
OK.
Act: go to sink
You see a cup.
Act: done
"""
GROWN = """\
Your task is to: bring the cup
You see a sink.
Expand:
sequence:
- nonsense
This plan cannot be used: the part is empty
Expand:
sequence:
- find the cup
- bring it
"""


def stored(path: Path, *found: Experience) -> Path:
    store = Store(path)
    store.add(list(found), dict.fromkeys((e.key for e in found), b"\0" * 8), "none", 2)
    store.close()
    return path


def test_an_experience_is_a_document_behind_its_system_text(tmp_path):
    """The moves are those that the run's agents had, and the agent's own lines are learnt."""
    path = stored(
        tmp_path / "m.sqlite",
        Experience("find the cup", TEXT, "success", task="t", run="r", verdict=True, kind="fetching"),
        Experience("bring the cup", GROWN, "expand", task="t", run="r", verdict=True),
        Experience("find it", TEXT, "success", task="t", run="alone", verdict=True),
        Experience("find no cup", TEXT, "success", task="t", run="bad", verdict=False),
        Experience("find what", TEXT, "failure", task="t", run="unjudged"),
    )
    part, grown, alone = experiences.told(path)
    assert part.kind == "fetching"
    assert learnt(part) == ["Think: it may be in the sink\n", "Act: go to sink\n", "Act: done\n"]
    assert learnt(grown) == ["Expand:\nsequence:\n- find the cup\n- bring it\n"]
    assert "one of these: think, act, expand." in part.text
    assert "one of these: think, act." in alone.text
    assert part.text.endswith("\n\n" + TEXT)


def test_sources_become_shards_once(tmp_path):
    """A memory and a folder of runs are written down as shards, named by what they hold; shards stay where they are."""
    memory = stored(tmp_path / "m.sqlite", Experience("find it", TEXT, "success", verdict=True))
    recorded(tmp_path / "runs", oracle())
    folder = tmp_path / "documents"
    places = gathered([str(memory), str(tmp_path / "runs")], folder)
    assert [len(list(read(place))) for place in places] == [1, 1]
    times = [place.stat().st_mtime_ns for place in places]
    assert gathered([str(memory), str(tmp_path / "runs")], folder) == places
    assert [place.stat().st_mtime_ns for place in places] == times
    assert gathered([str(folder)], folder) == [folder]


@pytest.mark.parametrize("word", ["none.jsonl", "nowhere", "runs.btr"])
def test_a_source_that_is_not_there_is_a_fault(tmp_path, word):
    """It is said what can be named."""
    with pytest.raises(BtError, match="there is no"):
        gathered([str(tmp_path / word)], tmp_path)


def test_the_skills_of_a_project_become_lessons(tmp_path):
    """An agent without a world: whole sentences, and those whose slots were written."""

    @skill("pick up {thing}", sources={"thing": "things"}, on_resume="repeat")
    def pick(thing: str) -> None:
        pass

    @skill("shift {thing} by {cm} cm", sources={"thing": "things"}, on_resume="repeat")
    def shift(thing: str, cm: float) -> None:
        pass

    tree = "version: 1\ntree: t\nblackboard: {things: {type: list, default: [cup]}}\nroot:\n  agent: tidy up\n"
    script = ["Act: pick up cup", "Think: a little more", "Act: shift cup by 2.5 cm", "Act: done"]
    with Run(load(tree, skills=[pick, shift]), model=Noting(script), clock=Manual(), journal=tmp_path) as run:
        run.spin(ticks=500)
    (document,) = journals.told(journals_in(tmp_path))
    assert "".join(learnt(document)) == "".join(f"{line}\n" for line in script)
