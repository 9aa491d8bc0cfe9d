from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from bt_lab.cli.play import completer
from bt_runtime.cli import Exit, main
from bt_runtime.plugins import open_suite


@pytest.fixture(autouse=True)
def no_outside_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BTR_DATA", raising=False)


@pytest.mark.parametrize("name", ["textcraft", "house", "hotpotqa", "field"])
def test_the_oracle_can_be_watched(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It prints each sentence with its answer, and ends with the goal reached."""
    assert main(["lab", "play", name, "--oracle", "--seed", "3"]) == Exit.SUCCESS
    shown = capsys.readouterr().out.splitlines()
    assert any(line.startswith("> ") for line in shown)
    assert shown[-1].startswith("Done: ")


@pytest.mark.parametrize("name", ["textcraft", "house", "hotpotqa", "field"])
def test_a_person_plays_a_task_from_standard_input(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sentences are acted until the goal is reached; `?` lists what can be acted; nonsense does not end the game."""
    suite = open_suite(name)
    world = suite.open()
    task = suite.tasks(3, 1)[0]
    world.reset(task)
    script = []
    for sentence in suite.oracle(world, task):
        world.act(sentence)
        script.append(sentence)
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(["?", "fly me to the moon", "", *script, "never read"])))
    assert main(["lab", "play", name, "--seed", "3"]) == Exit.SUCCESS
    shown = capsys.readouterr().out
    listed = "search[{entity}]" if name == "hotpotqa" else script[0]  # a title is written, not listed
    assert listed in shown.splitlines() and "never read" not in shown


def test_leaving_early_is_a_failure_that_says_how_far(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`quit` and the end of the input are the same."""
    for typed in ("quit\n", ""):
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        assert main(["lab", "play", "house"]) == Exit.FAILURE
        assert "Not done: 0 of " in capsys.readouterr().out


def test_again_begins_the_task_anew(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What was done is undone."""
    monkeypatch.setattr("sys.stdin", io.StringIO("inventory\nget 1 nothing\nagain\nquit\n"))
    main(["lab", "play", "textcraft"])
    assert capsys.readouterr().out.count("Crafting commands:") == 2


def test_completion_offers_the_sentences_that_begin_so() -> None:
    """Tab asks for the n-th one until there is none."""
    complete = completer(lambda: ["go to bed 1", "go to sofa 1", "open bed 1"])
    assert [complete("go to ", n) for n in range(3)] == ["go to bed 1", "go to sofa 1", None]
    assert complete("x", 0) is None


def test_tasks_are_printed_as_lines_or_json(capsys: pytest.CaptureFixture[str]) -> None:
    """One line each; as JSON, all that a world needs to set the task up again."""
    assert main(["lab", "tasks", "house", "--seed", "7", "--count", "5"]) == Exit.SUCCESS
    lines = capsys.readouterr().out.splitlines()
    assert main(["lab", "tasks", "house", "--seed", "7", "--count", "5", "--json"]) == Exit.SUCCESS
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(lines) == 5 and [line.split()[0] for line in lines] == [task["id"] for task in found]
    assert found == [task._asdict() for task in open_suite("house").tasks(7, 5)]


def test_options_and_kinds_reach_the_suite(capsys: pytest.CaptureFixture[str]) -> None:
    """`--kind` and `--option` narrow what is made."""
    main(["lab", "tasks", "house", "--kind", "put_fridge", "--option", "homes=villa", "--json"])
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {(t["kind"], t["data"]["house"]) for t in found} == {("put_fridge", "villa")}


def test_outside_data_is_found_by_option_or_environment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--data` and BTR_DATA name the same folder; one that holds nothing is an error, not an empty list."""
    recipe = {
        "type": "minecraft:crafting_shapeless",
        "ingredients": [{"item": "minecraft:a"}],
        "result": "minecraft:b",
    }
    (tmp_path / "b.json").write_text(json.dumps(recipe))
    (tmp_path / "c.json").write_text(
        json.dumps({**recipe, "ingredients": [{"item": "minecraft:b"}], "result": "minecraft:c"})
    )
    words = ["lab", "tasks", "textcraft", "--split", "eval", "--count", "1"]
    assert main([*words, "--data", str(tmp_path)]) == Exit.SUCCESS
    asked = capsys.readouterr().out
    monkeypatch.setenv("BTR_DATA", str(tmp_path))
    assert main(words) == Exit.SUCCESS
    assert capsys.readouterr().out == asked and "craft c" in asked
    assert main(["lab", "play", *words[2:5], "--oracle"]) == Exit.SUCCESS
    assert main([*words, "--data", str(tmp_path / "empty")]) == Exit.USAGE
    assert "no recipe files" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--count", "0"], ["--count", "many"], ["--split", "test"]])
def test_wrong_arguments_are_usage_errors(words: list[str]) -> None:
    """argparse says what is wrong and exits with 2."""
    with pytest.raises(SystemExit) as left:
        main(["lab", "tasks", "house", *words])
    assert left.value.code == Exit.USAGE


def test_a_house_has_rules_when_they_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """`--told` says them first, and the oracle keeps to them; without it they are found out, by being refused."""
    shown = {}
    for told in ((), ("--told",)):
        assert main(["lab", "play", "house", "--kind", "heat", "--rules", "0", "--oracle", *told]) == Exit.SUCCESS
        shown[told] = capsys.readouterr().out
    rule = "The stove heats what you hold, when it is open and turned off."
    refusal = "The microwave oven cannot be used for heating."
    assert rule in shown["--told",] and refusal not in shown["--told",]
    assert refusal in shown[()] and rule not in shown[()]


def test_rules_of_a_world_that_has_none_are_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    """Recipes are no house rules; and a set of rules is a number."""
    assert main(["lab", "play", "textcraft", "--rules", "0"]) == Exit.USAGE
    assert "no option `rules`" in capsys.readouterr().err
    assert main(["lab", "tasks", "house", "--rules", "stove"]) == Exit.USAGE
    assert "no house rules are called `stove`" in capsys.readouterr().err
    assert main(["lab", "play", "textcraft", "--oracle", "--told"]) == Exit.SUCCESS


def test_an_option_is_a_list_only_where_it_has_a_comma(capsys: pytest.CaptureFixture[str]) -> None:
    """One home or two, a set of rules by its number or with the split that it is of."""
    for option, ids in (("homes=villa", "eval-0-0000"), ("homes=villa,studio", "eval-0-0000")):
        assert main(["lab", "tasks", "house", "--split", "eval", "--count", "1", "--option", option]) == Exit.SUCCESS
        assert ids in capsys.readouterr().out
    assert (
        main(["lab", "tasks", "house", "--count", "1", "--option", "rules=eval 3", "--option", "hint=yes"])
        == Exit.SUCCESS
    )
    shown = capsys.readouterr().out
    assert "rules-eval-3" in shown and " is at " in shown


@pytest.mark.parametrize("words", [
    ["run", "react", "--env", "house"], ["demo"], ["lab", "tasks", "house"], ["lab", "play", "house"],
    ["lab", "eval", "house", "--strategy", "react"], ["lab", "optimise", "house"], ["view", "prompt", "react"],
    ["runs", "fork", "last", "--at", "1"],
])  # fmt: skip
def test_a_seed_that_no_model_takes_is_refused_before_anything_begins(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([*words, "--seed", "-1"])
    assert stopped.value.code == Exit.USAGE and "--seed: must be at least 0" in capsys.readouterr().err
