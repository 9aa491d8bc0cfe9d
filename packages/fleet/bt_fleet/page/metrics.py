"""A fleet's counters for Prometheus, with a label for each robot; `btr fleet view` serves them at `/metrics`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from bt_fleet.store.record import DONE, Record
from bt_robots.telemetry.metrics import Family, Sample, formatted


def text(
    beats: Mapping[str, tuple[float, Mapping[str, Any]]], records: Iterable[Record], asks: Counter[str], now: float
) -> str:  # fmt: skip
    """Returns the text of what is known now: of each robot its heartbeat, of the tasks their states."""
    records = list(records)
    robots = [(name, heard, beat, {"robot": name}) for name, (heard, beat) in sorted(beats.items())]
    ends = Counter((held.robot or "", held.verdict or "") for held in records if held.state == DONE)
    states = Counter(held.state for held in records if held.state != DONE)
    return formatted([
        Family("bt_fleet_heard_seconds", "gauge", "Seconds since the robot's last heartbeat.",
               [Sample("bt_fleet_heard_seconds", round(now - heard, 3), labels) for _, heard, _, labels in robots]),
        Family("bt_fleet_running", "gauge", "1 while the robot runs a task.",
               [Sample("bt_fleet_running", int(bool(beat.get("running"))), labels) for _, _, beat, labels in robots]),
        Family("bt_fleet_planned", "gauge", "Tasks in the robot's plan.",
               [Sample("bt_fleet_planned", int(beat.get("plan", 0)), labels) for _, _, beat, labels in robots]),
        Family("bt_fleet_halted", "gauge", "1 while the robot is halted.",
               [Sample("bt_fleet_halted", int(bool(beat.get("halted"))), labels) for _, _, beat, labels in robots]),
        Family("bt_fleet_asks", "gauge", "Open questions of the robot's runs.",
               [Sample("bt_fleet_asks", asks[name], labels) for name, _, _, labels in robots]),
        Family("bt_fleet_tasks", "gauge", "Tasks that are not done, by state.",
               [Sample("bt_fleet_tasks", count, {"state": state}) for state, count in sorted(states.items())]),
        Family("bt_fleet_verdicts", "gauge", "Tasks that are done and still kept, by robot and verdict.",
               [Sample("bt_fleet_verdicts", count, {"robot": robot, "verdict": verdict})
                for (robot, verdict), count in sorted(ends.items())]),
    ])  # fmt: skip
