from __future__ import annotations

from pathlib import Path

import pytest

from bt_envs.house.catalogue import read_catalogue
from bt_envs.house.home_file import read_home
from bt_envs.house.suite import load_content
from bt_runtime import BtError
from bt_runtime.language.project import packaged

CATALOGUE = read_catalogue(packaged("envs") / "house" / "things.yaml")


def write(folder: Path, text: str) -> Path:
    path = folder / "home.yaml"
    path.write_text(text)
    return path


def test_a_house_is_read_from_one_line_a_room(tmp_path: Path) -> None:
    """Furniture is numbered over the whole house, in the order of the file."""
    home, split = read_home(
        write(tmp_path, "version: 1\nhouse: hut\nrooms:\n  kitchen 1: sink, chair x2\n  bedroom 1: bed, chair\n"),
        CATALOGUE,
    )
    assert split == "train"
    assert list(home.index) == ["sink 1", "chair 1", "chair 2", "bed 1", "chair 3"]
    assert home.room_of == {"kitchen 1": 0, "bedroom 1": 1}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("rooms:\n  kitchen 1: fridge, stofe", "stove"),
        ("rooms:\n  kitchen: fridge", "write `kitchen 1`"),
        ("rooms: {}", "such as `rooms: {kitchen 1: fridge, sink}`"),
        ("house: x", "a house lacks its field `rooms`"),
    ],
)
def test_a_house_that_is_wrong_says_what_to_do(tmp_path: Path, text: str, says: str) -> None:
    """Unknown furniture has a guess; a room needs its number; a house needs a room."""
    with pytest.raises(BtError) as caught:
        read_home(write(tmp_path, f"version: 1\n{text}\n"), CATALOGUE)
    assert says in str(caught.value)


def test_a_catalogue_that_is_wrong_says_what_to_do(tmp_path: Path) -> None:
    """An unknown word, and a place where nothing can be kept."""
    for text, says in [
        ("version: 1\nfixtures: {bed: soft}\nitems: {}\n", "`soft` is not known"),
        ("version: 1\nfixtures: {bed: onto}\nitems: {cup: {kept: [bad]}}\n", "kept in `bad`"),
    ]:
        with pytest.raises(BtError, match=says):
            read_catalogue(write(tmp_path, text))


def test_our_houses_differ_and_can_serve_every_kind_of_task() -> None:
    """At least six houses of two to five rooms, for both splits, each with a table, a fridge and a dishwasher."""
    content = load_content()
    assert len(content.homes) >= 6
    assert set(content.split.values()) == {"train", "eval"}
    for home in content.homes.values():
        assert 2 <= len(home.rooms) <= 5
        have = {f.furniture.name for f in home.fixtures}
        assert {"kitchen table", "coffee table", "fridge", "dishwasher"} <= have
    assert len({tuple(home.index) for home in content.homes.values()}) == len(content.homes)


def test_near_is_mutual_and_stays_in_the_room() -> None:
    """What stands close to another has the other close, in the same room; everything is close to itself."""
    for home in load_content().homes.values():
        for i, near in enumerate(home.near):
            assert i in near
            assert all(i in home.near[j] and home.fixtures[i].room == home.fixtures[j].room for j in near)
