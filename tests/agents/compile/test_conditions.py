"""A compiled tree does nothing that the rule behind its runs would not: what depends on something is done where that
was seen, and what nothing explains is left to the agent."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from bt_runtime import BtError
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.compile import report
from bt_runtime.agents.compile.compiling import Compiled, of_traces
from bt_runtime.agents.compile.condition import heard_forms
from bt_runtime.agents.compile.goal import Goal
from bt_runtime.agents.compile.steps import AgentStory
from bt_runtime.agents.compile.trace import Life
from tests.agents.compile.bench import STATES, UNSEEN, Bench, Rule, Told, rule, trace
from tests.agents.compile.pantry import Nobody, played

RUNS = 40


def _compiled(made: Rule, folder: Path) -> tuple[Compiled, Path] | None:
    """The tree of a rule's runs; None when all is left to the agent."""
    try:
        found = of_traces([trace(made, seed) for seed in range(RUNS)], "bench")
    except BtError as error:
        assert "nothing that was seen tells when" in error.message, error.message
        return None
    file = folder / "trees" / "bench.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(found.text, "utf-8")
    return found, file


def _done(file: Path, world: Bench) -> tuple[list[str], bool]:
    """What the tree does, and whether it asked its agent, which gives up."""
    model = ScriptedModel(lambda question: "Act: failure")
    played(file, world, model)  # type: ignore[arg-type]
    return world.done, bool(model.asked)


@pytest.mark.parametrize("seed", range(40))
def test_a_tree_does_what_the_rule_of_its_runs_does(seed: int, tmp_path: Path) -> None:
    """Conditional acts, alternatives and conditional ends: in other worlds each is done as the rule says, without a
    model."""
    made = rule(Random(seed))
    found = _compiled(made, tmp_path)
    assert found is not None
    for other in range(1000, 1008):
        world = Bench(made, other)
        assert _done(found[1], world) == ([*Bench(made, other).wanted()], False), (made, found[0].text)


@pytest.mark.parametrize("seed", range(40, 70))
def test_a_tree_never_does_what_the_rule_would_not(seed: int, tmp_path: Path) -> None:
    """Also where the rule asks for what was answered earlier, and where answers come that no run had."""
    made = rule(Random(seed), hidden=seed % 2 == 0)
    found = _compiled(made, tmp_path)
    for other in range(1000, 1008) if found is not None else ():
        world = Bench(made, other, (*STATES, UNSEEN))
        done, _ = _done(found[1], world)  # type: ignore[index]
        wanted = iter(Bench(made, other, (*STATES, UNSEEN)).wanted())
        assert all(act in wanted for act in done), (made, found and found[0].text)


def test_an_end_that_nothing_explains_leaves_the_goal_to_the_agent() -> None:
    """Half of the runs stop after the first act, for a reason that nobody was told: the second act is not done
    always."""
    made = Rule([("open", None), ("close", None), ("use", None)], (2, Told(0, frozenset({"dry"}))), False)
    with pytest.raises(BtError, match=r"`service the <place>`: \d+ of 40 times it was `use .*` that came next"):
        of_traces([trace(made, seed) for seed in range(RUNS)], "bench")


def test_the_report_names_what_is_left_to_the_agent(tmp_path: Path) -> None:
    """Beside a kind of work that is explained: it says which step, and counts no step that no run did."""
    plain = [trace(Rule([("open", None), ("close", None)], None, False), seed) for seed in range(RUNS)]
    lives = [
        Life("/", each.goal.replace("service", "overhaul"), each.lives[0].acts[: 1 + at % 2], "done",
             offered=each.lives[0].offered, heard=str(each.lives[0].acts[at % 2].observation))  # type: ignore[union-attr]
        for at, each in enumerate(plain)
    ]  # fmt: skip
    for each, life in zip(plain, lives, strict=True):
        each.lives.append(life)
    found = of_traces(plain, "bench")
    told = report.account(found)
    assert [each["form"] for each in told["unexplained"]] == ["overhaul the <place>"]
    assert "overhaul" not in found.text
    assert told["rehearsal"]["surplus"] == 0
    assert any(line.startswith("left to the agent: overhaul the <place> (40 times): 20 of 40 times")
               for line in report.lines(told))  # fmt: skip


def test_a_condition_is_read_from_any_line_and_sentence() -> None:
    """The goal's values are slots, and numbers are open; what looks like a slot is passed over."""
    story = AgentStory(Life("/", ""), Goal("", {"bike": "red bike"}), [])
    told = heard_forms("found: 8 copies\nIt hangs. The chain of the red bike is dry.\n<b>no</b>", story)
    assert {"found: <number> copies", "It hangs.", "The chain of the {it.bike} is dry."} <= {*told}
    assert not any("b>" in each for each in told)


def test_an_alternative_is_taken_for_no_answer_that_no_run_had(tmp_path: Path) -> None:
    """Two answers, an act for each; at a third one the agent is asked, and neither act is done."""
    made = Rule([("open", None), ("close", Told(0, frozenset({"dry"})))], None, True)
    found = _compiled(made, tmp_path)
    assert found is not None
    for state, act in (("dry", "close"), ("wet", "examine")):
        assert played(found[1], Bench(made, 1, (state,)), Nobody()).name == "SUCCESS"  # type: ignore[arg-type]
        assert f"{act}: " in found[0].text
    done, asked = _done(found[1], Bench(made, 1, (UNSEEN,)))
    assert ([each.split()[0] for each in done], asked) == (["open"], True)
