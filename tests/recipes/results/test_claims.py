"""The claims as they are written down: every figure can be measured."""

from __future__ import annotations

from dataclasses import fields

import pytest

from bt_lab.run.outcome import Outcome
from bt_runtime import BtError, load
from bt_runtime.plugins import open_suite
from bt_runtime.skills.worlds.registry import suite_names
from recipes.results import arm, own
from recipes.results.claims import Claim, Figure, read_claims

CLAIMS = read_claims()
FIGURES = [(claim.name, figure) for claim in CLAIMS.claims.values() for figure in claim.figures]


@pytest.mark.parametrize("figure", [f for _, f in FIGURES], ids=[f"{c}: {f.name}" for c, f in FIGURES])
def test_a_figure_is_of_a_strategy_that_is_run_and_of_something_that_outcomes_tell(figure: Figure) -> None:
    for name, strategy in filter(None, (figure.of, figure.against, figure.like)):
        assert strategy in [s.name for s in CLAIMS.evaluations[name].strategies]
    known = {"goal", "subgoals", "mistaken", *(f.name for f in fields(Outcome))}
    assert figure.measure in known
    assert figure.among in ("all", "reached", *(() if figure.against else ("missed",)))
    assert set(figure.target) <= {"at_least", "at_most", "above", "below", "p_below"}


@pytest.mark.parametrize("claim", CLAIMS.claims.values(), ids=list(CLAIMS.claims))
def test_no_two_figures_of_a_claim_have_the_same_name(claim: Claim) -> None:
    """Runs are compared by it."""
    names = [figure.name for figure in claim.figures]
    assert len(set(names)) == len(names)


WORLDS = [n for n, found in CLAIMS.evaluations.items() if found.suite != arm.NAME and not own.is_own(found.suite)]


@pytest.mark.parametrize("name", WORLDS)
def test_what_an_evaluation_names_is_there(name: str) -> None:
    found = CLAIMS.evaluations[name]
    assert set(found.kinds) <= set(open_suite(found.suite).kinds)
    assert not found.lessons or found.lessons in CLAIMS.lessons
    assert 0 < found.share <= 1
    for strategy in found.strategies:
        assert set(strategy.inputs) <= set(load(strategy.tree).spec.ports)


SEVEN = {"ReAct", "ReAcTree", "ADaPT", "Plan-and-Execute", "Try Again", "Reflexion", "LoTa-Bench"}
WITH_A_JUDGE = {"ReAcTree, verified", "Try Again, believed", "Reflexion, believed"}  # more rows of the house
BESIDE = {"Facts", "ADaPT, depth 4", "Facts, depth 4"}  # more rows, where a world tells what its acts do, or by depth


def test_seven_strategies_are_compared_in_every_world_that_needs_no_robot() -> None:
    tables = {name: claim for name, claim in CLAIMS.claims.items() if name.startswith("seven_")}
    worlds = {CLAIMS.evaluations[name].suite for claim in tables.values() for name in claim.needs}
    assert worlds == {*suite_names()} - {"field"}
    for claim in tables.values():
        names = {f.name for f in claim.figures if not f.against and f.measure == "goal"}
        assert claim.world and names - WITH_A_JUDGE - BESIDE == SEVEN


def test_every_evaluation_is_needed_by_a_claim() -> None:
    assert set(CLAIMS.needed(CLAIMS.claims.values())) == set(CLAIMS.evaluations)


def test_both_sides_of_a_comparison_are_run_alike_but_for_what_is_compared() -> None:
    """The same world, budget and kinds of task: else the budget would be what is measured."""
    for _, figure in FIGURES:
        if figure.against:
            own, other = CLAIMS.evaluations[figure.of[0]], CLAIMS.evaluations[figure.against[0]]
            assert (own.suite, own.budget, own.kinds) == (other.suite, other.budget, other.kinds)


def test_several_processes_measure_everything_once_and_about_as_much_each() -> None:
    """And what shares lessons is measured by one of them: it makes them."""
    names = CLAIMS.needed(CLAIMS.chosen([]))
    for hands in (1, 2, 3):
        dealt = CLAIMS.dealt(names, hands)
        assert sorted(name for hand in dealt for name in hand) == sorted(names)
        assert any({"agent_level", "task_level"} <= {*hand} for hand in dealt)
        work = [CLAIMS._work(hand) for hand in dealt]
        assert max(work) < 1.25 * min(work)


def test_one_claim_needs_only_its_own_evaluations_and_an_unknown_one_is_told() -> None:
    assert CLAIMS.needed(CLAIMS.chosen(["adapt"])) == ["craft"]
    with pytest.raises(BtError) as caught:
        CLAIMS.chosen(["adpat"])
    assert caught.value.hint == "did you mean `adapt`?"


def test_tables_that_take_long_are_looked_at_only_when_they_are_named() -> None:
    """And each of their figures of a strategy has the paper's beside it, by type of task where the paper has it so."""
    long = {name for name, claim in CLAIMS.claims.items() if claim.named_only}
    compiled = {"known_work", "known_robots", "known_alfworld", "known_people"}
    assert long == {"adapt_alfworld", "adapt_webshop_textcraft", "autoplan", *compiled}
    assert not long & {claim.name for claim in CLAIMS.chosen([])}
    assert [claim.name for claim in CLAIMS.chosen(["autoplan"])] == ["autoplan"]
    for figure in (f for name in long - compiled for f in CLAIMS.claims[name].figures):
        assert figure.against or figure.paper is not None
        assert figure.kind in ("", *open_suite(CLAIMS.evaluations[figure.of[0]].suite).kinds)


def test_what_an_evaluation_is_guided_by_is_written_for_its_world() -> None:
    for found in CLAIMS.evaluations.values():
        if found.plan:
            plan = CLAIMS.plans[found.plan]
            assert (plan.suite, plan.world) == (found.suite, found.world)
            assert all("guide" in load(strategy.tree).spec.ports for strategy in found.strategies)
