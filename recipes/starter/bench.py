"""Lessons with skills that are nobody's: what an agent can do is told by its prompt alone.

A bench has things, places and skills with slots, all made up, and a goal that asks for them in other words. After a
look one thought says of each thing where it goes, in the order in which the things were told; each act takes the next.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any, ClassVar

from bt_runtime import Status
from bt_runtime.run.run import Tree, load
from bt_runtime.skills.skill import Skill, skill
from bt_runtime.types import Observation, Task, Verdict
from recipes.starter import data
from recipes.starter.lesson import Taught, teach
from recipes.starter.seen import Seen

_TREE = """
version: 1
tree: bench
inputs: {{goal: {{type: string}}}}
root:
  tree: {{file: {file}, with: {{goal: "{{goal}}"}}}}
"""
_SHAPES = (("pair", 3), ("rest", 4), ("all", 2), ("one", 4), ("other", 4))


@dataclass(frozen=True)
class Bench:
    """What there is, and what is wanted: things with their places in the order in which they are told."""

    goal: str
    look: str
    take: str  # with {o}; with {p} too where nothing is put
    put: str  # with {p}, or nothing
    wanted: tuple[tuple[str, str], ...]
    other: str  # the one sentence that is wanted instead
    skills: tuple[Any, ...]
    done: list[str]  # what was done, sentence after sentence

    judges: ClassVar[bool] = True  # it is no world: the skills are the agent's own

    def acts(self) -> list[str]:
        """All that is to be done, in order."""
        if self.other:
            return [self.other]
        each = [(self.take.format(o=thing, p=place), self.put.format(p=place)) for thing, place in self.wanted]
        return [self.look, *(act for pair in each for act in pair if act)]

    def reset(self, task: Task) -> Observation:
        self.done.clear()
        return Observation("")

    def verdict(self) -> Verdict:
        return Verdict(int(self.done == self.acts()), 1)


def lessons(seed: int, count: int, first: int = 0) -> Iterator[Taught]:
    """So many benches; the same numbers give the same lessons."""
    for number in range(first, first + count):
        rng = Random(f"bench lesson {seed} {number}")
        bench, name = make_bench(rng), rng.choice(("reactree", "reactree", "react"))
        task = Task(f"bench-{seed}-{number}", "bench", bench.goal, {})
        taught = teach(_tree(name, bench), bench, task, partial(teacher, bench=bench), kind=f"bench {name}")  # type: ignore[arg-type]
        if taught.verdict.met:
            yield taught


def _tree(name: str, bench: Bench) -> Tree:
    return load(_TREE.format(file=name), skills=bench.skills)


def teacher(seen: Seen, sentences: Sequence[str], bench: Bench) -> str:
    """The next line: a thought once it has looked, and then one act after the other."""
    done = [step.text for step in seen.steps if step.move == "act"]
    left = bench.acts()[len(done) :]
    if len(done) == 1 and not bench.other and not any(step.move == "think" for step in seen.steps):
        return f"Think: {', '.join(f'{thing} goes to {place}' for thing, place in bench.wanted)}."
    return f"Act: {left[0]}" if left else "Act: done"


# How benches are made up --------------------------------------------------------------------------------


def make_bench(rng: Random) -> Bench:
    words = data.read("bench_words")
    noun = _named(rng.choice(words["nouns"]), rng)
    things = [_named(f"{colour} {noun}", rng, 0.0) for colour in rng.sample(words["colours"], rng.randint(1, 5))]
    places = [_named(place, rng, 0.1) for place in rng.sample(words["places"], rng.randint(2, 3))]
    shape = rng.choices([name for name, _ in _SHAPES], [often for _, often in _SHAPES])[0]
    if shape in ("pair", "rest") and len(things) < 2:
        shape = "one"
    done: list[str] = []
    look, take, put, skills = _skills(words, rng, things, places, done)
    others = rng.sample(words["others"], rng.randint(2, 5))
    skills += [_skill(said, about, "", {}, done) for said, about, _ in others]
    rng.shuffle(skills)
    if shape == "other":
        return Bench(rng.choice(others[0][2]), look, take, put, (), others[0][0], tuple(skills), done)
    goal, wanted = _asked(words, rng, shape, things, places, f"{noun}s")
    return Bench(goal, look, take, put, wanted, "", tuple(skills), done)


def _named(name: str, rng: Random, strange: float = 0.25) -> str:
    """At times it is called by a word that nobody knows."""
    if rng.random() >= strange:
        return name
    word = "".join(rng.choices(data.read("bench_words")["syllables"], k=rng.randint(2, 3)))
    return " ".join([*name.split()[:-1], word])


def _asked(
    words: dict[str, Any], rng: Random, shape: str, things: list[str], places: list[str], plural: str
) -> tuple[str, tuple[tuple[str, str], ...]]:
    named = rng.sample(things, min(2, len(things)))
    s, t = rng.sample(places, 2)
    slots = {"a": named[0], "b": named[-1], "s": s, "t": t, "n": plural, "in": rng.choice(words["in"])}
    goal = str(rng.choice(words[shape])).format(**slots)
    belongs = {
        "one": {named[0]: s},
        "pair": {named[0]: s, named[-1]: t},
        "rest": {thing: s if thing == named[0] else t for thing in things},
        "all": dict.fromkeys(things, s),
    }[shape]
    said = goal[:1].upper() + goal[1:] + "." if rng.random() < 0.3 else goal
    return said, tuple((thing, belongs[thing]) for thing in things if thing in belongs)


def _skills(
    words: dict[str, Any], rng: Random, things: list[str], places: list[str], done: list[str]
) -> tuple[str, str, str, list[Any]]:
    o, p = (rng.choice(words["slots"][slot]) for slot in ("o", "p"))
    look, about = rng.choice(words["look"])
    look = look.format(where=rng.choice(words["where"]))
    told = {f"{o}s": things, _plural(p): places}
    made = [_skill(look, about, "", {}, done, told)]
    sources = {o: f"{o}s", p: _plural(p)}
    slots = {"o": f"{{{o}}}", "p": f"{{{p}}}"}
    chosen = [rng.choice(words["carry"])] if rng.random() < 0.3 else [rng.choice(words[w]) for w in ("take", "put")]
    for sentence, what, says in chosen:
        said = sentence.format(**slots)
        used = {slot: source for slot, source in sources.items() if f"{{{slot}}}" in said}
        made.append(_skill(said, what, says.format(**slots), used, done))
    take, put = chosen[0][0], chosen[1][0] if chosen[1:] else ""
    return look, take, put, made


def _plural(name: str) -> str:
    return f"{name}es" if name.endswith("x") else f"{name}s"


def _skill(
    sentence: str, about: str, says: str, sources: dict[str, str], done: list[str], told: dict[str, Any] | None = None
) -> type[Skill]:
    """One that writes down that it was done, and tells what there is."""

    def start(self: Skill, **given: str) -> None:
        done.append(sentence.format(**given))
        self.result = told

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    slots = [inspect.Parameter(name, kind, annotation=str) for name in sources]
    start.__signature__ = inspect.Signature(slots)  # type: ignore[attr-defined]
    start.__annotations__ = dict.fromkeys(sources, str)
    name = "_".join(sentence.replace("{", "").replace("}", "").split())
    body = {"start": start, "poll": lambda self: Status.SUCCESS, "__doc__": about}
    outputs = dict.fromkeys(told or (), list)
    return skill(sentence, name=name, sources=sources, says=says, outputs=outputs)(type("Made", (Skill,), body))
