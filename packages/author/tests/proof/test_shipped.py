"""The shipped trees keep what they promise; and a mutation of one that breaks a promise is found, with a story."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from random import Random

import pytest

from bt_author.proof.check import check
from bt_runtime import Faults, load
from tests.support.brute_force import explore
from tests.support.random_trees import SKILLS

TREES = Path(__file__).parents[4] / "trees"
EXAMPLES = Path(__file__).parents[4] / "bt_runtime" / "project" / "init" / "example-projects"
SHIPPED = sorted([*TREES.rglob("*.yaml"), *EXAMPLES.glob("*/trees/*.yaml")])
PROMISING = [path for path in SHIPPED if "\nproperties:" in path.read_text()]
# These are one node that asks a model, a choice among such (attempt, helpdesk), or trees in which an agent may run the
# skills of the other parts (autoplan calls strategies, chores, craft and errands were compiled from runs): a promise
# about results or skills would be about the agent's free choice, which a proof leaves open.
BARE = {
    *("attempt", "autoplan", "chores", "craft", "errands", "facts", "helpdesk", "lats", "lota"),
    *("plan_and_execute", "react", "reactree"),
}
MUTATIONS = int(os.environ.get("MUTATIONS", "6"))


def test_only_trees_that_are_up_to_an_agent_promise_nothing() -> None:
    """Each other shipped tree and example has a property."""
    assert {path.stem for path in SHIPPED if path not in PROMISING} == BARE


@pytest.mark.parametrize("path", PROMISING, ids=lambda path: f"{path.parents[1].name}_{path.stem}")
def test_a_shipped_tree_keeps_what_it_promises(path: Path) -> None:
    results = check(path)
    assert {result.property.name: result.outcome for result in results} == dict.fromkeys(
        (result.property.name for result in results), "proved"
    )


ROVER = """\
version: 1
tree: rover
blackboard:
  low: {type: boolean, default: false}
  charging: {type: boolean, default: false}
  open: {type: boolean, default: false}
properties:
  plugged_in: {never: charging and go is running}
  one_hand: {never: grab is running and lift is running}
  open_first: {before: {first: open, then: lift is running}}
  ends_well: {never: tree is success and charging}
root:
  reactive_fallback:
    - sequence:
        when: low
        on_failure: {charging: false}
        on_halt: {charging: false}
        children:
          - set: {charging: true}
          - arm: {}
          - set: {charging: false}
    - sequence:
        children:
          - go: {}
          - fallback:
              - check: open
              - sequence:
                  - grab: {}
                  - set: {open: true}
          - lift: {}
          - timeout: {seconds: 5, child: {go: {}}}
"""


def mutations(text: str) -> Iterator[str]:
    """Each small change of the nodes: a value, a result, an order, a guard, a missing line."""
    head, root = text.split("\nroot:", 1)
    rows = root.split("\n")

    def with_(at: int, *new: str, more: int = 1) -> str:
        return f"{head}\nroot:" + "\n".join((*rows[:at], *new, *rows[at + more :]))

    for at, row in enumerate(rows):
        for old, new in (("true", "false"), ("false", "true"), ("reactive_fallback", "fallback"), ("not ", ""),
                         ("sequence", "fallback"), ("sequence", "parallel"), ("fallback", "sequence"),
                         ("when", "unless"), ("timeout", "delay"), ("- sequence", "- reactive_sequence")):  # fmt: skip
            if re.search(rf"(?<!\w){old}", row):
                yield with_(at, re.sub(rf"(?<!\w){old}", new, row, count=1))
        if re.match(r"\s+(- \w+: [^\s].*|- (go|grab|lift): .*|when: .*|on_\w+: .*)$", row):
            yield with_(at)
            below = rows[at + 1] if at + 1 < len(rows) else ""
            if re.match(r"\s+- \w+: [^\s]", below) and below.index("-") == row.index("-" if "-" in row else "w"):
                yield with_(at, below, row, more=2)


def test_mutations_that_break_a_promise_are_found_with_a_story_that_the_engine_follows() -> None:
    """Broken, says an explorer on the engine; then a proof must not say otherwise."""
    texts = [ROVER, *((TREES / f"{name}.yaml").read_text() for name in ("battery", "door", "night_watch"))]
    made = [text for each in texts for text in mutations(each)]
    Random(7).shuffle(made)
    # Once is not enough for a hundred.
    twice = (text for each in made for text in Random(7).sample([*mutations(each)], 6))
    broken = 0
    for text in dict.fromkeys(chain(made, twice if len(texts) * 2 < MUTATIONS else ())):
        try:
            tree = load(text, skills=SKILLS)
        except Faults:
            continue
        if broken >= MUTATIONS:
            break
        for property in (each for each in tree.spec.properties if each.word == "never"):
            seen = explore(tree, never=str(property.given["never"]), states=80)
            [result] = check(tree, properties=[property.name], states=30_000)
            if seen.finding is not None:
                assert result.outcome == "refuted", (property, text)
            if result.outcome == "refuted" and result.finding is not None:
                assert seen.finding is not None or not seen.whole, (property, text)
                broken += 1
                assert " - broken " in result.finding.why  # the engine has gone through it, and a monitor has seen it
    assert broken >= MUTATIONS
