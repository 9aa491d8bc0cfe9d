"""Lessons with skills that are nobody's: what an agent can do is told by its prompt alone (`benches.py`).

After a look a thought goes through the things in the order in which they were told, until one has to go somewhere; that
one is taken there, and the next thought goes on behind it. When there is nothing left, it says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from random import Random

from bt_runtime.run.run import Tree, load
from bt_runtime.types import Task
from recipes.starter.exercise import Exercise
from recipes.starter.lesson import Slips, Taught
from recipes.starter.own_skills.benches import make_bench
from recipes.starter.own_skills.skills import Bench, Site
from recipes.starter.seen import Seen

_TREE = """
version: 1
tree: bench
inputs: {{goal: {{type: string}}}}
root:
  tree: {{file: {file}, with: {{goal: "{{goal}}"}}}}
"""
_STRATEGIES = ("reactree",) * 5 + ("react",) * 4 + ("adapt",)
_SLIPPING, _SLIPS = 0.25, 0.08  # lessons with slips, and of their decisions; never a sentence that is begun only
_INSTRUCT = 0.05  # in the other register
ALL = "that is all"
_STAYS = "here"


def lessons(seed: int, count: int, first: int = 0) -> Iterator[Taught]:
    """So many benches; the same numbers give the same lessons."""
    for exercise, _ in _exercises(seed, count, first, _STRATEGIES):
        taught = exercise.taught()
        if taught.verdict.met:
            yield taught


def exercises(seed: int, count: int, first: int = 0) -> Iterator[tuple[Exercise, Random]]:
    """To be tried: by an agent alone, whose goal is always the whole one."""
    return _exercises(seed, count, first, ("react",))


def _exercises(seed: int, count: int, first: int, strategies: Sequence[str]) -> Iterator[tuple[Exercise, Random]]:
    for number in range(first, first + count):
        rng = Random(f"bench lesson {seed} {number}")
        bench, name = make_bench(rng), rng.choice(strategies)
        if bench.asked.missing and name == "adapt":
            name = "react"  # what is not there cannot be planned either
        made = exercise(bench, name, f"bench-{seed}-{number}", "instruct" if rng.random() < _INSTRUCT else "")
        slips = Slips(_SLIPS, rng) if not bench.open and rng.random() < _SLIPPING else None
        yield made._replace(slips=slips), rng


def exercise(bench: Bench, name: str, number: str, prompts: str = "") -> Exercise:
    task = Task(number, "bench", bench.asked.goal, {})
    return Exercise(f"bench {name}", tree(name, bench), bench, task, partial(teacher, bench=bench), prompts=prompts)  # type: ignore[arg-type]


def tree(name: str, bench: Site) -> Tree:
    return load(_TREE.format(file=name), skills=tuple(bench.skills))


def teacher(seen: Seen, sentences: Sequence[str], bench: Bench) -> str:
    """The next line."""
    asked = bench.asked
    if asked.first and asked.first not in bench.done:
        return f"Act: {asked.first}"
    if asked.wanted or asked.missing:
        line = _sorting(seen, bench)
        if line:
            return line
    if asked.last and asked.last not in bench.done:
        return f"Act: {asked.last}"
    return "Act: failure" if asked.missing else "Act: done"


def _sorting(seen: Seen, bench: Bench) -> str:
    """Of bringing things to their places; nothing when there is nothing left."""
    wanted, ways = bench.asked.wanted, bench.ways
    if ways.look and ways.look not in bench.done:
        return f"Act: {ways.look}"
    if bench.held:
        place = wanted.get(bench.held, "")
        return f"Act: {ways.put.format(p=place)}" if place else "Act: failure"
    thought = "\n".join(step.text for step in seen.steps if step.move == "think")
    told = [thing for thing in bench.things if _said_of(thing, thought) == wanted.get(thing, _STAYS)]
    left = [thing for thing in told if thing in wanted and bench.at.get(thing) != wanted[thing]]
    if left:
        return f"Act: {ways.take.format(o=left[-1], p=wanted[left[-1]])}"
    return "" if ALL in thought else _judged([thing for thing in bench.things if thing not in told], bench)


def _said_of(thing: str, thought: str) -> str:
    """Where it goes by what was thought of it last."""
    said = re.findall(rf"(?:^|, ){re.escape(thing)} (?:goes to ([^,.\n]*)|stays)", thought, re.MULTILINE)
    return str(said[-1] or _STAYS) if said else ""


def _judged(things: Sequence[str], bench: Bench) -> str:
    """One after the other, until one has to go."""
    said = []
    for thing in things:
        place = bench.asked.wanted.get(thing)
        said.append(f"{thing} goes to {place}" if place else f"{thing} stays")
        if place:
            return f"Think: {', '.join(said)}."
    end = f", no {bench.asked.missing} is here" if bench.asked.missing else ""
    end = f", now {bench.asked.last}" if bench.asked.last else end
    return f"Think: {', '.join([*said, ALL])}{end}."
