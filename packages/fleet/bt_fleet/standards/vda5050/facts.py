"""What a vehicle knows of itself: outputs of the project's tree `vehicle_facts`, which is run again and again.

A fact that the tree does not give, or whose value does not fit, is not known, and nothing stands in for it."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from typing import Any

from py_trees.common import Status

from bt_fleet.standards.schema_faults import faults_of
from bt_fleet.standards.vda5050.messages import FACTS, FIELD_OF, validator
from bt_runtime import Run, Tree
from bt_runtime.clock import RunClock
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.types import Json

TREE = "vehicle_facts"
EVERY = 0.5  # seconds from an end of the tree to its next run
OLDEST = 5.0  # seconds after which what was measured counts as not known, where the tree has not ended again
_LOG = logging.getLogger(__name__)


class Facts:
    """Runs the tree and reads its outputs, also while it goes on."""

    def __init__(
        self, tree: Tree | None, clock: RunClock | None = None, services: Mapping[str, object] | None = None
    ) -> None:
        names = [*tree.spec.outputs] if tree is not None else []
        if odd := sorted(set(names) - set(FACTS)):
            raise BtError(f"{TREE}: `{odd[0]}` is no fact of a vehicle", f"there are {', '.join(FACTS)}")
        self.names = names
        self._checks = {name: validator(FACTS[name]) for name in names}
        self.known: dict[str, Json] = {}
        self.run = Run(tree, clock=clock, services=services) if tree is not None else None
        self.measured = -math.inf  # the time, by the run's clock, at which what is known was so
        self._next = self._begun = -math.inf
        self._soon = False  # look again once the present look has ended
        self._ends = False  # the tree has succeeded once: it looks and ends; else it goes on, and writes as it goes
        self._old: dict[str, int] = {}  # the writes before the tree has failed, by the stamp of each entry
        self._told: set[str] = set()

    @property
    def missing(self) -> list[str]:
        """Returns the fields of a state message that are required, and that the tree does not give."""
        return [FIELD_OF[name] for name in FIELD_OF if name not in self.names]

    @property
    def unknown(self) -> list[str]:
        """Returns the required fields that are not known now."""
        return [FIELD_OF[name] for name in FIELD_OF if name not in self.known]

    def look(self) -> float:
        """Ticks the tree when it is due; returns the seconds until it is due again."""
        if self.run is None:
            return math.inf
        now = self.run.parts.context.clock.now()
        if self._ends and self.known and now - self.measured > OLDEST:
            self._warn(f"the tree has not ended for {OLDEST:g} s: nothing is known of the vehicle until it does")
            self._forget()
        if now < self._next and not self.run.parts.runner.woken.is_set():
            return self._next - now
        self.run.parts.runner.woken.clear()
        self._begun = now if self.run.status is not Status.RUNNING else self._begun
        tick, board = self.run.tick(), self.run.blackboard
        if tick.status is Status.FAILURE:
            self._warn("the tree has failed: nothing is known of the vehicle until it succeeds")
            self._forget()
        elif tick.status is Status.SUCCESS:
            self._told.clear()
        self.known = {
            name: value for name in self.names
            if board.stamp(name) > self._old.get(name, 0) and self._fits(name, value := board.get(name))
        }  # fmt: skip
        if tick.status is Status.SUCCESS:
            self.measured = self._begun
            self._ends = True
        elif not self._ends:
            self.measured = now
        again, self._soon = self._soon and not tick.running, self._soon and tick.running
        self._next = tick.due if tick.running else now if again else now + EVERY
        return self._next - now

    def _forget(self) -> None:
        assert self.run is not None
        self._old, self.known = {name: self.run.blackboard.stamp(name) for name in self.names}, {}

    def soon(self) -> None:
        """Lets the tree look again now, or as soon as its present look has ended."""
        self._soon = self.run is not None and self.run.status is Status.RUNNING
        if not self._soon:
            self._next = -math.inf

    def _fits(self, name: str, value: Any) -> bool:
        if value is None:
            return False
        wrong = faults_of(self._checks[name], value)
        if wrong:
            self._warn(f"{name} is not known: {wrong[0]}")
        return not wrong

    def _warn(self, text: str) -> None:
        if text not in self._told:  # once, not at each look
            self._told.add(text)
            _LOG.warning("%s: %s", TREE, text)

    def state(self) -> dict[str, Json]:
        """Returns what the state message says of the vehicle. Only for trials a required field that is not known has a
        value; `information` names it then."""
        known, unknown = self.known, self.unknown
        position = known.get("position")
        more: dict[str, Json] = {}
        if isinstance(position, dict):
            more["agvPosition"] = {"positionInitialized": True, **position}
        for name, field in (("velocity", "velocity"), ("loads", "loads"), ("distance", "distanceSinceLastNode")):
            if name in known:
                more[field] = known[name]
        return {
            "batteryState": {"batteryCharge": known.get("battery_charge", 0.0),
                             "charging": known.get("charging", False)},
            "operatingMode": known.get("operating_mode", "AUTOMATIC"),
            "safetyState": {"eStop": known.get("e_stop", "NONE"),
                            "fieldViolation": known.get("field_violation", False)},
            "information": [_unknown(unknown)] if unknown else [], **more,
        }  # fmt: skip

    def close(self) -> None:
        if self.run is not None:
            self.run.close()


def _unknown(fields: list[str]) -> dict[str, Json]:
    return {
        "infoType": "unknown", "infoLevel": "INFO", "infoDescription": f"not known: {', '.join(fields)}",
        "infoReferences": [{"referenceKey": "field", "referenceValue": field} for field in fields],
    }  # fmt: skip
