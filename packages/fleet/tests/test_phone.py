"""A fleet on a phone: a finger halts and releases one robot or all, answers, and nothing lies outside the window."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip("nats", reason="needs the fleet extra")

from bt_fleet.page.page import FleetRows, serve
from bt_fleet.store.record import Record
from bt_fleet.store.task import Task
from tests.run.view.browser import missing
from tests.run.view.phone import Phone

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "there")
ROBOTS = ("r1", "carrier-of-the-northern-hall-7", "r3")
SURE = 3000  # milliseconds that a button waits for the second press
QUESTION = "May I open the gate to the northern yard, which is closed to carriers after ten? (yes or no)"


# The page's patience is held, so that no button is too fast for this machine; `lapse()` lets it end.
HELD = """
  const set = window.setTimeout, held = [], patience = arguments[0];
  window.setTimeout = (act, after) => after === patience ? held.push(act) : set(act, after);
  window.lapse = () => held.splice(0).forEach((act) => act());
"""


class Halts:
    """A fleet that only notes what it is told."""

    address = type("Address", (), {"url": "nats://127.0.0.1"})()

    def __init__(self) -> None:
        self.told: list[tuple[str | None, ...]] = []

    def halt(self, why: str, robot: str | None, by: str) -> list[str]:
        self.told.append(("halt", robot, by))
        return [robot or "r1"]

    def release(self, robot: str | None, by: str) -> list[str]:
        self.told.append(("release", robot, by))
        return [robot or "r1"]

    def answer(self, robot: str, body: dict[str, Any]) -> None:
        self.told.append(("answer", robot, body["text"]))


@contextmanager
def on_a_phone(fleet: Halts, dark: bool = False) -> Iterator[Phone]:
    """The page of three robots: one runs a task, one asks, one is halted."""
    page = FleetRows(fleet, lease=1e6, now=lambda: 100.0)  # type: ignore[arg-type]  # else it forgets the question
    page._thread.start()
    shown = serve(page)
    for name, more in zip(ROBOTS, ({"running": "t1"}, {}, {"halted": "halted by ann"}), strict=True):
        page.alive(name, {"running": None, "plan": 2, **more})
    page.changed(Record(Task("t1", "round/of/the/long-hall")).assigned("r1", "", 1.0).started(2.0))
    page.told(ROBOTS[1], "asks", {"id": "x-1", "text": QUESTION, "open": True})
    try:
        with Phone(dark) as phone:
            phone.open(shown.url)
            phone.until("document.querySelectorAll('#rows tr').length === 4 && document.querySelector('#inbox button')")
            yield phone
            assert not phone.console()
    finally:
        page.close()
        shown.close()


def test_a_robot_is_halted_and_released_by_a_finger_after_a_second_press() -> None:
    fleet = Halts()
    with on_a_phone(fleet) as phone:
        phone.js("document.getElementById('who').value = 'ann'")
        phone.js(HELD, SURE)
        for button, word, told in (
            ("[aria-label='Halt r1']", "Halt", ("halt", "r1", "ann")),
            ("[aria-label='Release r3']", "Release", ("release", "r3", "ann")),
            ("#halt", "Halt all", ("halt", None, "ann")),
            ("#release", "Release all", ("release", None, "ann")),
        ):
            before = list(fleet.told)
            phone.tap(button)
            phone.until(f'document.querySelector("{button}").textContent === "{word}: sure?"')
            assert fleet.told == before and phone.outside() == []
            phone.tap(button)
            phone.until(lambda told=told: fleet.told[-1:] == [told])
            phone.until(f'document.querySelector("{button}").textContent === "{word}"')
        phone.tap("#halt")
        phone.until('document.querySelector("#halt").textContent === "Halt all: sure?"')
        phone.js("lapse()")
        assert phone.js('return document.querySelector("#halt").textContent') == "Halt all" and len(fleet.told) == 4


@pytest.mark.parametrize("dark", [False, True])
def test_all_that_a_fleet_shows_is_whole_and_its_questions_are_answered(dark: bool) -> None:
    fleet = Halts()
    with on_a_phone(fleet, dark) as phone:
        assert phone.outside() == []
        text = phone.js("return document.body.innerText")
        assert all(each in text for each in (*ROBOTS, "t1", QUESTION, "halted by ann", "round/of/the/long-hall"))
        phone.tap("#inbox button")
        phone.until("document.getElementById('notice').textContent.startsWith('Write your name first')")
        phone.js("document.getElementById('who').value = 'ann'")
        phone.tap("#inbox button")
        phone.until(lambda: fleet.told == [("answer", ROBOTS[1], "yes")])
        assert phone.outside() == []
