"""Lessons with made-up skills that each do something (`panel_goals.py`); a thought tells what is done and left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from random import Random

from bt_runtime.types import Task
from recipes.starter.exercise import Exercise
from recipes.starter.lesson import Taught
from recipes.starter.own_skills.lessons import tree
from recipes.starter.own_skills.panel_goals import make_panel
from recipes.starter.own_skills.panels import Panel
from recipes.starter.seen import Seen

_STRATEGIES = ("reactree",) * 4 + ("react",) * 5 + ("adapt",)
_INSTRUCT = 0.05  # in the other register


def lessons(seed: int, count: int, first: int = 0) -> Iterator[Taught]:
    """So many panels; the same numbers give the same lessons."""
    for made, _ in panel_exercises(seed, count, first, _STRATEGIES):
        taught = made.taught()
        if taught.verdict.met:
            yield taught


def exercises(seed: int, count: int, first: int = 0) -> Iterator[tuple[Exercise, Random]]:
    """To be tried by an agent alone, whose goal is always the whole one."""
    return panel_exercises(seed, count, first, ("react",))


def panel_exercises(
    seed: int, count: int, first: int, strategies: Sequence[str], held: bool = False
) -> Iterator[tuple[Exercise, Random]]:
    for number in range(first, first + count):
        rng = Random(f"panel lesson {seed} {number}")
        panel, name = make_panel(rng, held), rng.choice(strategies)
        task = Task(f"panel-{seed}-{number}", "panel", panel.goal, {})
        prompts = "instruct" if rng.random() < _INSTRUCT else ""
        teaches = partial(teacher, panel=panel)
        yield Exercise(f"panel {name}", tree(name, panel), panel, task, teaches, prompts=prompts), rng  # type: ignore[arg-type]


def teacher(seen: Seen, sentences: Sequence[str], panel: Panel) -> str:
    """The next line: behind the last one that was answered. An act that was done without its thought counts too."""
    at = 0
    for step in seen.steps:
        said = f"{step.move.capitalize()}: {step.text}"
        if said == panel.lines[at]:
            at += 1
        elif step.move == "act" and panel.lines[at].startswith("Think: ") and said == panel.lines[at + 1]:
            at += 2
        at = min(at, len(panel.lines) - 1)
    return panel.lines[at]
