"""Scripts for the scripted model, made of what the worlds' oracles do. They show the mechanics, not a mind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from bt_runtime.envs.trajectory import Act, Enter, Expand, Leave, Move, Recall, Think

Script = Callable[[Mapping[str, Any]], str]
_TASK = re.compile(r"^Your task is to: (.*)$", re.MULTILINE)


def goal_of(prompt: str) -> str:
    """The goal of the agent that is asking."""
    return _TASK.findall(prompt)[-1]


def acting(sentences: Iterable[str]) -> Script:
    """One agent does it all: a thought, the sentences one after the other, done."""

    def lines() -> Iterator[str]:
        yield "Think: I know what to do."
        for sentence in sentences:
            yield f"Act: {sentence}"
        yield "Act: done"

    made = lines()
    return lambda ask: next(made)


def growing(moves: Iterable[Move], recall: bool = True) -> Script:
    """The oracle's own reasoning in ReAcTree's form: think, act, expand, one agent node after another."""

    def lines() -> Iterator[str]:
        expanded = [False]
        for move in moves:
            if isinstance(move, Think):
                yield f"Think: {move.text}"
            elif isinstance(move, Act) or (isinstance(move, Recall) and recall):
                yield f"Act: {move.sentence}"
            elif isinstance(move, Expand):
                expanded[-1] = True
                yield "Expand:\n" + "\n".join([f"{move.control}:", *(f"- {goal}" for goal in move.subgoals)])
            elif isinstance(move, Enter):
                expanded.append(False)
            elif isinstance(move, Leave) and not expanded.pop():
                yield f"Act: {'done' if move.ended == 'success' else 'failure'}"
        yield "Act: done"

    made = lines()
    return lambda ask: next(made)


def planning(sentences: Iterable[str], goal: str, size: int = 4, fails: bool = True) -> Script:
    """An executor that gives up on the whole goal, a planner that cuts it into parts, executors that do the parts.

    The parts are cut from what the oracle does next; the last one goes on to the end.
    """
    left = iter(sentences)
    parts = 3
    given: dict[str, int] = {}

    def answer(ask: Mapping[str, Any]) -> str:
        asking = goal_of(ask["prompt"])
        if ask["kind"] == "write":
            steps = "\n".join(f"Step {i}: do part {i} of the work" for i in range(1, parts + 1))
            order = " AND ".join(f"Step {i}" for i in range(1, parts + 1))
            return f" the parts one after another.\n{steps}\nExecution Order: ({order})"
        if asking == goal and fails:
            return "Act: failure"
        given[asking] = given.get(asking, 0) + 1
        last = asking == f"do part {parts} of the work"
        if given[asking] > size and not last:
            return "Act: done"
        sentence = next(left, None)
        return "Act: done" if sentence is None else f"Act: {sentence}"

    return answer
