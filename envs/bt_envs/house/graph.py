"""Reads VirtualHome's graph JSON as a task: fixed objects become the house, objects that can be carried the things."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from bt_envs.house.catalogue import Catalogue
from bt_runtime.language.faults.diagnostic import BtError

_SHELL = ("Rooms", "Floor", "Floors", "Walls", "Ceiling", "Doors", "Windows", "Characters")
_USE = {"SURFACES": "onto", "CONTAINERS": "into", "HAS_SWITCH": "switch", "CAN_OPEN": "opens"}
_HOLDS = {"ON": "on", "INSIDE": "in"}


class Apartment(NamedTuple):
    data: dict[str, Any]  # house, things, open, running, start
    names: dict[int, str]  # the graph's id → our name: "fridge 1", "apple 2", "kitchen 1"


def read_graph(graph: Mapping[str, Any], catalogue: Catalogue, name: str = "apartment") -> Apartment:
    try:
        return _Reader(graph, catalogue).apartment(name)
    except (KeyError, TypeError, ValueError, IndexError) as problem:
        raise BtError(f"{name}: not a VirtualHome graph ({problem!r})", "give its `nodes` and `edges`") from problem


class _Reader:
    def __init__(self, graph: Mapping[str, Any], catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self.nodes = {node["id"]: node for node in graph["nodes"]}
        self.kind = {i: catalogue.spoken(node["class_name"]) for i, node in self.nodes.items()}
        self.holders: dict[int, list[tuple[str, int]]] = {}
        for edge in graph["edges"]:
            if edge["relation_type"] in _HOLDS and edge["to_id"] in self.nodes:
                self.holders.setdefault(edge["from_id"], []).append((edge["relation_type"], edge["to_id"]))
        self.close = [(e["from_id"], e["to_id"]) for e in graph["edges"] if e["relation_type"] == "CLOSE"]
        self.rooms = [i for i in sorted(self.nodes) if self.nodes[i]["category"] == "Rooms"]
        self.described: dict[str, str] = {}
        self.fixtures = [i for i in sorted(self.nodes) if self._stays(i) and self._room(i) is not None]

    def _stays(self, i: int) -> bool:
        """True for furniture: known to the catalogue, or something that things can be put on or into, or that can be
        switched."""
        node, kind = self.nodes[i], self.kind[i]
        if node["category"] in _SHELL or kind in self.catalogue.things:
            return False
        if kind in self.catalogue.furniture:
            return True
        properties = set(node["properties"])
        if "GRABBABLE" in properties or not properties & {"SURFACES", "CONTAINERS", "HAS_SWITCH"}:
            return False
        self.described[kind] = " ".join(word for key, word in _USE.items() if key in properties)
        return True

    def _room(self, i: int) -> int | None:
        """Returns the room of an object, by the graph, else by its position."""
        inside = [to for how, to in self.holders.get(i, ()) if how == "INSIDE" and to in self.rooms]
        if inside:
            return self.rooms.index(inside[0])
        box = self.nodes[i].get("bounding_box")
        ranked = sorted(self.rooms, key=lambda r: _distance(self.nodes[r].get("bounding_box"), box))
        return self.rooms.index(ranked[0]) if ranked and box else None

    def apartment(self, name: str) -> Apartment:
        names = _numbered((r, self.kind[r]) for r in self.rooms)
        names |= _numbered((f, self.kind[f]) for f in self.fixtures)
        things = self._things()
        names |= _numbered((i, self.kind[i]) for i, _, _ in things)
        house = {
            "name": name,
            "rooms": [names[r] for r in self.rooms],
            "fixtures": [self._row(i) for i in self.fixtures],
            "described": self.described,
        }
        if not all(self.nodes[i].get("bounding_box") for i in self.fixtures):
            order = {f: n for n, f in enumerate(self.fixtures)}
            house["close"] = [[order[a], order[b]] for a, b in self.close if a in order and b in order]
        people = [i for i in sorted(self.nodes) if self.nodes[i]["category"] == "Characters"]
        data = {
            "house": house,
            "things": [[self.kind[i], names[place], how] for i, place, how in things],
            "open": [names[i] for i in self.fixtures if "OPEN" in self.nodes[i]["states"] and self._has(i, "opens")],
            "running": [names[i] for i in self.fixtures if "ON" in self.nodes[i]["states"] and self._has(i, "switch")],
            "start": [names[self.rooms[self._room(i) or 0]] for i in people],
        }
        return Apartment(data, names)

    def _row(self, i: int) -> list[Any]:
        box = self.nodes[i].get("bounding_box") or {"center": (0, 0, 0), "size": (0, 0, 0)}
        return [self.kind[i], self._room(i), list(box["center"]), list(box["size"])]

    def _has(self, i: int, word: str) -> bool:
        known = self.catalogue.furniture.get(self.kind[i])
        return bool(getattr(known, word)) if known else word in self.described.get(self.kind[i], "").split()

    def _things(self) -> list[tuple[int, int, str]]:
        """Returns (thing, fixture, how) for every known thing that has a place."""
        found = []
        for i in sorted(self.nodes):
            if self.kind[i] in self.catalogue.things:
                place = self._lies(i)
                if place:
                    found.append((i, *place))
        return found

    def _lies(self, i: int, above: tuple[int, ...] = ()) -> tuple[int, str] | None:
        """Returns the container of a thing, else the furniture below it (also below a plate), else the nearest
        furniture."""
        standing = set(self.fixtures)
        for wanted in ("INSIDE", "ON"):
            for how, to in self.holders.get(i, ()):
                if how == wanted and to in standing:
                    return to, self._manner(how, to)
        for how, to in self.holders.get(i, ()):
            if how == "ON" and to not in above and self.kind[to] in self.catalogue.things:
                found = self._lies(to, (*above, i))
                if found:
                    return found
        room = self._room(i)
        box = self.nodes[i].get("bounding_box")
        beside = [f for f in self.fixtures if self._room(f) == room and box]
        if not beside:
            return None
        return min(beside, key=lambda f: _distance(self.nodes[f].get("bounding_box"), box)), "by"

    def _manner(self, how: str, place: int) -> str:
        """Corrects `on` and `in`: a thing `on` furniture that can only contain things is in it, and vice versa."""
        if how == "ON":
            return "on" if self._has(place, "holds_on") or not self._has(place, "holds_in") else "in"
        return "in" if self._has(place, "holds_in") or not self._has(place, "holds_on") else "on"


def _numbered(named: Iterable[tuple[int, str]]) -> dict[int, str]:
    counts: Counter[str] = Counter()
    found = {}
    for i, kind in named:
        counts[kind] += 1
        found[i] = f"{kind} {counts[kind]}"
    return found


def _distance(a: Mapping[str, Any] | None, b: Mapping[str, Any] | None) -> float:
    if not a or not b:
        return float("inf")
    return float(sum((p - q) ** 2 for p, q in zip(a["center"], b["center"], strict=True)))


_GOAL = re.compile(r"(put|on|inside|holds|sit|turnOn)_(.+)")
_WAY = {"inside": "in", "on": "on", "put_on": "on", "put_inside": "in"}


def read_goal(wanted: Mapping[str, int], catalogue: Catalogue, names: Mapping[int, str]) -> list[dict[str, Any]]:
    """WAH's goal strings: `on_plate_kitchentable`, `inside_apple_158`, `put_plate_on_235`, `turnOn_dishwasher`,
    `holds_book_1`, `sit_1_210`."""
    found = []
    for text, count in wanted.items():
        if count < 1:
            continue
        match = _GOAL.fullmatch(text)
        if match is None:
            raise BtError(
                f"`{text}` is not a goal of Watch-And-Help", "such as on_plate_kitchentable or inside_apple_158"
            )
        found.append(_condition(match[1], match[2].split("_"), count, catalogue, names))
    return found


def _condition(
    verb: str, words: list[str], count: int, catalogue: Catalogue, names: Mapping[int, str]
) -> dict[str, Any]:
    def named(word: str) -> str:
        return names.get(int(word), word) if word.isdigit() else catalogue.spoken(word)

    if verb == "holds":
        return {"relation": "held", "thing": named(words[0]), "amount": count}
    if verb == "sit":
        return {"relation": "sat on", "place": named(words[-1]), "amount": count}
    if verb == "turnOn":
        return {"relation": "turned on", "place": named(words[0]), "amount": count}
    way = _WAY[f"put_{words[1]}"] if verb == "put" else _WAY[verb]
    return {"relation": way, "thing": named(words[0]), "place": named(words[-1]), "amount": count}
