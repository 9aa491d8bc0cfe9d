"""Rooms as YAML: what a person writes wrong is told, all of it, with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from bt_envs.alfred import kinds
from bt_envs.alfred.room import from_json, place
from bt_envs.thor.rooms import parse, read_room, read_rooms
from bt_runtime import BtError, Faults

GOOD = """\
version: 1
room: closet
scene: bedroom
size: [3.0, 3.0]
furniture:
- Shelf: {at: [1.5, 2.8], holds: [Book]}
"""


def test_at_least_four_rooms_are_shipped_and_each_sort_of_room_is_among_them() -> None:
    rooms = read_rooms()
    assert len(rooms) >= 4
    assert {room.scene for room in rooms.values()} == {"kitchen", "living room", "bedroom", "bathroom"}
    assert all(name == room.name for name, room in rooms.items())


@pytest.mark.parametrize("name", sorted(read_rooms()))
def test_every_shipped_piece_can_be_stood_at_and_every_thing_lies_where_it_may(name: str) -> None:
    room = read_room(name)
    by_id = {thing.id: thing for thing in room.things}
    for thing in room.things:
        assert min((x - thing.at.x) ** 2 + (z - thing.at.z) ** 2 for x, z in room.stands) < 1.0, thing
        if thing.parent is not None:
            assert kinds.fits(thing.kind, by_id[thing.parent].kind)


def test_a_room_survives_the_way_to_the_player_and_back() -> None:
    room = read_room("galley_kitchen")
    assert from_json(room.to_json()) == room


def test_placing_moves_what_is_named_and_nothing_else() -> None:
    room = read_room("galley_kitchen")
    egg = next(t for t in room.things if t.kind == "Egg")
    table = next(t for t in room.things if t.kind == "DiningTable")
    moved = place(room, {egg.id: table.id})
    now = moved.thing(egg.id)
    assert now is not None
    assert now.parent == table.id
    assert {t.id for t in moved.things} == {t.id for t in room.things}
    assert [t for t in moved.things if t.parent != table.id] == [
        t for t in room.things if t.parent != table.id and t.id != egg.id
    ]


@pytest.mark.parametrize(
    "old, new, line, message",
    [
        ("Shelf:", "Shelve:", 6, "no kind of thing is called `Shelve`"),
        ("[Book]", "[Bok]", 6, "no kind of thing is called `Bok`"),
        ("[Book]", "Book", 6, "`holds` is a list"),
        ("Shelf: {at: [1.5, 2.8], holds: [Book]}", "Mug: {at: [1, 1], holds: [Bed]}", 6, "Mug does not take Bed"),
        ("at: [1.5, 2.8]", "at: [1.5]", 6, "`at` takes two numbers"),
        ("at: [1.5, 2.8]", "att: [1.5, 2.8], at: [1, 2]", 6, "has no `att`"),
        ("size: [3.0, 3.0]", "size: large", 4, "`size` takes two numbers"),
        ("size: [3.0, 3.0]", "size: [0.2, 0.2]", 4, "nothing can stand"),
        ("bedroom", "cellar", 3, "`scene` names the sort of room"),
        ("version: 1", "version: 2", 1, "version 1"),
        ("room: closet", "rom: closet", 2, "a room has no `rom`"),
        ("furniture:", "furniture: [", 6, "a value should stand here"),
    ],
)
def test_a_fault_is_told_with_its_line(old: str, new: str, line: int, message: str) -> None:
    with pytest.raises(Faults) as caught:
        parse(GOOD.replace(old, new), "closet.yaml")
    first = caught.value.diagnostics[0]
    assert message in first.message
    assert first.span is not None
    assert first.span.line == line
    assert first.file == "closet.yaml"


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(Faults) as caught:
        parse(GOOD.replace("Shelf", "Shelve").replace("bedroom", "cellar").replace("version: 1", "version: 0"))
    assert len(caught.value.diagnostics) == 3


@pytest.mark.parametrize("text", ["", "[]", "just words", "furniture: 3", "{version: 1, furniture: [1, {}, {Bed: 2}]}"])
def test_no_text_is_anything_but_faults(text: str) -> None:
    with pytest.raises(Faults):
        parse(text)


def test_a_misspelt_room_names_the_right_one() -> None:
    with pytest.raises(BtError) as caught:
        read_room("galey_kitchen")
    assert "galley_kitchen" in caught.value.hint


def test_a_projects_room_comes_before_ours(tmp_path: Path) -> None:
    folder = tmp_path / "envs" / "rooms"
    folder.mkdir(parents=True)
    (folder / "galley_kitchen.yaml").write_text(GOOD)
    assert read_room("galley_kitchen", tmp_path).scene == "bedroom"
    assert len(read_rooms(tmp_path)) == len(read_rooms())
