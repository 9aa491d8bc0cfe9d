"""What manifests could say of their skills is proposed with a reason, and written without touching anything else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bt_runtime as bt
from bt_author.cli import skills as command
from bt_author.edit.skill_keys import with_fact, with_param
from bt_author.suggest.said import effects
from bt_author.suggest.seen import SeenAction, bound_of, ended_by, form_of, needs_of
from bt_runtime.agents import ScriptedModel
from bt_runtime.cli import main
from bt_runtime.language import manifest
from bt_runtime.language.agent_options import formless

POST = """\
version: 1
skills: post
impl: post.py:act
kinds:
  take_out:   # from a bag
    sentence: take {letter} out of {bag}
    params:
      letter: string  # white, blue
      bag: string
    on_resume: repeat
  drop: {sentence: "drop {letter} in {bag}", params: {letter: string, bag: {type: string, about: where to}}}
  stamp:
    sentence: stamp {letter}
    about: Puts a stamp on. Needs that one is holding it.
    params: {letter: string}
    brings:
      - "{letter} is stamped"

  # doors
  open: {sentence: "open {door}", params: {door: string}}
  close: {sentence: "close {door}", params: {door: string}}
  greet: {sentence: greet the customer, brings: []}
"""
WRITTEN = """\
version: 1
skills: post
impl: post.py:act
kinds:
  take_out:   # from a bag
    sentence: take {letter} out of {bag}
    params:
      letter: string  # white, blue
      bag: string
    needs: ["{letter} in {bag}"]
    brings: ["holding {letter}", "not {letter} in {bag}"]
    on_resume: repeat
  drop: {sentence: "drop {letter} in {bag}", params: {letter: string, bag: {type: string, about: where to}}, \
needs: ["holding {letter}"], brings: ["{letter} in {bag}", "not holding {letter}"]}
  stamp:
    sentence: stamp {letter}
    about: Puts a stamp on. Needs that one is holding it.
    params: {letter: string}
    needs: ["holding {letter}"]
    brings:
      - "{letter} is stamped"

  # doors
  open: {sentence: "open {door}", params: {door: string}, brings: ["{door} is open", "not {door} is closed"]}
  close: {sentence: "close {door}", params: {door: string}, brings: ["{door} is closed", "not {door} is open"]}
  greet: {sentence: greet the customer, brings: []}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "post.py").write_text("def act(**values):\n    return True\n")
    (tmp_path / "skills" / "post.yaml").write_text(POST)
    return tmp_path


def suggested(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, str]]:
    assert main(["skills", "suggest", "--json", *words]) in (0, 5)
    found: list[dict[str, str]] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize(
    ("sentence", "brings", "needs"),
    [
        ("wash the {load}", ["{load} is washed"], []),
        ("dry {cup}", ["{cup} is dry"], []),
        ("coat {pot} with the {glaze}", ["{pot} is coated with {glaze}"], []),
        ("roll up {hose}", ["{hose} is rolled up"], []),
        ("take {cup} from the {shelf}", ["holding {cup}", "not {cup} in {shelf}"], ["{cup} in {shelf}"]),
        ("hang {load} on {line}", ["{load} on {line}"], []),
        ("go to the {room}", ["at {room}"], []),
        ("switch the {lamp} off", ["not {lamp} is on"], []),
        ("empty the lint filter of {machine}", ["lint filter of {machine} is empty"], []),
        ("trim the claws of {pet}", ["claws of {pet} are trimmed"], []),
    ],
)
def test_a_sentence_says_what_its_action_brings(sentence: str, brings: list[str], needs: list[str]) -> None:
    likeliest = next(effects(sentence))
    assert ([*likeliest.brings], [*likeliest.needs]) == (brings, needs)


@pytest.mark.parametrize("sentence", ["look at {thing}", "read the battery", "{path} is free", "charge"])
def test_of_a_sentence_that_looks_or_says_no_thing_nothing_is_made(sentence: str) -> None:
    assert not [*effects(sentence)]


def test_what_is_accepted_is_written_line_by_line_and_comments_stay(project: Path) -> None:
    """In brackets and in blocks; a second time nothing is left to suggest, and no warning either."""
    assert main(["skills", "suggest", "--write", "--yes"]) == 0
    assert (project / "skills" / "post.yaml").read_text() == WRITTEN
    assert main(["skills", "suggest"]) == 5
    assert main(["validate", "--strict", "skills"]) == 0


def test_each_suggestion_is_asked_for_and_a_no_leaves_it_out(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["skills", "suggest", "--write"]) != 0, "no terminal: nobody can be asked"
    assert "--yes takes all of them" in capsys.readouterr().err
    assert (project / "skills" / "post.yaml").read_text() == POST
    monkeypatch.setattr(command, "_confirmed", lambda found: [each for each in found if command._wanted(each, answer)])
    asked: list[str] = []

    def answer() -> str:
        asked.append(capsys.readouterr().err)
        return "yes\n" if "open" in asked[-1] else "\n"

    assert main(["skills", "suggest", "--write"]) == 0
    text = (project / "skills" / "post.yaml").read_text()
    assert len(asked) == 11 and '"{door} is open", "not {door} is closed"' in text and "holding" not in text[:300]


def test_of_several_readings_a_model_takes_one_or_none(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    readings = ["{letter} is dropped in {bag}", command.NONE, "{door} is open"]
    model = ScriptedModel(lambda question: next((r for r in readings if r in question.options), question.options[0]))
    monkeypatch.setattr(command, "_model", lambda named: model)
    made = {(each["skill"], each["value"]) for each in suggested(capsys, "--model", "x") if each["key"] == "brings"}
    assert ("drop", "{letter} is dropped in {bag}") in made and ("drop", "{letter} in {bag}") not in made
    assert not [skill for skill, _ in made if skill == "take_out"], "it was something else"


RECORDED = """
version: 1
tree: work
inputs: {plan: {type: list}}
root:
  for_each:
    in: "{plan}"
    as: each
    child:
      fallback:
        - {switch: {on: each, cases: {wash: {wash: red load}, iron: {iron: red load}, stain: {stain: red load}}}}
        - {succeed: {}}
"""


def test_runs_show_what_an_action_needs_and_which_other_ends_it(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ironing failed whenever the load was not washed, or stained since; nothing in the words says so."""
    (project / "skills" / "post.yaml").unlink()
    (project / "skills" / "laundry.yaml").write_text(
        "version: 1\nskills: laundry\nimpl: post.py:act\nkinds:\n"
        "  wash: {sentence: 'wash {load}', params: {load: string}, on_resume: repeat}\n"
        "  iron: {sentence: 'iron {load}', params: {load: string}, on_resume: repeat}\n"
        "  stain: {sentence: 'stain {load}', params: {load: string}, on_resume: repeat}\n"
    )
    clean: set[str] = set()

    @bt.skill("wash {load}", on_resume="repeat")
    def wash(load: str) -> None:
        clean.add(load)

    @bt.skill("iron {load}", name="iron", on_resume="repeat")
    def press(load: str) -> bool:
        return load in clean

    @bt.skill("stain {load}", on_resume="repeat")
    def stain(load: str) -> None:
        clean.discard(load)

    again = "wash stain iron"
    for plan in ("iron wash iron", "wash iron", f"{again} wash iron", again, "iron"):
        clean.clear()
        tree = bt.load(RECORDED, skills=[wash, press, stain])
        with bt.Run(tree, inputs={"plan": plan.split()}, journal="runs") as run:
            assert run.spin(seconds=20) is bt.Status.SUCCESS
    made = {(each["skill"], each["key"], each["value"]): each["why"] for each in suggested(capsys)}
    assert "failed 2 of 2 times without it" in made["iron", "needs", "{load} is washed"]
    assert "`iron` failed 2 of 2 times after it" in made["stain", "brings", "not {load} is washed"]
    assert [key for key in made if key[1] == "needs"] == [("iron", "needs", "{load} is washed")]
    assert [key for key in made if "not" in key[2]] == [("stain", "brings", "not {load} is washed")]


def iron(good: bool, washed: bool = True, *since: str) -> SeenAction:
    held = ("x is washed",) if washed else ()
    return SeenAction("iron", {"load": "x"}, good, frozenset(held), dict.fromkeys(held, since))


CLEAR = [*[iron(True)] * 3, *[iron(False, False)] * 2]


@pytest.mark.parametrize(
    ("acts", "told"),
    [(CLEAR, True), ([*CLEAR, iron(True, False)], False), (CLEAR[1:], False), (CLEAR[:-1], False),
     ([*CLEAR, iron(False)], True)],
)  # fmt: skip
def test_a_need_takes_successes_with_it_and_failures_alone_without_it(acts: list[SeenAction], told: bool) -> None:
    assert bool([*needs_of("iron", acts, ["{load} is washed"])]) == told


STAINED = [iron(True), *[iron(False, True, "stain")] * 2]


@pytest.mark.parametrize(
    ("acts", "told"),
    [(STAINED, ["stain"]), ([*STAINED, iron(True, True, "stain")], []), (STAINED[1:], []), (STAINED[:-1], [])],
)
def test_an_action_ends_a_fact_when_what_needs_it_always_fails_after(acts: list[SeenAction], told: list[str]) -> None:
    assert [other for other, _ in ended_by(acts, "iron", "{load} is washed")] == told


def test_a_free_text_is_bound_to_what_was_seen() -> None:
    """Few values are listed; many give the form of the texts, which an agent is then held to."""
    assert bound_of(["red", "blue"] * 4) == ("choices", ["blue", "red"], "recorded runs had no others in 8 actions")
    assert bound_of(["red", "blue"]) is None
    codes = ["AB-12", "XY-3", "QQ-999", "ZA-1", "BC-45"]
    found = bound_of(codes)
    assert found is not None and found[:2] == ("from", "/[A-Z]{2}\\-[0-9]{1,3}/")
    assert form_of(["a tall tree", "Bob's hat", "x1"]) == "[ '0-9A-Za-z]{2,11}"
    for texts in (codes, ["a tall tree", "Bob's hat", "x1"], ["3.5", "4.25", "6.1"]):
        assert formless(f"/{form_of(texts)}/") == "", form_of(texts)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("letter: string  # white", "letter: {type: string, from: look.letters}  # white"),
        ("letter: {type: string, about: it}", "letter: {type: string, about: it, from: look.letters}"),
        ("letter:\n        type: string", "letter:\n        type: string\n        from: look.letters"),
    ],
)  # fmt: skip
def test_a_key_of_a_parameter_is_added_in_the_layout_that_it_has(before: str, after: str) -> None:
    text = f"version: 1\nskills: s\nkinds:\n  read:\n    params:\n      {before}\n    brings: []\n"
    made = with_param(text, "read", "letter", "from", "look.letters")
    assert made == text.replace(before, after)
    assert manifest.parse(made).kinds[0].data["entry"].agent_options.sources == {"letter": "look.letters"}


def test_a_slot_is_filled_by_an_output_of_its_name(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "skills" / "post.yaml").write_text(POST + "  look: {sentence: look around, outputs: {letters: list}}\n")
    made = {(each["skill"], each["param"]): each["value"] for each in suggested(capsys) if each["key"] == "from"}
    assert made[("stamp", "letter")] == "look.letters" and ("stamp", "bag") not in made


def test_an_anchor_is_not_mistaken_for_the_end_of_a_skill() -> None:
    text = "version: 1\nskills: s\nkinds:\n  a:\n    outputs: &o {n: integer}\n"
    text += "  b:\n    sentence: b\n    outputs: *o\n    takes: 2\n"
    made = with_fact(text, "b", "brings", "it is done")
    assert made == text.replace("    outputs: *o\n", "    outputs: *o\n    brings: [it is done]\n")


HEAD = "version: 1\nskills: s\nkinds:\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("  a:\n    brings:  # todo\n", "  a:\n    brings: [it is done]  # todo\n"),
        ("  a:\n    brings: []  # none\n", "  a:\n    brings: [it is done]  # none\n"),
        ("  a:\n    brings: [\n      x,  # why\n      y  # and\n    ]\n",
         "  a:\n    brings: [\n      x,  # why\n      y, it is done  # and\n    ]\n"),
        ("  a: {}\n", "  a: {brings: [it is done]}\n"),
        ("  a:\n    sentence: >\n      a long\n      sentence\n    takes: 1\n",
         "  a:\n    sentence: >\n      a long\n      sentence\n    brings: [it is done]\n    takes: 1\n"),
        ("  a:\r\n    takes: 1\r\n", "  a:\r\n    takes: 1\r\n    brings: [it is done]\r\n"),
    ],
)  # fmt: skip
def test_a_fact_is_added_in_the_layout_that_the_skill_has(before: str, after: str) -> None:
    head = HEAD.replace("\n", "\r\n") if "\r" in before else HEAD
    made = with_fact(head + before, "a", "brings", "it is done")
    assert made == head + after
    assert "it is done" in manifest.parse(made).kinds[0].data["entry"].brings
