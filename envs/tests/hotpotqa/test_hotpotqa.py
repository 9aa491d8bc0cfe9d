"""HotpotQA: invented encyclopedias, a file of questions, the replies of ReAct's environment, EM and F1."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bt_envs.hotpotqa import score
from bt_envs.hotpotqa.suite import SUITE
from bt_envs.hotpotqa.wiki import Page, Wiki
from bt_runtime import BtError, Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.plugins import Wanted, open_suite
from bt_runtime.skills.worlds.registry import check_split
from bt_runtime.testing import SUCCESS
from bt_runtime.types import Task

PAGES = {
    "Tallow Bridge": ["Tallow Bridge is a bridge over the Orne.", "It was built in 1703.", "It has 9 arches."],
    "Orne (river)": ["The Orne is a river.", "It is 90 km long."],
    "Orne Castle": ["Orne Castle burnt down."],
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


def entry(number: int = 0) -> dict[str, object]:
    """A question in the official form."""
    return {
        "_id": f"q{number}", "question": "How long is the river under Tallow Bridge?", "answer": "90 km",
        "type": "bridge", "level": "hard", "supporting_facts": [["Tallow Bridge", 0], ["Orne (river)", 1]],
        "context": [[title, sentences] for title, sentences in PAGES.items()],
    }  # fmt: skip


@pytest.fixture
def world(tmp_path: Path):
    (tmp_path / "questions.json").write_text(json.dumps([entry()]))
    found = SUITE.open(data=tmp_path)
    found.reset(SUITE.tasks(0, 1, data=tmp_path, part="all")[0])
    return found


def test_search_opens_a_page_or_names_titles_that_are_alike(world):
    """As ReAct's environment words it; the page that was open stays so when a search finds none."""
    assert world.act("Search[tallow bridge]").text == " ".join(PAGES["Tallow Bridge"])
    missed = world.act("search[Orne Bridge]")
    assert not missed.ok and missed.text.startswith("Could not find Orne Bridge. Similar: [")
    assert "search[Orne (river)]" in world.skills() and world.holds("Tallow Bridge is open")
    assert world.act("search[Orne]").text == " ".join(PAGES["Orne (river)"])  # without what stands in brackets


def test_lookup_counts_through_the_sentences_that_have_the_word(world):
    assert world.act("lookup[it]").text == "No more results."
    world.act("search[Tallow Bridge]")
    said = [world.act("lookup[IT]").text for _ in range(3)]
    assert said == ["(Result 1 / 2) It was built in 1703.", "(Result 2 / 2) It has 9 arches.", "No more results."]
    assert world.act("lookup[arches]").text == "(Result 1 / 1) It has 9 arches."


def test_an_answer_ends_the_task_and_is_scored_by_match_and_by_words(world):
    """All for a match after normalising, else the F1 of the words, which is never all of it."""
    assert world.act("finish[The 90 km.]").text == "Episode finished, reward = 1" and world.verdict() == (100, 100)
    assert world.skills() == () == world.written() and world.act("search[Orne]").text == "Episode finished, reward = 1"
    world.reset(world._task)
    world.act("finish[km 90]")
    assert world.verdict() == (99, 100)
    assert (score.f1("yes", "yes it is"), score.f1("no", "no"), round(score.f1("a b c", "b c d"), 3)) == (0, 1, 0.8)


@pytest.mark.parametrize("said", ["search", "search[", "fly[home]", "", "[]", "search[]", "lookup[]", "think[hm]"])
def test_what_is_no_action_is_answered_and_changes_nothing(world, said):
    before = world.snapshot()
    answer = world.act(said)
    assert answer.text and (answer.ok or answer.why)
    assert json.loads(world.snapshot()) | {"named": []} == json.loads(before)


def test_autoplans_wording_of_a_missing_page_can_be_asked_for(tmp_path):
    (tmp_path / "q.json").write_text(json.dumps([entry()]))
    world = SUITE.open(data=tmp_path, wording="autoplan")
    world.reset(SUITE.tasks(0, 1, data=tmp_path, part="all")[0])
    assert world.act("search[Orne Bridge]").text.startswith('Could not find exact match of "Orne Bridge". Available')
    assert world.revealed() == ("The answer is 90 km.", "It stands on these pages: Tallow Bridge, Orne (river).")
    with pytest.raises(BtError, match="no wording is called `loud`"):
        SUITE.open(wording="loud")


def test_no_name_of_one_split_is_in_another_and_questions_differ():
    names, asked = [], []
    for split in SUITE.splits:
        tasks = [task for seed in range(3) for task in SUITE.tasks(seed, 40, split)]
        asked.append({task.goal for task in tasks})
        names.append({word for task in tasks for title in task.data["titles"] for word in title.split()[-1:]})
    assert all(len(each) > 90 for each in asked)
    assert not (names[0] - {"Daughters"}) & names[1] and not (names[0] - {"Daughters"}) & names[2]
    assert not names[1] & (names[2] - {"Daughters"})


def test_the_oracle_answers_every_invented_question():
    world = SUITE.open()
    for task in (*SUITE.tasks(1, 60), *SUITE.tasks(1, 60, "dev"), *SUITE.tasks(1, 60, "eval")):
        world.reset(task)
        assert all(world.act(said).ok for said in SUITE.oracle(world, task)) and world.verdict() == (100, 100), task


@pytest.mark.data
def test_the_questions_that_people_have_are_answered_from_their_own_paragraphs(data, tmp_path):
    """Every gold title is a page, and the oracle answers each of them."""
    place = data / "hotpotqa"
    world, tasks = SUITE.open(data=place, index=str(tmp_path)), SUITE.tasks(0, 100, data=place, part="all")
    assert len(tasks) == 50
    for task in tasks:
        world.reset(task)
        assert all(world.act(said).ok for said in SUITE.oracle(world, task)) and world.verdict() == (100, 100), task


def test_a_file_is_known_by_what_is_in_it_and_its_splits_share_nothing(tmp_path):
    path = tmp_path / "anything.jsonl"
    path.write_text("".join(f"{json.dumps(entry(i))}\n" for i in range(60)))
    found = SUITE.read(path, Wanted(episodes=100))
    assert found is not None and len(found.tasks) == 60 and found.world == {"data": str(path)}
    parts = [{t.id for t in SUITE.tasks(0, 100, split, data=path)} for split in SUITE.splits]
    assert len(set.union(*parts)) == sum(map(len, parts)) == 60
    path.write_text('[{"env_0": 1}]')
    assert SUITE.read(path, Wanted()) is None


@pytest.mark.parametrize(
    "broken", ["{", "[1]", '[{"question": "x", "context": 5}]', '[{"question": "x", "context": []}]']
)
def test_a_broken_file_is_named_with_its_entry(tmp_path, broken):
    (tmp_path / "bad.json").write_text(broken)
    with pytest.raises(BtError, match=r"bad\.json"):
        SUITE.tasks(0, 1, data=tmp_path)


def test_an_index_that_was_cut_off_is_made_anew_and_a_bad_one_is_told(tmp_path):
    """What was left half made is not taken for whole; what is no index says so, with the way out."""
    path = tmp_path / "some.index"
    (tmp_path / ".some.index.2147483646.1.part").write_bytes(b"half of it")
    pages = [Page(title, tuple(sentences)) for title, sentences in PAGES.items()]
    assert len(Wiki.at(path, iter(pages))) == 3 and not (tmp_path / ".some.index.2147483646.1.part").exists()
    assert len(Wiki.at(path, iter(()))) == 3
    path.write_bytes(b"not an index" * 100)
    with pytest.raises(BtError) as caught:
        Wiki.at(path, iter(pages))
    assert "delete it" in caught.value.hint


def test_a_search_for_anything_is_answered(world):
    """Quotes, operators of the index, other scripts: none of it is a query of its own."""
    for said in ('"', "NEAR(a b)", "title:x", "a* OR b", "Ωμέγα", "орн", "';--", "x" * 5000):
        assert world.act(f"search[{said}]").text.startswith("Could not find ")


def test_an_agent_writes_what_the_world_does_not_list():
    """A title, a word, an answer: each is written after its beginning; titles that a search named are chosen whole."""
    task: Task = SUITE.tasks(3, 1, "eval")[0]
    world = SUITE.open()
    world.reset(task)
    first, second = task.data["titles"]
    said = iter([f"Act: search[{first}x]", f"Act: search[{first}]", "Act: lookup[of]", f"Act: search[{second}]",
                 f"Act: finish[{task.data['answer']}]", "Act: done"])  # fmt: skip
    model = ScriptedModel(lambda question: next(said))
    with Run(load("react"), inputs={"goal": task.goal}, world=world, services={"model": model}, recall=False) as run:
        assert run.spin(seconds=60) is SUCCESS
    assert world.verdict() == (100, 100)
    story = next(q.prompt for q in reversed(model.asked))
    assert f"Act: search[{first}x]\nCould not find {first}x. Similar:" in story
    assert f"Act: search[{first}]\n{first} is" in story and f"Act: finish[{task.data['answer']}]" in story
    written = [q for q in model.asked if q.kind == "write"]
    assert all(q.grammar is not None and q.grammar.kind == "regex" for q in written) and len(written) >= 3


def test_a_split_that_a_world_has_not_is_told():
    check_split(SUITE, "dev")
    with pytest.raises(BtError, match="`textcraft` has no split `dev`"):
        check_split(open_suite("textcraft"), "dev")
