"""`btview` is not ours: of a run of ours it must print what it prints of BehaviorTree.CPP's own publisher."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from packages.robots.tests.interop.pairs import ROUND, Side, ours, theirs

cli = pytest.importorskip("btview.cli")
pytest.importorskip("behaviortreepy")
Make = Callable[[], AbstractContextManager[Side]]
CLOCK = re.compile(r"\d\d:\d\d:\d\d\.\d{3}")


@pytest.fixture
def btview(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    monkeypatch.setenv("COLUMNS", "110")
    monkeypatch.setenv("NO_COLOR", "1")

    def call(side: Side, *words: str) -> str:
        """Between two of its looks the tree is ticked once, and a second passes."""
        now = [1e9]

        def rest(seconds: float) -> None:
            now[0] += 1
            side.tick()

        clock = SimpleNamespace(time=lambda: now[0], sleep=rest, strftime=None)
        monkeypatch.setattr(cli, "time", clock)
        capsys.readouterr()
        assert cli.main([*words, "--port", str(side.port), "--timeout", "60"]) == 0
        return capsys.readouterr().out

    return call


def test_a_snapshot_of_ours_is_that_of_theirs_after_every_tick(btview: Callable[..., str]) -> None:
    with ours() as a, theirs() as b:
        for tick in range(ROUND + 3):
            told = [btview(side, "snapshot", "--ascii", "--uid") for side in (a, b)]
            assert told[0] == told[1], tick
            for side in (a, b):
                side.tick()
        assert "was FAILURE" in told[0] and "RUNNING" in told[0] and "door [opened]" in told[0]


def test_echo_tells_the_same_changes_in_the_same_order(btview: Callable[..., str]) -> None:
    told = []
    for make in (ours, theirs):
        with make() as side:
            told.append(CLOCK.sub("", btview(side, "echo", "--ascii", "--duration", str(ROUND + 3))))
    assert told[0] == told[1]
    assert told[0].count("RUNNING") > 5 and told[0].count("SUCCESS") > 3


def test_record_writes_the_same_tree_and_the_same_frames(btview: Callable[..., str], tmp_path: Path) -> None:
    found = []
    for name, make in (("ours", ours), ("theirs", theirs)):
        out = tmp_path / name
        with make() as side:
            btview(side, "record", "-o", str(out), "--duration", str(ROUND))
        head, *frames = map(json.loads, out.read_text().splitlines())
        found.append((tree(head["tree_xml"]), [dict(map(tuple, frame["s"])) for frame in frames]))
    assert found[0] == found[1]
    assert len(found[0][1]) >= ROUND


def tree(xml: str) -> list[Any]:
    """Names, kinds and numbers of the nodes in their order; ports are not told of ours."""
    body = ElementTree.fromstring(xml).find("BehaviorTree")
    assert body is not None
    return [(each.tag, each.get("name"), each.get("_uid")) for each in body.iter()]
