"""A tree of py_trees and the project that is imported of it, ticked side by side."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import py_trees

import bt_runtime as bt
from bt_robots.pytrees import importer
from bt_robots.pytrees.nodes import shown
from bt_runtime.clock import Manual

RUNNING = py_trees.common.Status.RUNNING


def project(source: Path, folder: Path) -> Path:
    """Writes the project; returns the file of its main tree."""
    got = importer.load([source])
    for name, text in got.files.items():
        (path := folder / name).parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "trees" / f"{got.main}.yaml"


def by_name(root: Any) -> dict[str, Any]:
    """The nodes whose name stands once in their tree."""
    nodes = list(root.iterate())
    counted = Counter(shown(node.name) for node in nodes)
    return {shown(node.name): node for node in nodes if counted[shown(node.name)] == 1}


def differences(theirs: Any, tree: Path, ticks: int) -> list[str]:
    """Ticks both; returns where the root, or a node of the same name that was ticked, has another status. A node that
    was not ticked may not be running in one of them alone."""
    py_trees.blackboard.Blackboard.storage.clear()
    theirs.setup_with_descendants()
    found: list[str] = []
    with bt.Run(bt.load(tree), clock=Manual()) as run:
        for number in range(ticks):
            result, visited = run.tick().status, {node.id for node in theirs.tick()}
            if result is not theirs.status:
                found.append(f"tick {number}: the root is {theirs.status} there, {result} here")
            ours = {shown(node.name): node for node in run.parts.engine.root.iterate()}  # the outermost of a name
            for name, node in by_name(theirs).items():
                here = ours[name].status
                same = here is node.status if node.id in visited else RUNNING not in (here, node.status)
                if not same and here is not node.status:
                    found.append(f"tick {number}: {name} is {node.status.name} there, {here.name} here")
    return found
