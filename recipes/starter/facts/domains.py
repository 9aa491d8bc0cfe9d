"""Made-up domains for lessons of facts, and goals in them, as data that `recipes.facts` measures.

`python -m recipes.starter.facts.domains` writes the ten held-out domains, for `python -m recipes.facts --trades FILE`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from random import Random
from typing import Any, NamedTuple

import yaml

from bt_envs.house.phrases import capital, plural
from recipes.facts.trade import Data
from recipes.starter.data import read

HELD_SEED, HELD_GOALS = 55, 12  # of the domains that are measured
_CLAUSES = (1, 1, 1, 2, 2, 3)
_SHAPES = ("order", "order", "state", "hint", "hint", "hint", "every", "leaving", "link")


class Clause(NamedTuple):
    """One part of a goal: what is said, and what it asks for."""

    text: str
    facts: tuple[str, ...]
    acts: frozenset[str]  # each is a right choice
    named: bool  # it says the verb


class Act(NamedTuple):
    said: str  # with X, and Y where it takes a second thing
    done: str
    hints: Sequence[str]


class Domain(NamedTuple):
    """Two kinds of things, and what can be done with them. Some kinds are people, who are named."""

    pools: Mapping[str, Sequence[str]]  # slot: values
    people: frozenset[str]  # slots
    acts: Mapping[str, Sequence[Act]]  # by the slot of the first thing

    def data(self, goals: Sequence[Sequence[Clause]] = (), rng: Random | None = None) -> Data:
        """As a trade of `recipes.facts`."""
        skills = []
        for slot, acts in self.acts.items():
            other = next(each for each in self.pools if each != slot)
            x, y = f"{{{slot}}}", f"{{{other}}}"
            skills += [{"say": _filled(a.said, x, y), "brings": [_fact(a, x, y)]} for a in acts]
        asked = [
            {
                "goal": joined(goal, rng or Random(0)),
                "facts": [*dict.fromkeys(fact for clause in goal for fact in clause.facts)],
                "named": all(clause.named for clause in goal),
            }
            for goal in goals
        ]
        slots = {slot: [*values] for slot, values in self.pools.items()}
        return {"slots": slots, "start": [], "skills": skills, "goals": asked}

    def goal(self, rng: Random) -> list[Clause]:
        """Clauses of different acts."""
        found: list[Clause] = []
        for _ in range(rng.choice(_CLAUSES)):
            clause = self.clause(rng)
            if not any({*clause.facts} & {*each.facts} for each in found):
                found.append(clause)
        return found

    def clause(self, rng: Random) -> Clause:
        words, shape = read("facts/domains"), rng.choice(_SHAPES)
        slot = rng.choice([*self.acts])
        act = rng.choice([a for a in self.acts[slot] if bool(a.hints) != (shape == "link")] or self.acts[slot])
        other = next(each for each in self.pools if each != slot)
        x, y = rng.choice(self.pools[slot]), rng.choice(self.pools[other]) if "Y" in act.said else ""
        shown = self.shown(slot, x), self.shown(other, y)
        if shape == "hint" and act.hints:
            return self.meant(act, [x], y, _filled(rng.choice(act.hints), *shown), False)
        if shape in ("every", "leaving") and slot not in self.people:
            all_of = _filled(
                act.said, rng.choice(words["every"]).replace("PLURAL", plural(slot)).replace("N", slot), shown[1]
            )
            left = [x] if shape == "leaving" else []
            tail = f" {_filled(rng.choice(words['leaving']), shown[0])}" if left else ""
            return self.meant(act, [v for v in self.pools[slot] if v not in left], y, f"{all_of}{tail}", True)
        said = _filled(act.said, *shown)
        if shape == "state":
            told = rng.choice(words["states"]).replace("DONE", _filled(act.done, *shown))
            return self.meant(act, [x], y, _filled(f"{told} Y" if y else told, *shown), True)
        return self.meant(act, [x], y, rng.choice(words["orders"]).replace("ACT", said), True)

    def meant(self, act: Act, things: Sequence[str], y: str, text: str, named: bool) -> Clause:
        facts = tuple(_fact(act, x, y) for x in things)
        return Clause(text, facts, frozenset(_filled(act.said, x, y) for x in things), named)

    def shown(self, slot: str, value: str) -> str:
        return value if slot in self.people else f"the {value}"


def make_domain(rng: Random, classes: Sequence[str] = (), held: bool = False) -> Domain:
    """Of two classes; of any two that lessons may have, where none are named."""
    words = read("facts/domains")
    known = words["held" if held else "classes"]
    chosen = [known[name] for name in classes or rng.sample([*known], 2)]
    slots = [rng.choice(each["nouns"]) for each in chosen]
    pools: dict[str, list[str]] = {}
    acts: dict[str, list[Act]] = {}
    for slot, each in zip(slots, chosen, strict=True):
        count = rng.randint(2, 4)
        named = rng.sample(words["people"], count) if each.get("people") else []
        pools[slot] = named or [f"{adjective} {slot}" for adjective in rng.sample(words["adjectives"], count)]
        acts[slot] = [Act(said, done, hints) for said, done, hints in rng.sample(each["acts"], rng.randint(3, 4))]
    links = words["held_links" if held else "links"]
    acts[slots[0]] += [Act(said, done, ()) for said, done in rng.sample(links, rng.randint(0, 1))]
    people = frozenset(slot for slot, each in zip(slots, chosen, strict=True) if each.get("people"))
    return Domain(pools, people, acts)


def joined(goal: Sequence[Clause], rng: Random) -> str:
    """Orders in one sentence, or each clause in one of its own."""
    joints = read("facts/domains")["joints"]
    text = goal[0].text
    for before, clause in pairwise(goal):
        leaves = any(word in before.text for word in ("except", "but not", "apart"))
        plain = before.named and clause.named and not leaves
        joint = rng.choice(joints) if plain else ". "
        text += f"{joint}{capital(clause.text) if joint == '. ' else clause.text}"
    return f"{capital(text)}."


def held_domains() -> dict[str, Any]:
    """The ten domains of two held-out classes each, with their goals."""
    found: dict[str, Any] = {}
    for pair in combinations(read("facts/domains")["held"], 2):
        rng = Random(f"facts held {HELD_SEED} {pair}")
        domain = make_domain(rng, pair, held=True)
        found[" and ".join(pair)] = domain.data([domain.goal(rng) for _ in range(HELD_GOALS)], rng)
    return found


def _fact(act: Act, x: str, y: str) -> str:
    return f"{x} is {act.done}{f' {y}' if y and 'Y' in act.said else ''}"


def _filled(text: str, x: str, y: str = "") -> str:
    return text.replace("X", "\0").replace("Y", y).replace("\0", x)


if __name__ == "__main__":
    yaml.safe_dump(held_domains(), sys.stdout, sort_keys=False, width=160, allow_unicode=True)
