from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from bt_envs.house.rules import PROCESSES, Rule, Rules, Way, as_data, describe, read_rules, sentence, ways
from bt_envs.house.suite import load_content
from bt_runtime import BtError

BOOK = load_content().rulebook
DRAWN = {split: [BOOK.draw(seed, split) for seed in range(300)] for split in ("train", "eval")}  # type: ignore[arg-type]


def test_a_person_reads_a_set_of_rules_in_four_sentences() -> None:
    """Three say what heats, cools and cleans, the last one what is guarded."""
    assert describe(BOOK.usual) == (
        "The microwave oven heats what is inside, when it is closed and turned on.",
        "The fridge cools what is inside, when it is closed.",
        "The sink cleans what you hold, when the faucet is turned on.",
        "The dishwasher, the microwave oven and the washing machine open only when turned off and start only when "
        "closed.",
    )
    assert all(len(describe(rules)) <= 4 for drawn in DRAWN.values() for rules in drawn)


def test_two_rules_that_differ_are_told_in_different_words() -> None:
    """Nothing of a rule is lost in its sentence."""
    every = [(p, rule) for of in BOOK.rules.values() for p, rules in of.items() for rule in rules]
    assert len({sentence(process, rule) for process, rule in every}) == len(every) == len(set(every))


def test_no_rule_of_the_evaluation_is_one_of_training() -> None:
    """Not as a whole set, not for one process, and no appliance is used in one of its ways for anything else."""
    met = {split: {(r.place, r.way) for rules in drawn for r in rules.of.values()} for split, drawn in DRAWN.items()}
    assert not met["train"] & met["eval"]
    assert not [rules for rules in DRAWN["eval"] if rules in DRAWN["train"]]


def test_whatever_the_rules_of_the_evaluation_are_made_of_is_met_in_training() -> None:
    """Every appliance of a process there, and every word of how it is used: only together they are new."""
    for process in PROCESSES:
        train = [rules.of[process] for rules in DRAWN["train"]]
        for rule in {rules.of[process] for rules in DRAWN["eval"]}:
            of_it = [r for r in train if r.place == rule.place]
            for i, word in enumerate(rule.way):
                assert any(r.way[i] == word for r in of_it), (process, rule)


def test_the_usual_rules_are_of_training() -> None:
    """What everybody would guess is no surprise to keep for the evaluation."""
    for process, rule in BOOK.usual.of.items():
        assert rule in BOOK.rules["train"][process]


def test_all_ways_to_heat_come_before_one_comes_again() -> None:
    """So that a few sets that follow each other differ in it; and no appliance does two things in one house."""
    for split, drawn in DRAWN.items():
        n = len(BOOK.rules[split]["heat"])  # type: ignore[index]
        assert len({rules.of["heat"] for rules in drawn[:n]}) == n
        assert all(a.of["heat"] != b.of["heat"] for a, b in pairwise(drawn[:n]))
        assert all(len({rule.place for rule in rules.of.values()}) == 3 for rules in drawn)


def test_a_drawn_set_never_asks_what_a_guarded_door_forbids() -> None:
    """Nothing guarded has to run while it is open; and guarded ones are met, none, one and two."""
    for drawn in DRAWN.values():
        for rules in drawn:
            forbidden = [
                r for r in rules.of.values() if r.place in rules.guarded and r.way[1:] == ("open", "turned on")
            ]
            assert not forbidden
        assert {len(rules.guarded) for rules in drawn} == {0, 1, 2}


def test_a_set_of_rules_is_found_by_number_by_name_or_as_it_is() -> None:
    """A number is of the split that is asked for; `eval 3` says its split itself; what a task holds reads the same."""
    assert BOOK.find(3) == BOOK.find("3") == BOOK.find("train 3") == BOOK.draw(3, "train")
    assert BOOK.find(3, "eval") == BOOK.find("eval 3") == BOOK.draw(3, "eval") != BOOK.draw(3, "train")
    assert BOOK.find(None) == BOOK.usual
    for rules in (*DRAWN["train"], *DRAWN["eval"], BOOK.usual):
        assert BOOK.find(as_data(rules)) == rules


@pytest.mark.parametrize("asked", ["stove", "test 3", "-1", "eval", "", True, ["3"], 1.5])
def test_rules_that_nobody_knows_are_an_error_with_a_way_out(asked: Any) -> None:
    """Neither ignored nor guessed."""
    with pytest.raises(BtError, match="no house rules"):
        BOOK.find(asked)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        ({"melt": {}}, "house rules has no `melt`"),
        ({"heat": "stove"}, "`heat` is a mapping, not `stove`"),
        ({"heat": {"with": "stove"}}, "a rule lacks its field `thing`"),
        ({"heat": {"with": "stove", "thing": "held", "colour": "red"}}, "a rule has no `colour`"),
        ({"heat": {"with": "volcano", "thing": "held"}}, "no furniture is called `volcano`"),
        ({"heat": {"with": "stove", "thing": "near"}}, "`thing` of `heat` is one of inside, held, not `near`"),
        ({"heat": {"with": "toaster", "thing": "inside"}}, "cannot be used so: inside"),
        ({"cool": {"with": "fridge", "thing": "held", "power": "turned on"}}, "cannot be used so: held, turned on"),
        ({"guarded": ["fridge"]}, "a fridge cannot be guarded"),
        (
            {"heat": {"with": "stove", "thing": "held", "door": "open", "power": "turned on"}, "guarded": ["stove"]},
            "is to run while open",
        ),
    ],
)
def test_rules_that_no_house_can_have_are_an_error(data: dict[str, Any], what: str) -> None:
    """Each tells what is wrong with it, and what may be written."""
    with pytest.raises(BtError) as caught:
        read_rules(data, BOOK.catalogue, BOOK.taps)
    assert what in f"{caught.value} {caught.value.hint}" and caught.value.hint


def test_a_rule_may_leave_open_what_does_not_matter() -> None:
    """Without door and power only the thing counts, and that is all its sentence says."""
    rules = read_rules({"heat": {"with": "stove", "thing": "held"}}, BOOK.catalogue, BOOK.taps)
    assert rules == Rules({"heat": Rule("stove", Way("held"))})
    assert describe(rules) == ("The stove heats what you hold.",)


@pytest.mark.parametrize(("name", "count"), [("stove", 8), ("fridge", 4), ("sink", 4), ("toaster", 2), ("sofa", 1)])
def test_there_are_as_many_ways_to_use_a_thing_as_it_has_doors_and_switches(name: str, count: int) -> None:
    """A stove has both and takes things in; a sink has a faucet; a toaster only a switch; a sofa nothing."""
    assert len(ways(BOOK.catalogue.furniture[name], BOOK.taps)) == count
