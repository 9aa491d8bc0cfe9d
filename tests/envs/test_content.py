from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from bt_runtime.envs.content import entries, many, part, read_yaml, texts, words
from bt_runtime.envs.house.catalogue import Catalogue, read_catalogue
from bt_runtime.envs.house.chores import read_chores
from bt_runtime.envs.house.home_file import read_home
from bt_runtime.envs.house.rulebook import read_rulebook
from bt_runtime.envs.house.tasks import read_errands
from bt_runtime.envs.textcraft.book_file import read_book
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.project import packaged


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("version: 1\nkinds: [}\n", ":2:9"),
        ("- a list", "mapping is expected"),
        ("version: 9", "version 9"),
        ("house: no version", "version None"),
    ],
)
def test_a_file_that_is_wrong_is_named_with_what_is_wrong(tmp_path: Path, text: str, says: str) -> None:
    """Bad YAML, no mapping, another version: each is an error that names the file."""
    path = tmp_path / "x.yaml"
    path.write_text(text)
    with pytest.raises(BtError) as caught:
        read_yaml(path)
    assert says in caught.value.message and "x.yaml" in caught.value.message


def test_a_file_that_is_missing_or_binary_is_an_error(tmp_path: Path) -> None:
    """A path that is not there, and bytes that are no text."""
    with pytest.raises(BtError, match="BT001"):
        read_yaml(tmp_path / "none.yaml")
    (tmp_path / "b.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BtError, match="UTF-8"):
        read_yaml(tmp_path / "b.yaml")


def test_a_field_of_another_type_is_an_error() -> None:
    """The message names the field and the type."""
    with pytest.raises(BtError, match="`rooms` must be a mapping"):
        part({"rooms": []}, "rooms", dict, Path("x.yaml"))


@pytest.mark.parametrize(
    "value", [True, 1, 0.5, "x", [], [[]], {"a": []}, {"a": 1}, {"a": {"b": []}}, {"a": [{}]}, None]
)
def test_whatever_stands_where_a_field_is_expected_is_read_or_named(value: object) -> None:
    """Each reader of a shape gives that shape, or a fault that names the field and a way out."""
    for reader, kind in ((entries, dict), (words, str), (many, tuple), (texts, str)):
        try:
            found = reader({"field": value}, "field", "x.yaml")  # type: ignore[operator]
        except BtError as fault:
            assert "x.yaml" in fault.message and fault.hint
            continue
        assert all(isinstance(each, kind) for each in (found if isinstance(found, tuple) else found.values()))


ODD = (True, 1, -1, 99999999, 0.5, "x", [], ["x"], [[1]], {}, {"x": 1}, None)


@pytest.mark.parametrize("name", ["house/things", "house/tasks", "house/rules", "house/flat", "textcraft/game"])
def test_every_value_of_every_world_file_may_be_another(name: str, tmp_path: Path) -> None:
    """It is read, or it is a fault in words: never an error of Python."""
    sound = yaml.safe_load((packaged("envs") / f"{name}.yaml").read_text("utf-8"))
    path, draw = tmp_path / f"{name.rpartition('/')[2]}.yaml", random.Random(name)
    for holder, key in draw.sample(found := list(places(sound)), min(25, len(found))):
        kept = holder[key]
        for odd in draw.sample(ODD, 3):
            holder[key] = odd
            path.write_text(json.dumps(sound))
            with contextlib.suppress(BtError):
                READERS[path.stem](path)
        holder[key] = kept


def places(holder: Any) -> Iterator[tuple[Any, Any]]:
    for key, value in holder.items() if isinstance(holder, dict) else enumerate(holder):
        yield holder, key
        if isinstance(value, dict | list):
            yield from places(value)


def known() -> Catalogue:
    return read_catalogue(packaged("envs") / "house/things.yaml")


READERS: dict[str, Callable[[Path], object]] = {
    "things": read_catalogue,
    "tasks": lambda path: read_errands(path, known()),
    "rules": lambda path: (read_rulebook(path, known()), read_chores(path, known())),
    "flat": lambda path: read_home(path, known()),
    "game": read_book,
}
