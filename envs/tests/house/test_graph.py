from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from bt_envs.house.graph import read_goal, read_graph
from bt_envs.house.suite import SUITE, apartments, load_content
from bt_runtime import BtError
from bt_runtime.types import Task

CATALOGUE = load_content().catalogue


def node(i: int, kind: str, x: float, category: str = "Props", states: tuple[str, ...] = ()) -> dict[str, Any]:
    box = {"center": [x, 0.5, 0.0], "size": [0.5, 1.0, 0.5]}
    return {
        "id": i,
        "class_name": kind,
        "category": category,
        "bounding_box": box,
        "properties": [],
        "states": [*states],
    }


def edge(a: int, relation: str, b: int) -> dict[str, Any]:
    return {"from_id": a, "to_id": b, "relation_type": relation}


GRAPH = {
    "nodes": [
        node(1, "character", 0, "Characters"),
        node(2, "kitchen", 0, "Rooms"),
        node(3, "bedroom", 50, "Rooms"),
        node(4, "fridge", 1, states=("CLOSED",)),
        node(5, "kitchentable", 2),
        node(6, "light", 3, states=("ON",)),
        node(7, "bed", 50),
        node(8, "apple", 1),
        node(9, "plate", 2),
        node(10, "cupcake", 2),
        node(11, "dishbowl", 2.4),
        node(12, "wall", 2.4, "Walls"),
        node(13, "stereo", 51) | {"properties": ["HAS_SWITCH", "SURFACES"]},
    ],
    "edges": [
        edge(1, "INSIDE", 3),
        *(edge(i, "INSIDE", 2) for i in (4, 5, 6, 8, 9, 10, 11)),
        *(edge(i, "INSIDE", 3) for i in (7, 13)),
        edge(8, "INSIDE", 4),
        edge(9, "ON", 5),
        edge(10, "ON", 9),
        edge(11, "ON", 99),
    ],
}


def test_a_graph_becomes_rooms_furniture_and_things() -> None:
    """Spoken names, numbers, states; what is on a plate lies where the plate does, what nothing holds lies beside."""
    apartment = read_graph(GRAPH, CATALOGUE)
    assert apartment.data["house"]["rooms"] == ["kitchen 1", "bedroom 1"]
    assert [row[0] for row in apartment.data["house"]["fixtures"]] == [
        "fridge",
        "kitchen table",
        "light switch",
        "bed",
        "stereo",
    ]
    assert apartment.data["things"] == [
        ["apple", "fridge 1", "in"],
        ["plate", "kitchen table 1", "on"],
        ["cupcake", "kitchen table 1", "on"],
        ["bowl", "kitchen table 1", "by"],
    ]
    assert (apartment.data["open"], apartment.data["running"]) == ([], ["light switch 1"])
    assert apartment.data["start"] == ["bedroom 1"]
    assert apartment.names[8] == "apple 1"


def test_the_task_of_a_graph_is_played_like_any_other() -> None:
    """Unknown furniture works as its properties say, and a snapshot carries the house with it."""
    world = SUITE.open()
    world.reset(Task("t", "k", "g", read_graph(GRAPH, CATALOGUE).data))
    assert world.act("go to stereo 1").ok and world.act("turn on stereo 1").ok
    other = SUITE.open()
    other.restore(world.snapshot())
    assert other.holds("stereo 1 is turned on")


def test_without_positions_the_graphs_own_close_edges_count() -> None:
    """A trimmed graph has no boxes: what stands near what is read instead of computed."""
    nodes = [{k: v for k, v in n.items() if k != "bounding_box"} for n in GRAPH["nodes"]]
    graph = {"nodes": nodes, "edges": [*GRAPH["edges"], edge(4, "CLOSE", 5)]}
    world = SUITE.open()
    world.reset(Task("t", "k", "g", read_graph(graph, CATALOGUE).data))
    world.act("go to kitchen 1")
    assert "You see cupcake (1), fridge (1), kitchen table (1), plate (1)" in world.act("go to fridge 1").text


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("on_plate_kitchentable", {"relation": "on", "thing": "plate", "place": "kitchen table", "amount": 2}),
        ("inside_apple_4", {"relation": "in", "thing": "apple", "place": "fridge 1", "amount": 2}),
        ("put_plate_on_5", {"relation": "on", "thing": "plate", "place": "kitchen table 1", "amount": 2}),
        ("turnOn_dishwasher", {"relation": "turned on", "place": "dishwasher", "amount": 2}),
        ("holds_book_1", {"relation": "held", "thing": "book", "amount": 2}),
        ("sit_1_7", {"relation": "sat on", "place": "bed 1", "amount": 2}),
    ],
)
def test_goal_strings_are_read(text: str, condition: dict[str, Any]) -> None:
    """Every form of Watch-And-Help and WAH-NL; a goal of nought is no goal."""
    names = read_graph(GRAPH, CATALOGUE).names
    assert read_goal({text: 2, "on_wine_kitchentable": 0}, CATALOGUE, names) == [condition]


def test_what_is_no_graph_or_goal_is_an_error() -> None:
    """Other JSON, and other words."""
    for bad in ({}, {"nodes": [1], "edges": []}, {"nodes": [{"id": 1}], "edges": []}):
        with pytest.raises(BtError, match="not a VirtualHome graph"):
            read_graph(bad, CATALOGUE)
    with pytest.raises(BtError, match="not a goal"):
        read_goal({"dance": 1}, CATALOGUE, {})


@pytest.mark.data
def test_the_apartments_are_read(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All 14 graphs become houses with receptacles in every room."""
    found = apartments(data, CATALOGUE)
    with capsys.disabled():
        print(f"\napartments: {len(found)}, {sum(len(h.fixtures) for h in found.values())} pieces of furniture")
    assert len(found) == 14
    for home in found.values():
        assert 4 <= len(home.rooms) <= 5
        assert all(any(home.fixtures[i].furniture.holds for i in glance) for glance in home.glance)


@pytest.mark.data
def test_close_is_recomputed_as_the_apartments_have_it(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Between furniture of one room, our CLOSE by position agrees with the graph's own edges: F1 at least 0.9."""
    right = wrong = missed = 0
    for path in sorted((data / "house").glob("TestScene*_graph.json.gz")):
        graph = json.loads(gzip.decompress(path.read_bytes()))
        apartment = read_graph(graph, CATALOGUE, path.stem)
        home = apartments(data, CATALOGUE)[path.name.partition("_graph")[0]]
        ids = {home.index[name]: i for i, name in apartment.names.items() if name in home.index}
        close = {(e["from_id"], e["to_id"]) for e in graph["edges"] if e["relation_type"] == "CLOSE"}
        for a, near in enumerate(home.near):
            for b, fixture in enumerate(home.fixtures):
                if a != b and fixture.room == home.fixtures[a].room:
                    ours, theirs = b in near, (ids[a], ids[b]) in close
                    right, wrong, missed = right + (ours and theirs), wrong + (ours > theirs), missed + (theirs > ours)
    score = 2 * right / (2 * right + wrong + missed)
    with capsys.disabled():
        print(f"\nCLOSE between furniture: {right} agree, {wrong} only ours, {missed} only theirs, F1 {score:.3f}")
    assert score >= 0.9
