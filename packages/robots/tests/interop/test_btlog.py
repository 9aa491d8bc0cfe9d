"""Logs of BehaviorTree.CPP: ours beside one that its FileLogger wrote of the same run, and both on the page."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import bt_runtime as bt
from bt_robots.btcpp import btlog
from bt_runtime import BtError
from bt_runtime.cli import main
from bt_runtime.run.view.recorded import events_of
from packages.robots.tests.interop.pairs import SKILLS, YAML


@pytest.fixture
def logs(tmp_path: Path) -> tuple[Path, Path]:
    pytest.importorskip("behaviortreepy")
    own, other = tmp_path / "own.btlog", tmp_path / "other.btlog"
    with bt.Run(bt.load(YAML, skills=SKILLS), journal=tmp_path / "runs") as run:
        assert run.spin() is bt.Status.FAILURE
    words = ["runs", "export", "last", "--runs", str(tmp_path / "runs"), "--format", "btlog", "-o", str(own)]
    assert main(words) == 0
    root = Path(__file__).parents[4]
    subprocess.run(
        [sys.executable, "-m", "packages.robots.tests.interop.pairs", str(other)], cwd=root, check=True, timeout=900
    )
    return own, other


def laid_out(path: Path) -> tuple[bytes, list[tuple[str, str | None]], list[tuple[int, int]], int]:
    """By the layout alone: the magic word, the nodes, (node, status) of the records, how much is left over."""
    data = path.read_bytes()
    (size,) = struct.unpack_from("<i", data, 19)
    nodes = [
        (e.tag, e.get("_uid")) for e in ElementTree.fromstring(data[23 : 23 + size]).iter() if e.get("_uid") is not None
    ]
    body = data[31 + size :]
    records = [struct.unpack_from("<HB", body, at + 6) for at in range(0, len(body) - 8, 9)]
    return data[:19], nodes, records, len(body) % 9


def results(records: list[tuple[int, int]]) -> dict[int, list[int]]:
    return {
        uid: [code for each, code in records if each == uid and code > 1] for uid in sorted({u for u, _ in records})
    }


def test_ours_is_laid_out_as_theirs_and_tells_the_same_results(logs: tuple[Path, Path]) -> None:
    own, other = map(laid_out, logs)
    assert own[0] == other[0] and own[1] == other[1]
    assert results(own[2]) == results(other[2]) and own[3] == other[3] == 0
    times = [abs(btlog.read(path).started) for path in logs]
    assert abs(times[0] - times[1]) < 3600  # both in microseconds since 1970


def test_both_are_shown_on_the_page_as_the_same_tree(logs: tuple[Path, Path], tmp_path: Path) -> None:
    shown = []
    for path in logs:
        events = list(events_of(path))
        shape = next(e for e in events if e["k"] == "shape")
        told = [(number, letter) for e in events if e["k"] == "tick" for number, letter, *_ in e["s"]]
        last = dict(told)
        shown.append(([row[:6] for row in shape["add"]], shape["order"], {n: last[n] for n in sorted(last)}))
        assert events[-1]["k"] == "over" and events[-1]["status"] == "F"
    assert shown[0] == shown[1]
    page = tmp_path / "page.html"
    assert main(["view", str(logs[1]), "--html", str(page)]) == 0
    assert "door" in page.read_text("utf-8")


def test_a_damaged_log_is_a_fault_in_words(logs: tuple[Path, Path], tmp_path: Path) -> None:
    data, bad = logs[1].read_bytes(), tmp_path / "bad.btlog"
    doctype = b'<!DOCTYPE r [<!ENTITY a "b">]><root/>'
    for text in (b"", data[:18], data[:23], data[:500], data[:19] + b"\xff\xff\xff\xff" + data[23:],
                 data[:19] + struct.pack("<i", len(doctype)) + doctype + bytes(8)):  # fmt: skip
        bad.write_bytes(text)
        with pytest.raises(BtError, match=r"bad\.btlog"):
            list(events_of(bad))
    bad.write_bytes(data[:-4])
    assert len(btlog.read(bad).changes) == len(btlog.read(logs[1]).changes) - 1
