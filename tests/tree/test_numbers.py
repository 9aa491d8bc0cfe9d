"""Numbers that are none, or are no time at all, end in a fault or in a wait that can be ended; never in a loop."""

from __future__ import annotations

import math

import pytest

from bt_runtime import Run, load
from bt_runtime.clock import Manual, Monotonic
from bt_runtime.testing import FAILURE, RUNNING
from bt_runtime.tree.clock import LONGEST, Alarm

NODES = {
    "wait": "wait: '{x}'",
    "delay": "delay: {seconds: '{x}', child: {succeed: {}}}",
    "timeout": "timeout: {seconds: '{x}', child: {wait: 1}}",
    "rate": "rate: {hz: '{x}', child: {succeed: {}}}",
    "repeat": "repeat: {times: '{x}', child: {succeed: {}}}",
    "retry": "retry: {times: '{x}', child: {fail: no}}",
    "for_all": "for_all: {in: [1], as: n, at_once: '{x}', child: {succeed: {}}}",
}


def run_of(root: str, x: object) -> Run:
    made = Run(
        load(f"version: 1\ntree: t\nblackboard: {{x: {{type: any, default: 0}}}}\nroot:\n  {root}\n"), clock=Manual()
    )
    made.blackboard["x"] = x
    return made


@pytest.mark.parametrize("kind", NODES)
def test_not_a_number_is_a_fault_of_the_node_that_takes_a_number(kind: str) -> None:
    with run_of(NODES[kind], math.nan) as run:
        assert run.tick().status is FAILURE
        assert f"{math.nan}" in run.parts.context.crashes[-1].message


@pytest.mark.parametrize("x", [math.inf, 1e308, -math.inf, -5, 10**40])
@pytest.mark.parametrize("kind", NODES)
def test_any_other_number_ends_or_waits_and_can_be_halted(kind: str, x: float) -> None:
    with run_of(NODES[kind], x) as run:
        for _ in range(20):
            if not run.tick().running:
                return
        assert run.parts.engine.root.status is RUNNING
        assert run.halt("enough") > 0


def test_a_copy_grows_although_fewer_than_none_may_run_at_once() -> None:
    with run_of(NODES["for_all"], -5) as run:
        assert run.spin(ticks=10) is not RUNNING
        assert run.parts.engine.root.status.name == "SUCCESS"


def test_a_wait_beyond_what_the_system_can_count_is_cut_and_asked_again() -> None:
    class Rung(Alarm):
        def wait(self, seconds: float | None = None) -> None:
            assert seconds == LONGEST

    Monotonic().wait(Rung(), 1e308)


def test_no_number_written_again_stirs_nothing() -> None:
    root = "reactive_sequence: [set: {x: \"{float('nan')}\"}, wait: 9]"
    with run_of(root, math.nan) as run:
        run.tick()
        assert run.tick().due > 0
        assert run.tick().due > 0
