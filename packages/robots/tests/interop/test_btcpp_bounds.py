"""An import's work grows with the file, and what is too large is refused in words."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from bt_robots.btcpp import importer
from bt_runtime import BtError


def chain(n: int) -> str:
    """Each tree calls the next, which stands before or after it in the file; each writes an entry of its own."""
    tree = '<BehaviorTree ID="T{0}"><Sequence><Script code="w:={0}"/><SubTree ID="T{1}" _autoremap="true"/></Sequence>'
    order = [*range(0, n, 2), *range(1, n, 2)]
    return "".join(tree.format(i, i + 1) + "</BehaviorTree>" for i in order) + (
        f'<BehaviorTree ID="T{n}"><AlwaysSuccess/></BehaviorTree>'
    )


def one(body: str) -> str:
    return f'<BehaviorTree ID="T0"><Sequence>{body}</Sequence></BehaviorTree>'


FILES: dict[str, Callable[[int], str]] = {
    "chain": chain,
    "trees": lambda n: "".join(f'<BehaviorTree ID="T{i}"><AlwaysSuccess/></BehaviorTree>' for i in range(n)),
    "calls": lambda n: one('<SubTree ID="T1" a="1"/>' * n) + '<BehaviorTree ID="T1"><AlwaysSuccess/></BehaviorTree>',
    "nodes": lambda n: one("".join(f'<N{i} p="1"/>' for i in range(n))),
    "ports": lambda n: one("".join(f'<Foo p{i}="1"/>' for i in range(n // 2))),
    "names": lambda n: one('<AlwaysSuccess name="a"/>' * n),
}


def write(folder: Path, body: str) -> Path:
    path = folder / "robot.xml"
    path.write_text(f'<root BTCPP_format="4" main_tree_to_execute="T0">{body}</root>', encoding="utf-8")
    return path


def lines(path: Path) -> int:
    """How many lines of the importer an import executes."""
    count = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        if "btcpp" not in frame.f_code.co_filename:
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        importer.load(path)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("shape", FILES)
def test_four_times_the_file_is_about_four_times_the_work(tmp_path: Path, shape: str) -> None:
    small, large = (lines(write(tmp_path, FILES[shape](n))) for n in (100, 400))
    assert large < 6 * small, f"{large / small:.1f} times the lines"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (FILES["trees"](importer.MOST_TREES + 1), "2,001 trees, more than 2,000"),
        (FILES["nodes"](importer.MOST_MODELS + 1), "2,001 kinds of nodes of their own, more than 2,000"),
        (FILES["ports"](2 * importer.MOST_PORTS + 2), "`Foo` has 501 ports, more than 500"),
    ],
)
def test_too_many_trees_kinds_or_ports_are_refused_with_both_counts(tmp_path: Path, body: str, words: str) -> None:
    with pytest.raises(BtError, match=words):
        importer.load(write(tmp_path, body))
