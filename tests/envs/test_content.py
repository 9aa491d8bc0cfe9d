from __future__ import annotations

from pathlib import Path

import pytest

from bt_runtime.diagnose import BtError
from bt_runtime.envs.content import part, read_yaml


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
