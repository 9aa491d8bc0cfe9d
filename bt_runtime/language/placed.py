"""Finds the nodes of a document by paths of its data."""

from __future__ import annotations

from bt_runtime.language.schema_quick import Path
from bt_runtime.language.source import Node, Scalar, YamlList, YamlMap


class DataPlaces:
    """Finds what stands at a path of the data: each mapping is gone through once, however many faults are in it."""

    def __init__(self, root: Node, file: str) -> None:
        self.root, self.file = root, file
        self.known: dict[int, dict[str, tuple[Scalar, Node]]] = {}

    def pairs(self, node: YamlMap) -> dict[str, tuple[Scalar, Node]]:
        if id(node) not in self.known:
            self.known[id(node)] = {str(key.value): (key, value) for key, value in node}
        return self.known[id(node)]

    def at(self, path: Path) -> Node:
        node = self.root
        for step in path:
            if isinstance(node, YamlMap):
                node = self.pairs(node)[str(step)][1]
            elif isinstance(node, YamlList):
                node = node.items[int(step)]
        return node
