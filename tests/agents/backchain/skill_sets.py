"""Made-up skill sets, a world that does what their manifests say, and a search that knows nothing of the planner."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any, NamedTuple

from bt_runtime.language import manifest
from bt_runtime.plugins import Kind
from bt_runtime.types import Observation

THINGS = ("cup", "jar", "box")
PLAIN = ("the door is open", "the lamp is on", "hand free", "the bell rang", "the floor is wet")
OF_ONE = ("holding {x}", "{x} is clean", "near {x}")
OF_TWO = ("{x} lies on {y}",)


class Act(NamedTuple):
    needs: frozenset[str]
    brings: tuple[str, ...]


class Case(NamedTuple):
    text: str  # of the manifest
    kinds: tuple[Kind, ...]
    acts: dict[str, Act]  # by the sentence
    given: frozenset[str]
    goal: tuple[str, ...]


def fact_of(rng: Random, slots: tuple[str, ...], denied: float = 0.3) -> str:
    pool = list(PLAIN)
    for slot in slots:
        pool += [each.replace("{x}", f"{{{slot}}}") for each in OF_ONE] * 2
    if len(slots) == 2:
        pool += ["{a} lies on {b}"] * 3
    said = rng.choice(pool)
    return f"not {said}" if rng.random() < denied else said


def needed(rng: Random, slots: tuple[str, ...], brought: list[str]) -> str:
    """Rather what an earlier skill brings, with slots of this one or a thing in the place of its own."""
    if not brought or rng.random() < 0.25:
        return fact_of(rng, slots)
    said = rng.choice(brought)
    for slot in ("a", "b"):
        said = said.replace(f"{{{slot}}}", f"{{{rng.choice(slots)}}}" if slots else rng.choice(THINGS))
    return said


def case(seed: int) -> Case:
    """A set of three to ten skills with none to two slots, a state and a goal of one to three facts."""
    rng = Random(seed)
    rows: list[tuple[str, tuple[str, ...], list[str], list[str], int]] = []
    for i in range(rng.randint(3, 10)):
        slots = ("a", "b")[: rng.choice((0, 0, 1, 1, 2))]
        brought = [fact for row in rows for fact in row[3]]
        needs = sorted({needed(rng, slots, brought) for _ in range(rng.randint(1, 3) if i else 0)})
        brings = [fact_of(rng, slots, 0.0)] + [fact_of(rng, slots, 0.8) for _ in range(rng.choice((0, 0, 1, 2)))]
        rows.append((f"do_{i}", slots, needs, sorted(set(brings)), rng.randint(1, 30)))
    lines = ["version: 1", "skills: made_up", "impl: world", "kinds:"]
    acts: dict[str, Act] = {}
    for name, slots, needs, brings, takes in rows:
        sentence = " ".join([name, *(f"{{{slot}}}" for slot in slots)])
        params = "".join(f", {slot}: {{type: string, choices: [cup, jar, box]}}" for slot in slots)[2:]
        lines += [f"  {name}:", f"    sentence: {sentence!r}", f"    params: {{{params}}}", f"    takes: {takes}"]
        lines += [f"    needs: {needs!r}", f"    brings: {brings!r}", "    on_resume: repeat"]
        for values in product(THINGS, repeat=len(slots)):
            said = dict(zip(slots, values, strict=True))
            acts[sentence.format(**said)] = Act(
                frozenset(each.format(**said) for each in needs), tuple(each.format(**said) for each in brings)
            )
    known = {fact_of(rng, (), 0.0) for _ in range(rng.randint(0, 1))}
    known |= {rng.choice(OF_ONE).format(x=rng.choice(THINGS)) for _ in range(rng.randint(0, 1))}
    last = [fact for sentence, act in acts.items() if sentence.startswith(rows[-1][0]) for fact in act.brings]
    of_skills = [fact for act in acts.values() for fact in act.brings]
    goal = tuple(dict.fromkeys([rng.choice(last), *(rng.choice(of_skills) for _ in range(rng.randint(0, 2)))]))
    text = "\n".join(lines) + "\n"
    read = manifest.parse(text)
    assert not read.diagnostics, read.diagnostics
    return Case(text, tuple(read.kinds), acts, frozenset(known), goal)


def true(fact: str, state: frozenset[str]) -> bool:
    return fact[4:] not in state if fact[:4] == "not " else fact in state


def done(act: Act, state: frozenset[str]) -> frozenset[str]:
    gone = {fact[4:] for fact in act.brings if fact[:4] == "not "}
    return (state - gone) | {fact for fact in act.brings if fact[:4] != "not "}


def reachable(made: Case, most: int = 60_000) -> bool | None:
    """Breadth first over all states; None where there are too many of them."""
    seen, todo = {made.given}, [made.given]
    while todo:
        following = []
        for state in todo:
            if all(true(fact, state) for fact in made.goal):
                return True
            for act in made.acts.values():
                if all(true(fact, state) for fact in act.needs):
                    then = done(act, state)
                    if then not in seen:
                        seen.add(then)
                        following.append(then)
        if len(seen) > most:
            return None
        todo = following
    return False


class MadeUpWorld:
    """Does what the manifests say, and refuses what lacks its needs. `blind`: it tells no facts."""

    instant = True

    def __init__(self, made: Case, blind: bool = False) -> None:
        self.made, self.state, self.blind = made, made.given, blind
        self.refused: list[str] = []
        self.acted: list[str] = []

    def act(self, sentence: str) -> Observation:
        act = self.made.acts[sentence]
        if not all(true(fact, self.state) for fact in act.needs):
            self.refused.append(sentence)
            return Observation("not now", False, "it lacks something")
        self.state = done(act, self.state)
        self.acted.append(sentence)
        return Observation("done")

    def holds(self, fact: str) -> bool | None:
        return None if self.blind else true(fact, self.state)

    def skills(self) -> Any:
        return tuple(self.made.acts)

    def reached(self) -> bool:
        return all(true(fact, self.state) for fact in self.made.goal)
