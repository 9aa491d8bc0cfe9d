"""Reading YAML against PyYAML's own C compose of the same text; an expression against Python's eval of it, compiled."""

from __future__ import annotations

import builtins
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import yaml

from bt_runtime.language.source import parse
from bt_runtime.plugins import Template, compile

sys.path.insert(0, str(Path(__file__).parent))
from rows import Row


def plan(nodes: int) -> str:
    """A tree of so many nodes, as a person would write it."""
    lines = ["version: 1", "tree: big", "root:", "  sequence:"]
    for number in range(0, nodes, 5):
        lines += [
            "    - fallback:",
            f"        - check: battery < {number}",
            "        - retry:",
            "            times: 3",
            "            child:",
            f'              log: {{text: "room {number}", level: info}}',
            "        - wait: 1",
        ]
    return "\n".join(lines) + "\n"


def side_by_side(ours: Callable[[], object], theirs: Callable[[], object], rounds: int = 15) -> tuple[float, float]:
    """Medians of both, in turns, so that a busy machine disturbs them alike."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for work, found in zip((ours, theirs), times, strict=True):
            start = time.perf_counter()
            work()
            found.append(time.perf_counter() - start)
    return statistics.median(times[0]), statistics.median(times[1])


def rows() -> Iterator[Row]:
    text = plan(5_000)
    ours, theirs = side_by_side(lambda: parse(text), lambda: yaml.compose(text, Loader=yaml.CSafeLoader))
    figures = f"ours {ours * 1e3:.1f} ms, C compose {theirs * 1e3:.1f} ms"
    yield Row("read 5,000 nodes with places and checks", figures, ours / theirs, "≤ 1.5 × the bare C compose")

    scope = {"battery": 0.1, "low": 0.2, "room": "kitchen"}
    many = range(20_000)
    made, python = compile("battery < low"), builtins.compile("battery < low", "", "eval")
    ours, theirs = side_by_side(
        lambda: [made.evaluate(scope) for _ in many], lambda: [eval(python, {}, scope) for _ in many], 7
    )
    figures = f"ours {ours / len(many) * 1e9:.0f} ns, eval {theirs / len(many) * 1e9:.0f} ns"
    yield Row("evaluate `battery < low`", figures, ours / theirs, "≤ 4 × Python's eval of compiled code")

    filled = Template("go to {room} with {battery}")
    ours, theirs = side_by_side(
        lambda: [filled.evaluate(scope) for _ in many],
        lambda: ["go to {room} with {battery}".format_map(scope) for _ in many],
        7,
    )
    figures = f"ours {ours / len(many) * 1e9:.0f} ns, str.format_map {theirs / len(many) * 1e9:.0f} ns"
    yield Row("fill `go to {room} with {battery}`", figures, ours / theirs, "≤ 10 × str.format_map")
