"""Scripts for the scripted model, made of what the worlds' oracles do. They show the mechanics, not a mind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from bt_runtime.plugins import open_suite
from bt_runtime.types import Question, Task
from recipes.starter.house import teacher as house
from recipes.starter.lesson import sentences
from recipes.starter.seen import read

Script = Callable[[Question], str]
_TASK = re.compile(r"^Your task is to: (.*)$", re.MULTILINE)


def goal_of(prompt: str) -> str:
    """The goal of the agent that is asking."""
    return _TASK.findall(prompt)[-1]


def ways(tasks: Iterable[Task], suite: str) -> dict[str, list[str]]:
    """What the oracle does for each goal, `done` at the end."""
    found, made = {}, open_suite(suite)
    for task in tasks:
        world = made.open()
        world.reset(task)
        found[task.goal] = []
        for sentence in made.oracle(world, task):
            found[task.goal].append(sentence)
            world.act(sentence)
        found[task.goal].append("done")
    return found


def judged(script: Script) -> Script:
    """Whoever judges what it did finds that all is well."""

    def answer(ask: Question) -> str:
        if ask.prompt.startswith("You judge whether a goal is met"):
            return " yes" if ask.kind == "choose" else " Nothing is missing."
        return script(ask)

    return answer


def acting(said: Iterable[str]) -> Script:
    """One agent does it all: a thought, the sentences one after the other, done."""

    def lines() -> Iterator[str]:
        yield "Think: I know what to do."
        for sentence in said:
            yield f"Act: {sentence}"
        yield "Act: done"

    made = lines()
    return lambda ask: next(made)


def taught(ask: Question) -> str:
    """What the teacher of the starter's lessons says in the house: it thinks, acts, expands and recalls."""
    return house.teacher(read(ask.prompt), sentences(ask))


def parts_of(sentences: list[str], size: int = 10) -> list[list[str]]:
    """The oracle's way cut into at least two parts."""
    size = min(size, max(1, len(sentences) // 2))
    return [sentences[i : i + size] for i in range(0, len(sentences), size)]


def planning(sentences: list[str], goal: str) -> Script:
    """An executor that gives up on the whole goal, a planner that cuts it into parts, executors that do the parts."""
    parts = {f"do part {i} of the work": part for i, part in enumerate(parts_of(sentences), 1)}
    left = {name: iter([*(f"Act: {s}" for s in part), "Act: done"]) for name, part in parts.items()}

    def answer(ask: Question) -> str:
        if ask.kind == "write":
            steps = "\n".join(f"Step {i}: {name}" for i, name in enumerate(parts, 1))
            order = " AND ".join(f"Step {i}" for i in range(1, len(parts) + 1))
            return f" the parts one after another.\n{steps}\nExecution Order: ({order})"
        asking = goal_of(ask.prompt)
        return "Act: failure" if asking == goal else next(left[asking])

    return answer


def expanding(sentences: list[str]) -> Script:
    """An agent that expands into parts, and agents like itself that do them."""
    parts = parts_of(sentences)

    def lines() -> Iterator[str]:
        yield "Think: This is too much at once."
        yield "Expand:\n" + "\n".join(["sequence:", *(f"- do part {i} of the work" for i in range(1, len(parts) + 1))])
        for part in parts:
            yield from (f"Act: {sentence}" for sentence in part)
            yield "Act: done"

    made = lines()
    return lambda ask: next(made)
