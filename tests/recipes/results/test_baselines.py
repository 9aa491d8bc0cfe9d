"""The baselines beside compiled trees learn what they can, so that a comparison with them says something."""

from __future__ import annotations

from random import Random

from bt_runtime.agents.compile.trace import Act, Life, Trace
from bt_runtime.agents.story import ACT
from bt_runtime.types import Question
from recipes.results.baselines import Decisions, Nearest, Split, grown


def _run(goal: str, *sentences: str) -> Trace:
    offered = ("go to the cup", "go to the plate", "take the cup", "take the plate")
    acts = [Act(said, f"You did {said}.", True, offered) for said in sentences]
    return Trace(goal, "", "", goal, True, "react", 0, [Life("/", goal, list(acts), "done")])


def _asked(*offered: str, prompt: str = "") -> Question:
    return Question("decide", prompt, moves={ACT: (*offered, "done", "failure")})


RUNS = [_run(f"bring the {thing}", f"go to the {thing}", f"take the {thing}") for thing in ("cup", "plate")]


def test_the_nearest_run_is_replayed_and_what_is_not_offered_is_skipped() -> None:
    """The goal's words choose the run."""
    act = Nearest(RUNS).policy("please bring a plate")
    assert act(_asked("take the plate")) == f"{ACT} take the plate"
    assert act(_asked("take the plate")) == f"{ACT} done"


def test_a_decision_tree_finds_what_separates() -> None:
    """Of random features the one that decides is split first."""
    chance = Random(7)
    rows = [(frozenset(chance.sample("abcdef", 3)), False) for _ in range(400)]
    tree = grown([(features, "c" in features) for features, _ in rows])
    assert isinstance(tree, Split)
    assert tree.feature == "c"


def test_a_decision_tree_over_actions_takes_those_of_the_goal() -> None:
    """It learns that an action names what the goal names."""
    tree = Decisions(RUNS * 20)
    assert tree.policy("bring the cup")(_asked("go to the plate", "go to the cup")) == f"{ACT} go to the cup"
