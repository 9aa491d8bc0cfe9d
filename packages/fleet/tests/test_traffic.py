"""Fifty vehicles on single lanes: no two in one place, and no deadlock that is not told. `make fleet ONLY=traffic`
drives 10,000 crossings."""

from __future__ import annotations

import pytest

from packages.fleet.tests.traffic import Plan, Traffic, grid


@pytest.mark.parametrize("seed", [0, 1])
def test_no_two_vehicles_are_in_one_place_and_every_deadlock_is_told(seed: int) -> None:
    """Also with kills, cuts, breakdowns in the middle of a lane, late writes, and wrecks that a person tows away."""
    found = Traffic(Plan(crossings=400, kills=0.002, cuts=0.002, stops=0.01, seed=seed)).run()
    assert found.sound, found
    assert found.told
    assert {"kills", "cuts", "breakdowns", "wrecks"} <= {*found.misfortunes}


def test_the_world_finds_a_vehicle_that_stands_where_another_one_may() -> None:
    """A vehicle that gives back what it holds after a breakdown is found out."""

    class Tidy(Traffic):
        def stop(self, car) -> None:  # type: ignore[no-untyped-def]
            super().stop(car)
            car.claims.clear |= {*car.claims.held()}

    found = Tidy(Plan(crossings=2000, stops=0.05)).run()
    assert found.collisions


def test_a_stretch_begins_where_the_vehicle_broke_down() -> None:
    """A place to drive through may be the start of a stretch, and never its end."""
    lanes = grid(2, 1)
    assert lanes.stretch("lw0-0-w1-0", "w0-0") == ["lw0-0-w1-0", "w0-0"]
