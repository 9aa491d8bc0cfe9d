"""Proofs of binary trees as large as the largest that other checkers decide, and checks of grafts against a tick."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from random import Random

from bt_author.proof.check import check
from bt_runtime import Run, Tree, load
from bt_runtime.agents import ModelNode
from bt_runtime.language.entry import SkillEntry, skill_kind
from bt_runtime.run.monitoring.watch import Watch
from bt_runtime.testing import RUNNING

sys.path.insert(0, str(Path(__file__).parent))
from behaverify import bigger_fish, checklist, done
from rows import Row

ACTS = ("go: {}", "grab: {}", "lift: {}")
LEVELS = 10  # of control nodes: 2,047 nodes in all, the leaves with them


def binary(levels: int) -> Tree:
    """Sequences and fallbacks by turns, each of two; the leaves are skills."""
    leaves = [f"leaf{number}" for number in range(2**levels)]
    kinds = [skill_kind(name, "", (), SkillEntry(name, "python", "", {})) for name in leaves]
    rows = [f"{{{name}: {{}}}}" for name in leaves]
    for level in range(levels):
        kind = "sequence" if level % 2 else "fallback"
        rows = [f"{{{kind}: [{one}, {other}]}}" for one, other in zip(rows[::2], rows[1::2], strict=True)]
    return load(f"version: 1\ntree: t\nroot: {rows[0]}\n", skills=kinds)


PROPERTIES = (
    ("never", "leaf0 is running and leaf3 is running"), ("never", "leaf512 is running"), ("never", "tree is success"),
    ("ltl", "(leaf1023 is idle) W (leaf0 is not idle)"), ("ltl", "G(leaf1 is running -> F leaf1 is not running)"),
    ("ltl", "F tree is success"),
)  # fmt: skip


def rows() -> Iterator[Row]:
    tree = binary(LEVELS)
    for word, text in PROPERTIES:
        began = time.perf_counter()
        [result] = check(tree, **{word: text}, properties=[], seconds=120)
        took = time.perf_counter() - began
        yield Row(f"2,047 nodes: {word} `{text[:34]}`", f"{result.outcome}, {result.states:,} states", took, "≤ 7 s")
    yield from _families()
    spent = sorted(_grafts(200))
    most = spent[int(len(spent) * 0.99)]
    figures = f"two properties, median {statistics.median(spent) * 1000:.1f} ms; processor time"
    yield Row("a plan of 20 nodes held against 500, p99", figures, most * 1000, "≤ 10 ms")


def _families() -> Iterator[Row]:
    """Each tree and property of the families at their largest."""
    for link in ("parallel", "sequence", "fallback"):
        tree = checklist(link, 514)
        for item, word in product((0, 257, 513), ("is success", "is not success")):
            text = f"G(check{item} is failure -> {done(tree, item)} {word})"
            yield _decided(f"checklist of {link}s, 2,055 nodes: item {item} {word}", tree, text)
    for link in ("parallel", "sequence"):
        yield _decided(f"bigger fish, {link}, 190 checks: it rests at 191", bigger_fish(link, 190), "F G fish == 191")


def _decided(name: str, tree: Tree, formula: str) -> Row:
    began = time.perf_counter()
    [result] = check(tree, ltl=formula, properties=[], seconds=120)
    return Row(name, f"{result.outcome}, {result.states:,} states", time.perf_counter() - began, "≤ 7 s")


def _grafts(count: int) -> Iterator[float]:
    random = Random(1)
    kinds = [skill_kind(name, "", (), SkillEntry(name, "python", "", {})) for name in ("go", "grab", "lift")]
    parts = "".join(
        f"        - sequence: [{', '.join(random.choices(('go: {}', 'grab: {}', 'lift: {}'), k=9))}]\n"
        for _ in range(49)
    )
    head = "version: 1\ntree: t\nblackboard: {holding: {type: boolean, default: false}}\n"
    held = (
        "properties:\n  soft: {never: holding and grab is running}\n  few: {at_most: {times: 3, of: lift is running}}\n"
    )
    text = (
        f"{head}{held}root:\n  reactive_sequence:\n    - fallback:\n        - agent: {{goal: tidy, name: a}}\n{parts}"
    )
    with Run(load(text, skills=kinds)) as run:
        agent = next(node for node in run.nodes() if isinstance(node, ModelNode))
        above = agent
        while above is not None:
            above.status, above = RUNNING, above.parent
        watch = run.parts.extensions[Watch]
        past = watch.whole.past
        for _ in range(count):
            steps = ", ".join([*random.choices(("go: {}", "go: {}"), k=17), "set: {holding: true}", "grab: {}"])
            spec = run.parts.engine.growth.checked("/t/0/a", f"sequence: [{steps}]")
            began = time.thread_time()
            watch.grafts.check(agent, spec, past)
            yield time.thread_time() - began
