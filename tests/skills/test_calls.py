"""What a tick calls for a leaf that a user wrote: little besides the leaf's own code."""

from __future__ import annotations

import gc
import sys

import pytest

from bt_runtime import Run, Skill, Status, load, skill
from bt_runtime.events import Tick

RUNNING, SUCCESS = Status.RUNNING, Status.SUCCESS


class AtOnce(Skill):
    def start(self):
        pass

    def poll(self):
        return SUCCESS


class Going(Skill):
    def start(self):
        pass

    def poll(self):
        return RUNNING


class Turning(Skill):
    def start(self, speed=1):
        pass

    def poll(self):
        return RUNNING


@skill(condition=True)
def steady():
    return True


@skill(condition=True)
def near(metres: int):
    return metres < 100


def calls(tree, *skills):
    """Python functions that the third tick enters."""
    seen = []

    def enter(frame, event, arg):
        if event == "call":
            seen.append(frame.f_code.co_name)

    with Run(load(tree, skills=skills), slow=None) as run:
        run.tick()
        run.tick()
        gc.disable()  # what others left to be collected is none of the tick's
        sys.setprofile(enter)
        try:
            run.tick()
        finally:
            sys.setprofile(None)
            gc.enable()
    return len(seen)


def beside(count, kind, leaf):
    return f"version: 1\ntree: t\nroot:\n  {kind}:\n" + f"    - {leaf}\n" * count


@pytest.mark.parametrize(
    ("kind", "leaf", "skill", "each"),
    [
        ("sequence", "at_once: {}", AtOnce, 3),  # the node's step, start, poll
        ("parallel", "going: {}", Going, 2),
        ("parallel", "turning: {speed: 3}", Turning, 2),
        ("sequence", "steady: {}", steady, 2),
        ("sequence", "near: {metres: 3}", near, 2),
    ],
)
def test_a_leaf_costs_one_call_besides_its_own(kind, leaf, skill, each):
    assert calls(beside(30, kind, leaf), skill) - calls(beside(10, kind, leaf), skill) == 20 * each


def test_a_chain_that_waits_for_its_leaf_costs_no_call_however_deep_it_is():
    def chain(depth):
        return "version: 1\ntree: t\nroot:\n  " + "{sequence: [" * depth + "going: {}" + "]}" * depth + "\n"

    assert calls(chain(100), Going) == calls(chain(2), Going)


def test_a_skill_that_begins_to_speak_or_ends_while_it_runs_is_heard_at_that_tick():
    class Walking(Skill):
        def start(self):
            self.steps = 0

        def poll(self):
            self.steps += 1
            self.feedback = f"step {self.steps // 2}"
            return RUNNING if self.steps < 4 else SUCCESS

    heard: list[list[str]] = []
    said = []
    with Run(load("version: 1\ntree: t\nroot:\n  walking: {}\n", skills=[Walking])) as run:
        while run.tick().running:  # before anybody listens
            pass
        run.listen(lambda tick: heard.append([text for _, text in tick.said]), Tick)
        said += [(run.tick().status, run.parts.engine.root.feedback_message) for _ in range(4)]
    assert said == [(RUNNING, "step 0"), (RUNNING, "step 1"), (RUNNING, "step 1"), (SUCCESS, "step 2")]
    assert heard == [["step 0"], ["step 1"], [], ["step 2"]]
