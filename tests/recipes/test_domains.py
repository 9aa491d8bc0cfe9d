"""Lessons of facts: made-up domains that share nothing with what is measured, and the answers of their teacher."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from hashlib import blake2b
from itertools import combinations
from random import Random

import pytest
import yaml

from bt_runtime.agents.backchain.wording import parts, unsayable
from bt_runtime.language.sentence import Sentence
from recipes.facts.trade import TRADES, trades
from recipes.starter import data
from recipes.starter.facts import domains
from recipes.starter.facts.domains import held_domains, joined, make_domain
from recipes.starter.facts.lessons import lessons, taught

WORDS = data.read("facts/domains")
FILES = ("trades.yaml", "more_trades.yaml", "open_trades.yaml", "kept_trades.yaml")


def acts(classes: str) -> list[list]:
    return [act for each in WORDS[classes].values() for act in each["acts"]]


def test_no_verb_and_no_thing_of_a_lesson_is_one_of_a_measured_trade() -> None:
    """No act of a lesson begins with a verb of the trades' skills, and no value of theirs is one of the trades'."""
    measured = [trade for file in FILES for trade in trades(TRADES.with_name(file)).values()]
    verbs = {entry["say"].split()[0] for trade in measured for entry in trade["skills"]}
    values = {value for trade in measured for pool in trade["slots"].values() for value in pool}
    assert not verbs & {act[0].split()[0] for act in (*acts("classes"), *acts("held"))}
    assert not values & {value for n in range(60) for pool in make_domain(Random(n)).pools.values() for value in pool}


def test_held_out_domains_have_words_that_no_lesson_has() -> None:
    """Ten domains, whose nouns, verbs and sentences stand in no class that lessons are made of."""
    nouns = [{noun for each in WORDS[part].values() for noun in each["nouns"]} for part in ("classes", "held")]
    verbs = [{act[0].split()[0] for act in acts(part)} for part in ("classes", "held")]
    assert len(held_domains()) == 10 and not nouns[0] & nouns[1] and not verbs[0] & verbs[1]
    assert len([*combinations(WORDS["classes"], 2)]) >= 60


def test_the_held_out_domains_are_those_of_the_ledger() -> None:
    """What is measured after a training is what was written down before it."""
    said = io.StringIO()
    with redirect_stdout(said):
        yaml.safe_dump(held_domains(), said, sort_keys=False, width=160, allow_unicode=True)
    kept = data.read("ledger")["held_out_domains"]
    assert blake2b(said.getvalue().encode(), digest_size=8).hexdigest() == kept["digest"]
    assert sum(len(each["goals"]) for each in held_domains().values()) == kept["goals"]


@pytest.mark.parametrize("classes", ["classes", "held"])
def test_a_sentence_that_names_no_skill_is_one_part_and_does_not_say_the_verb(classes: str) -> None:
    for said, _, hints in acts(classes):
        for hint in hints:
            (part,) = parts(f"{hint.replace('X', 'the red thing')}.")
            assert not (part.every or part.left_out or part.test or part.refers or unsayable(hint)), hint
            assert said.split()[0] not in part.text.lower().split(), hint


def test_the_same_numbers_give_the_same_lessons_and_each_answer_can_be_known() -> None:
    """Of a choice that is learnt every word stands in the prompt or in the choice itself, and no thing that the part
    does not name is learnt."""
    first, again = [*lessons(7, 6)], [*lessons(7, 6)]
    assert first == again and len(first) > 20
    for document in first:
        asked = document.text.rpartition("Goal: ")[2].partition("\n")[0]
        own = [document.text[begin:end] for begin, end in document.learn if begin > document.text.rfind("Goal: ")]
        for adjective in WORDS["adjectives"]:
            assert f" {adjective} " not in "".join(own) or adjective in asked.lower()


def test_what_is_not_said_in_an_action_s_own_verb_becomes_a_lesson() -> None:
    """A goal of sentences that do not say the verb is asked about, taken apart as it was joined, nine times of ten."""
    asked = 0
    for number in range(40):
        rng = Random(number)
        domain = make_domain(rng)
        clauses = (domain.clause(rng) for _ in range(100))
        goal = next(clause for clause in clauses if not clause.named)
        asked += bool([*taught(domain, [goal], rng)])
    assert asked >= 36


def test_every_and_except_ask_for_the_things_that_are_meant() -> None:
    domain, rng = make_domain(Random(3), ("vehicle", "tool")), Random(1)
    clauses = [domain.clause(rng) for _ in range(300)]
    slot = next(iter(domain.pools))
    wanted = {len(c.facts) for c in clauses if c.text.startswith(("tow every", "tow all", "tow each"))}
    assert wanted <= {len(domain.pools[slot]), len(domain.pools[slot]) - 1} and wanted
    for clause in clauses:
        assert domains.joined([clause], rng) == joined([clause], rng)
        assert all(Sentence("{a} is {b}").parse(fact) is not None for fact in clause.facts)
