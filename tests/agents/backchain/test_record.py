"""What a success is expected to take: one formula for plans and for a fleet's bids."""

from __future__ import annotations

from pathlib import Path

import pytest

from bt_runtime.agents.backchain.offered import costed
from bt_runtime.agents.backchain.operator import Operator
from bt_runtime.agents.backchain.planning import planned
from bt_runtime.agents.backchain.record import Record, expected

ATTEMPTS = [(30.0, True), (50.0, False), (10.0, True)]


def test_a_robot_s_bid_and_a_plan_s_cost_are_the_same_for_the_same_attempts(tmp_path: Path) -> None:
    """Seconds of all attempts over the successes, with the manifest's `takes` as one more success."""
    pytest.importorskip("nats", reason="the fleet's packages")
    from bt_fleet.robot.held import Held

    held = Held(tmp_path / "held.db")
    for seconds, success in ATTEMPTS:
        held.took("walk", seconds, success)
    record = Record(sum(seconds for seconds, _ in ATTEMPTS), len(ATTEMPTS), sum(success for _, success in ATTEMPTS))
    assert held.expected("walk", 60) == record.cost(60) == expected(90, 2, 60) == 50
    held.close()


def test_records_turn_a_plan_to_the_way_that_succeeds_more_often() -> None:
    """By the manifests driving is cheaper; it failed four times of five."""
    every = [Operator("walk", {}, (), ("here",), 60), Operator("drive", {}, (), ("here",), 20)]
    assert [s.skill for s in planned(["here"], every).steps] == ["drive"]
    known = costed(every, {"drive": Record(500, 5, 1), "walk": Record(100, 2, 2)})
    found = planned(["here"], known)
    assert [s.skill for s in found.steps] == ["walk"]
    assert "instead of drive (with what it needs 260 s)" in found.reasons()[0]
