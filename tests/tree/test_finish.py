"""Every end of a step notes the same things, also where `Node.finish` is left out because nothing has changed."""

from __future__ import annotations

from typing import Any

import pytest

import bt_runtime as bt
from bt_runtime import Node
from bt_runtime.clock import Manual
from bt_runtime.events import Tick

ANSWERS: list[Any] = [bt.Status.SUCCESS, bt.Status.FAILURE, bt.Status.FAILURE, ValueError("broke"), bt.Status.SUCCESS,
                      ValueError("broke"), ValueError("again"), bt.Status.FAILURE]  # fmt: skip


def answer(left: list[Any]) -> bt.Status:
    value = left.pop(0)
    if isinstance(value, Exception):
        raise value
    status: bt.Status = value
    return status


def leaf(form: str, left: list[Any]) -> Any:
    @bt.skill(name="leaf")
    class Plain(bt.Skill):
        def start(self) -> None: ...

        def poll(self) -> bt.Status:
            return answer(left)

    @bt.skill(name="leaf", instant=True)
    def instant() -> bt.Status:
        return answer(left)

    return instant if form == "instant" else Plain


def noted(form: str, watched: bool, visited: bool = True) -> list[Any]:
    """What each tick of one leaf notes: changes, what it says, crashes, visits."""
    left, told = [*ANSWERS], list[Any]()
    tree = bt.load("version: 1\ntree: t\nroot:\n  fallback: [leaf: {}, succeed: {}]\n", skills=[leaf(form, left)])
    with bt.Run(tree, clock=Manual(), slow=None) as run:
        node: Any = run.parts.engine.root.children[0]
        if form == "node":
            node.step = lambda: Node.step(node)
        if form == "finish":

            def finishing() -> bt.Status:
                try:
                    node.initialise()
                    status = node.update()
                except Exception as error:
                    status = node.crashed(error)
                return node.finish(node.terminated(status))

            node.step = finishing
        if watched:
            run.listen(told.append, Tick)
        for _ in ANSWERS:
            visits: list[Any] = []
            run.parts.context.visits = visits if visited else None
            tick = run.tick()
            changes = [(each.name, status.name) for each, status in tick.changes]
            said = node.feedback_message if node.feedback_message in ("broke", "again") else ""
            told.append(
                (changes, node.status.name, len(tick.crashes), [each.name for each in visits], said, node.broke)
            )
    return [each for each in told if isinstance(each, tuple) and not isinstance(each, Tick)]


@pytest.mark.parametrize("visited", [False, True])
@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("form", ["instant", "node", "plain"])
def test_every_way_to_end_a_step_notes_the_same(form: str, watched: bool, visited: bool) -> None:
    assert noted(form, watched, visited) == noted("finish", watched, visited)
