"""A skill whose parameter names places: checked against the project's map, then claimed, then started; and
`impl: fleet/stretch`, which finds the next stretch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bt_fleet.shared.traffic import map as maps
from bt_fleet.shared.traffic.places import Driving, Places
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.impls import Implementation
from bt_runtime.language.project import find_root
from bt_runtime.skills.activity import Activity, refused
from bt_runtime.types import Observation

if TYPE_CHECKING:
    from bt_fleet.shared.traffic.map import Map
    from bt_runtime.language.kinds.kind import Kind
    from bt_runtime.tree.action import Action
    from bt_runtime.tree.context import Context
    from bt_runtime.tree.gates import Start

IMPLEMENTATIONS = {
    "stretch": Implementation(
        "Finds the next stretch of a way over the map: up to the next place where a vehicle may wait.",
        "bt_fleet.shared.traffic.drive:stretch",
        instant=True,
        check="bt_fleet.shared.traffic.drive:check",
    )
}


class Traffic:
    """The claims of a run, for the skills that look at them."""

    def __init__(self, places: Places | None = None) -> None:
        self.places = places

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Traffic:
        return cls()

    def of_episode(self) -> Traffic:
        return self


def stretch(kind: Kind, context: Context) -> Callable[..., object]:
    """Makes the skill: it takes `here` and `to`, and returns the stretch."""
    traffic = context.services.part(Traffic)

    def found(here: str, to: str) -> object:
        taken = traffic.places.taken() if traffic.places is not None else set()
        try:
            return map_of(kind.data["entry"].folder).stretch(here, to, taken)
        except BtError as error:
            return Observation(str(error), False, str(error))

    return found


def check(kind: Kind) -> list[tuple[str, str, str]]:
    """Returns what is wrong with a skill of this way."""
    names = {field.name for field in kind.fields if not field.writes}
    lists = [field for field in kind.fields if field.writes and field.type == "list"]
    found = []
    if names != {"here", "to"}:
        found.append(("params", "`fleet/stretch` takes two parameters, `here` and `to`", "both of them texts"))
    if len(lists) != 1 or len(kind.fields) != 3:
        found.append(("outputs", "`fleet/stretch` has one output, a list", "outputs: {route: list}"))
    return found


def driving(places: Places, action: Action, start: Start, routes: list[str], leases: bool) -> Activity:
    """Returns the skill behind its claims, or a failure that says why the stretch cannot be claimed."""
    if leases or len(routes) > 1:
        return refused("A skill that claims places uses nothing else of the fleet: make the lift a place of the map.")
    route = _route(action.params, routes[0])
    if route is None:
        return refused(f"`{routes[0]}` names no places: give it a list of the map's places.")
    try:
        why = map_of(action.entry.folder if action.entry is not None else "").objection(route)
    except BtError as error:
        why = str(error)
    return refused(f"{why}.") if why else Driving(places, route, action, start)


def _route(params: Mapping[str, Any] | None, name: str) -> list[str] | None:
    value = (params or {}).get(name)
    if isinstance(value, str):
        return [value]
    return value if isinstance(value, list) and all(isinstance(place, str) for place in value) else None


def map_of(folder: str) -> Map:
    """Returns the map of the project in which a manifest lies; of this one for a skill without a manifest."""
    root = find_root(Path(folder)) if folder else find_root()
    file = (root or Path()) / maps.FILE
    return _read(root, file.stat().st_mtime_ns if file.is_file() else 0)


@lru_cache(maxsize=4)
def _read(root: Path | None, changed: int) -> Map:
    return maps.of_project(root)
