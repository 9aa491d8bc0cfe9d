from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from bt_envs.house.catalogue import Catalogue, read_catalogue
from bt_envs.house.chores import read_chores
from bt_envs.house.home_file import read_home
from bt_envs.house.rulebook import read_rulebook
from bt_envs.house.tasks import read_errands
from bt_envs.textcraft.suite import read_book
from bt_runtime import BtError, Faults
from bt_runtime.language.project import packaged
from bt_runtime.skills.worlds.content import by_name, check_of, read_yaml

NOTES = check_of("a note", {"note": {"type": "string"}, "kept": by_name({"type": "integer"})}, ("note",))


@pytest.mark.parametrize(
    ("text", "says", "place"),
    [
        ("version: 1\nkinds: [}\n", "", (2, 9)),
        ("- a list", "a note is a mapping, not a list", (1, 1)),
        ("version: 9\nnote: x", "this reader knows version 1", (1, 10)),
        ("note: no version", "a note lacks its field `version`", (1, 1)),
        ("version: 1\nnote: [x]", "`note` is a text, not a list", (2, 7)),
        ("version: 1\nnote: x\nkept:\n  a: 1\n  b: two", "`b` of `kept` is a whole number, not `two`", (5, 6)),
        ("version: 1\nnoet: x", "a note has no `noet`", (2, 1)),
    ],
)
def test_a_file_that_is_wrong_is_named_with_what_is_wrong_and_where(
    tmp_path: Path, text: str, says: str, place: tuple[int, int]
) -> None:
    """Bad YAML, no mapping, another version, a field of another type: each is a fault with its place."""
    path = tmp_path / "x.yaml"
    path.write_text(text)
    with pytest.raises(Faults) as caught:
        read_yaml(path, NOTES)
    first = caught.value.diagnostics[0]
    assert says in first.message and first.file == str(path)
    assert first.span is not None and (first.span.line, first.span.column) == place


def test_a_file_that_is_missing_or_binary_is_an_error(tmp_path: Path) -> None:
    """A path that is not there, and bytes that are no text."""
    with pytest.raises(BtError, match="BT001"):
        read_yaml(tmp_path / "none.yaml", NOTES)
    (tmp_path / "b.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BtError, match="UTF-8"):
        read_yaml(tmp_path / "b.yaml", NOTES)


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
