"""A distribution as pip leaves it: its metadata in a folder of `sys.path`, so that plugins come by the public way."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest


def plug(
    monkeypatch: pytest.MonkeyPatch, folder: Path, distribution: str, groups: Mapping[str, Mapping[str, str]]
) -> Path:
    """`plug(…, "greenhouse-1.0", {"suites": {"greenhouse": "greenhouse:SUITE"}})`; what it imports lies beside."""
    text = "\n".join(
        f"[bt_runtime.{group}]\n" + "".join(f"{name} = {value}\n" for name, value in named.items())
        for group, named in groups.items()
    )
    described = folder / f"{distribution}.dist-info"
    described.mkdir(parents=True)
    (described / "entry_points.txt").write_text(text)
    monkeypatch.syspath_prepend(str(folder))
    return folder
