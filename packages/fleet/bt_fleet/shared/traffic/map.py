"""The map of a project, `map.yaml`: places, and the lanes between them."""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import pairwise
from pathlib import Path

from bt_runtime.language import project
from bt_runtime.language.faults.diagnostic import BtError, nearest
from bt_runtime.language.kinds.shape import Schema
from bt_runtime.skills.worlds.content import Content, check_of, read_yaml

FILE = "map.yaml"
_PLACE: Schema = {
    "type": "string", "pattern": r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$",
    "errorMessage": "a place has 1 to 64 letters, digits, - and _, a letter or digit first",
}  # fmt: skip
_LANE: Schema = {"type": "array", "items": _PLACE, "minItems": 2}
_LANES: Schema = {"type": "array", "items": _LANE}
_PLACES: Schema = {"type": "array", "items": _PLACE}
_FIELDS: Schema = {
    "wait": {**_PLACES, "minItems": 1, "description": "Places where a vehicle may stop and wait."},
    "pass": {**_PLACES, "description": "Places that a vehicle only drives through."},
    "lanes": {**_LANES, "description": "Places one after another, driven in both directions: [dock, aisle, shelf]."},
    "one_way": {**_LANES, "description": "Places one after another, driven in this direction only."},
}
CHECK = check_of("a map", _FIELDS, ("wait",))


class Map:
    """Places and where one can drive from each. `waiting`: where a vehicle may stop."""

    def __init__(self, waiting: Sequence[str], ways: dict[str, list[str]]) -> None:
        self.waiting, self.ways = frozenset(waiting), ways

    def objection(self, route: Sequence[str]) -> str:
        """Returns why this is no stretch of the map; "" when it is one."""
        for place in route:
            if why := self._unknown(place):
                return why
        if not route:
            return "the stretch is empty"
        if len({*route}) < len(route):
            return "the stretch passes one place twice"
        for here, there in pairwise(route):
            if there not in self.ways[here]:
                return f"no lane leads from `{here}` to `{there}`"
        return "" if route[-1] in self.waiting else f"nobody may wait at `{route[-1]}`, where the stretch ends"

    def _unknown(self, place: str) -> str:
        close = "" if place in self.ways else nearest(place, self.ways)
        did = f"; did you mean `{close}`?" if close else ""
        return "" if place in self.ways else f"the map has no place `{place}`{did}"

    def stretch(self, here: str, to: str, taken: Container[str] = ()) -> list[str]:
        """Returns the way from here up to the next place where a vehicle may wait, on a shortest way to `to` that
        avoids what is taken if it can. `[here]`: it is there. Raises when no lane leads there."""
        if why := self.objection([to]) or self._unknown(here):
            raise BtError(why, f"see {FILE}")
        way = self._shortest(here, to, taken) or self._shortest(here, to, ())
        if not way:
            raise BtError(f"no lanes lead from `{here}` to `{to}`", f"see {FILE}")
        stop = next((number for number, place in enumerate(way) if number and place in self.waiting), 0)
        return way[: stop + 1]

    def _shortest(self, here: str, to: str, taken: Container[str]) -> list[str]:
        before, frontier = {here: here}, [here]
        for place in frontier:
            for after in self.ways[place]:
                if after not in before and (after == to or after not in taken):
                    before[after] = place
                    frontier.append(after)
        if to not in before:
            return []
        way = [to]
        while way[-1] != here:
            way.append(before[way[-1]])
        return way[::-1]


def read(path: Path) -> Map:
    """Reads a map; raises each fault with its line and column."""
    return _checked(read_yaml(path, CHECK))


def _checked(content: Content) -> Map:
    data = content.data
    ways: dict[str, list[str]] = {}
    for part in ("wait", "pass"):
        for number, place in enumerate(data.get(part) or ()):
            if place in ways:
                content.fault(f"`{place}` stands here twice", "a place is either in `wait` or in `pass`", part, number)
            ways[place] = []
    for part in ("lanes", "one_way"):
        for number, lane in enumerate(data.get(part) or ()):
            for at, place in enumerate(lane):
                if place not in ways:
                    content.fault(f"`{place}` is no place", "name it in `wait` or in `pass`", part, number, at)
            for here, there in pairwise(lane):
                ways.setdefault(here, []).append(there)
                if part == "lanes":
                    ways.setdefault(there, []).append(here)
    content.sound()
    return Map(data["wait"], ways)


def of_project(root: Path | None) -> Map:
    """Returns the map of a project, or of the one around the working directory."""
    found = root or project.find_root()
    if found is None or not (found / FILE).is_file():
        raise BtError(
            f"the project has no {FILE}", "write one: `wait: [dock]`, `pass: [aisle]`, `lanes: [[dock, aisle]]`"
        )
    return read(found / FILE)
