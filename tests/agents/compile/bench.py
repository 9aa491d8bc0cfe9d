"""A bench at which one place is serviced by a rule that is made up: which act follows which depends on what the acts
before it were answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from bt_runtime.agents.compile.trace import Act, Life, Trace
from bt_runtime.types import Observation, Task, Verdict

PLACES = ("shelf", "drawer", "fridge", "lamp")
VERBS = ("open", "close", "use", "examine")
STATES = ("dry", "wet", "worn out")
UNSEEN = "gone"
SOLO = 'version: 1\ntree: solo\nskills: [alfworld]\nroot:\n  agent: {goal: "{goal}", moves: [think, act]}\n'


class Told(NamedTuple):
    """Holds when the act number `of` was answered one of these states."""

    of: int
    states: frozenset[str]


class Rule(NamedTuple):
    """Each act with the test that it is behind, None for none, and where a run may end: after `end[0]` acts of the
    list, unless the test holds."""

    acts: Sequence[tuple[str, Told | None]]
    end: tuple[int, Told] | None
    either: bool  # where a test fails, another act is done instead


def rule(rng: Random, hidden: bool = False) -> Rule:
    """Makes a rule up. `hidden`: its tests ask for answers that are not the last one."""
    acts: list[tuple[str, Told | None]] = [(VERBS[0], None)]
    either = rng.random() < 0.3
    for at, verb in enumerate(VERBS[1 : 3 if either else rng.randint(2, 4)], 1):
        before = acts[-1][1] is None
        test = _test(rng, at - (2 if hidden and at > 1 else 1)) if before and rng.random() < 0.7 else None
        acts.append((verb, test))
    ends = [at for at in range(1, len(acts)) if acts[at - 1][1] is None and acts[at][1] is None]
    end = (rng.choice(ends), None) if ends and rng.random() < 0.7 else None
    return Rule(acts, (end[0], _test(rng, end[0] - (2 if hidden and end[0] > 1 else 1))) if end else None, either)


def _test(rng: Random, of: int) -> Told:
    return Told(of, frozenset(rng.sample(STATES, rng.randint(1, 2))))


class Bench:
    """All acts are possible at any time. An answer tells the state of what was touched, among other things."""

    instant = True

    def __init__(self, made: Rule, seed: int, states: Sequence[str] = STATES) -> None:
        rng = Random(seed)
        self.made, self.place, self.done = made, rng.choice(PLACES), list[str]()
        self.states = [rng.choice(states) for _ in VERBS]
        self.rest = [rng.choice(("It rains.", "The sun shines.", "A bird sings.")) for _ in VERBS]
        self.count = [rng.randint(1, 9) for _ in VERBS]
        self.task = Task(f"bench-{seed}", "bench", f"service the {self.place}", {})

    def look(self) -> Observation:
        return Observation("You stand at a bench.")

    def skills(self) -> list[str]:
        return [f"{verb} {self.place} 1" for verb in (*VERBS, "go to")]

    def act(self, sentence: str) -> Observation:
        at = VERBS.index(sentence.split()[0])
        self.done.append(sentence)
        told = f"{self.count[at]} parts were touched.\n{self.rest[at]} State of the {self.place}: {self.states[at]}."
        return Observation(f"{told}\nTime: {self.count[at]}:30")

    def verdict(self) -> Verdict:
        return Verdict(1, 1)

    def close(self) -> None:
        """Nothing is open."""

    def wanted(self) -> Iterator[str]:
        """The acts that the rule asks for."""
        for at, (verb, test) in enumerate(self.made.acts):
            if self.made.end is not None and self.made.end[0] == at and not self.holds(self.made.end[1]):
                return
            if test is None or self.holds(test):
                yield f"{verb} {self.place} 1"
            elif self.made.either:
                yield f"{VERBS[3]} {self.place} 1"

    def holds(self, test: Told) -> bool:
        return self.states[test.of] in test.states


def trace(made: Rule, seed: int) -> Trace:
    """A run of an agent that keeps the rule."""
    world = Bench(made, seed)
    acts: list[Act] = []
    heard = ""
    for sentence in world.wanted():
        answer = world.act(sentence).text
        acts.append(Act(sentence, answer, True, tuple(world.skills()), heard))
        heard = answer
    life = Life("/", world.task.goal, [*acts], "done", offered=tuple(world.skills()), heard=heard)
    return Trace(world.task.id, world.task.id, "bench", life.goal, True, "solo", 0, [life], SOLO, skills=("alfworld",))
