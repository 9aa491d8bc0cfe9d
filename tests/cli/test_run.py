from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest

import bt_runtime as bt
from bt_runtime.journal import Recording
from tests.cli.conftest import Btr, tree

TYPED = tree(
    "succeed: {}",
    head="inputs:\n  s: {type: string, default: ''}\n  i: {type: integer, default: 0}\n"
    "  n: {type: number, default: 0}\n  b: {type: boolean, default: false}\n  l: {type: list, default: []}\n"
    "  o: {type: object, default: {}}\n  a: any\n  c: {type: string, choices: [red, green], default: red}",
)


@pytest.mark.parametrize(
    ("root", "code", "word"),
    [("succeed: {}", 0, "SUCCESS"), ("fail: no", 1, "FAILURE"), ("succeed: {when: false}", 1, "SKIPPED")],
)
def test_the_result_is_the_first_line_and_the_exit_code(btr: Btr, here: Path, root: str, code: int, word: str) -> None:
    (here / "t.yaml").write_text(tree(root))
    said = btr("run", "t.yaml")
    assert (said.code, said.out.splitlines()[0]) == (code, word)


def test_a_failure_says_which_node_and_why(btr: Btr, here: Path) -> None:
    (here / "t.yaml").write_text(tree("fallback:", "  - fail: first", "  - sequence: [fail: the door is shut]"))
    assert btr("run", "t.yaml").err == "failure: at /t/1/0: the door is shut\n"


def test_an_invalid_plan_is_exit_2_with_its_faults(btr: Btr, here: Path) -> None:
    (here / "t.yaml").write_text(tree("sequense: []"))
    said = btr("run", "t.yaml")
    assert (said.code, said.out) == (2, "")
    assert "did you mean `sequence`?" in said.err


@pytest.mark.parametrize("limit", [("--ticks", 3), ("--seconds", 0.05)])
def test_used_up_ticks_and_seconds_are_exit_4_and_halt_what_runs(
    btr: Btr, here: Path, limit: tuple[str, object]
) -> None:
    (here / "t.yaml").write_text(
        tree("repeat:", "  times: -1", "  child:", "    wait: {seconds: 100, on_halt: {halted: true}}")
    )
    said = btr("run", "t.yaml", *limit, "--hz", 200, "--json")
    assert said.code == 4
    assert json.loads(said.out)["status"] == "TIMEOUT"
    assert json.loads(said.out)["path"] == "/t/0"


def test_a_node_that_breaks_fails_and_only_strict_ends_the_run(btr: Btr, here: Path) -> None:
    (here / "t.yaml").write_text(
        tree(
            "fallback:",
            "  - check: 1 / zero > 0",
            "  - succeed: {}",
            head="inputs:\n  zero: {type: number, default: 0}",
        )
    )
    said = btr("run", "t.yaml")
    assert said.code == 0
    assert "/t/0  error: broke: " in said.err
    said = btr("run", "t.yaml", "--strict")
    assert said.code == 1
    assert "error: /t/0: " in said.err


def test_outputs_are_shown_as_json_values(btr: Btr, here: Path) -> None:
    head = "outputs:\n  room: {type: string}\n  count: {type: integer, default: 3}"
    (here / "t.yaml").write_text(tree("set: {room: kitchen}", head=head))
    assert btr("run", "t.yaml").out == 'SUCCESS\nroom: "kitchen"\ncount: 3\n'
    assert json.loads(btr("run", "t.yaml", "--json").out)["outputs"] == {"room": "kitchen", "count": 3}


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("s", "12", "12"), ("s", "true", "true"), ("s", "a=b", "a=b"), ("s", "", ""), ("i", "-3", -3), ("n", "1", 1),
        ("n", "1e3", 1000.0), ("b", "true", True), ("l", '["a", 1]', ["a", 1]), ("o", '{"k": null}', {"k": None}),
        ("a", "12", 12), ("a", "kitchen", "kitchen"), ("a", "null", None), ("c", "green", "green"),
    ],
)  # fmt: skip
def test_a_value_is_typed_by_its_port(name: str, text: str, value: object) -> None:
    from bt_runtime import load
    from bt_runtime.cli.set_option import given

    assert given([f"{name}={text}"], load(TYPED).spec) == {name: value}


@pytest.mark.parametrize(
    ("pair", "wanted"),
    [
        ("i=1.5", "an integer"), ("i=", "an integer"), ("i=abc", "an integer"), ("n=NaN", "a number"),
        ("b=yes", "a boolean"), ("l={}", "a list"), ("o=[1", "an object"), ("c=gren", "did you mean `green`?"),
        ("z=1", "no input and no entry `z`"), ("novalue", "there is no `=`"), ("l=" + "[" * 100_000, "a list"),
    ],
)  # fmt: skip
def test_a_value_that_does_not_fit_is_a_usage_error_with_a_way_out(
    btr: Btr, here: Path, pair: str, wanted: str
) -> None:
    (here / "t.yaml").write_text(TYPED)
    said = btr("run", "t.yaml", "--set", "a=1", "--set", pair)
    assert said.code == 2
    assert wanted in said.err
    assert "help: " in said.err


def test_a_missing_input_names_the_flag_that_gives_it(btr: Btr, here: Path) -> None:
    (here / "t.yaml").write_text(TYPED)
    assert "--set a=" in btr("run", "t.yaml").err


def test_lines_of_the_log_are_shown_from_their_level_on(btr: Btr, here: Path) -> None:
    (here / "t.yaml").write_text(tree("sequence:", "  - log: quiet", "  - log: {text: loud, level: warning}"))
    assert "quiet" in btr("run", "t.yaml").err
    assert "quiet" not in btr("run", "t.yaml", "--log", "warning").err
    assert "/t/0  debug: SUCCESS quiet" in btr("run", "t.yaml", "--log", "debug").err


def test_every_line_of_the_log_is_in_the_journal_shown_or_not(btr: Btr, here: Path) -> None:
    """As of a run in a program: what is shown on the terminal takes nothing away from what is recorded."""
    (here / "t.yaml").write_text(tree("sequence:", "  - log: quiet", "  - log: {text: loud, level: warning}"))
    assert btr("run", "t.yaml", "--log", "warning", "--runs", "runs").code == 0
    (file,) = (here / "runs").glob("*.btr")
    assert [body["text"] for _, body in Recording(file).of("log")] == ["quiet", "loud"]


def test_what_a_log_says_cannot_move_the_cursor(btr: Btr, here: Path) -> None:
    (here / "t.yaml").write_text(tree('log: "\\e[2Jgone"'))
    said = btr("run", "t.yaml")
    assert "\x1b" not in said.err
    assert "gone" in said.err


def test_a_tree_can_come_from_standard_input(btr: Btr) -> None:
    assert btr("run", "-", stdin=tree("succeed: {}").encode()).code == 0
    assert btr("run", "-", stdin=b"\xff\x00").code == 2


def test_a_shipped_tree_is_found_by_its_name_and_a_wrong_name_is_guessed(btr: Btr) -> None:
    assert btr("run", "greet", "--set", "times=1").code == 0
    assert "did you mean `greet`?" in btr("run", "gret").err


@pytest.mark.parametrize(
    "words", [("--hz", "0"), ("--seconds", "-1"), ("--ticks", "0"), ("--hz", "nan"), ("--task", "1")]
)
def test_senseless_options_are_usage_errors(btr: Btr, words: tuple[str, str]) -> None:
    assert btr("run", "hello", *words).code == 2


def test_options_of_the_tasks_reach_the_suite_and_need_a_world(btr: Btr, here: Path) -> None:
    (here / "a.yaml").write_text(tree("log: hi", head="inputs:\n  goal: {type: string, default: none}"))
    made = btr("run", "a.yaml", "--env", "house", "--task", "put_fridge", "--option", "homes=cottage")
    assert made.code == 0, made.err
    plain = btr("run", "a.yaml", "--env", "house", "--task", "put_fridge")
    assert made.err.splitlines()[1:] != plain.err.splitlines()[1:]
    assert "--option needs a world" in btr("run", "a.yaml", "--option", "homes=cottage").err


def test_a_line_of_the_log_is_shown_and_is_in_the_journal(btr: Btr, here: Path) -> None:
    """Whoever shows a run adds to those who listen; the journal loses none of its lines by it."""
    (here / "t.yaml").write_text(tree("sequence: [log: one, {log: {text: two, level: warning}}]"))
    said = btr("run", "t.yaml", "--runs", "runs")
    assert said.code == 0 and "two" in said.err
    (journal,) = (here / "runs").glob("*.btr")
    recording = Recording(journal)
    told = [recording.body(e) for e in recording.events if e.kind == "log"]
    assert [(body["level"], body["text"]) for body in told] == [("info", "one"), ("warning", "two")]


@pytest.mark.parametrize("given", [("--decisions", "-5"), ("--decisions", "0"), ("--steps", "0"), ("--steps", "-1")])
def test_a_budget_below_one_is_refused(btr: Btr, here: Path, given: tuple[str, str]) -> None:
    (here / "t.yaml").write_text(tree("succeed: {}"))
    said = btr("run", "t.yaml", *given)
    assert (said.code, said.out) == (2, "")
    assert given[0] in said.err and "must be at least 1" in said.err


def test_what_a_skill_prints_goes_to_standard_error_with_json(btr: Btr, here: Path) -> None:
    """With `--json` standard output is one JSON document, whatever skills print."""
    (here / "btr.yaml").write_text("")
    (here / "trees").mkdir()
    (here / "skills").mkdir()
    (here / "skills" / "a.yaml").write_text(
        "version: 1\nskills: a\nabout: A.\nkinds:\n  label: {sentence: label, on_resume: repeat, impl: a.py:label}\n"
    )
    (here / "skills" / "a.py").write_text("print('imported')\n\n\ndef label():\n    print('label A17')\n")
    (here / "trees" / "t.yaml").write_text(tree("label: {}", head="skills: [a]"))
    said = btr("run", "t", "--json")
    assert (said.code, json.loads(said.out)["status"]) == (0, "SUCCESS")
    assert "label A17" in said.err


def test_lines_tell_what_an_agent_does_and_what_came_of_it() -> None:
    """Its thoughts are told with `--log debug`."""
    from bt_runtime.agents import ScriptedModel
    from bt_runtime.cli.running.log_lines import LogLines
    from bt_runtime.events import Stepped

    @bt.skill("pick {what}")
    def pick(what: Literal["cup", "mug"]) -> bool:
        return what == "cup"

    tree = bt.load("version: 1\ntree: t\nroot: {agent: {goal: g, moves: [think, act]}}\n", skills=[pick])
    script, lines = ["Think: a cup", "Act: pick mug", "Act: pick cup", "Act: done"], list[str]()
    with bt.Run(tree, model=ScriptedModel(script)) as run:
        run.listen(LogLines(lines.append, "info").stepped, Stepped)
        run.spin()
    told = [line.split(maxsplit=1)[1] for line in lines]
    assert told[:2] == ["/t  Act: pick mug -> It failed.", "/t  Act: pick cup -> Done."]
