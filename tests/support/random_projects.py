"""Random trees that include others: with ports, aliases and `autoremap`, sensors that the tree resets, lists that are
used up, and what raises."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import yaml

from bt_runtime import Tree, load
from tests.support.random_trees import SKILLS, Maker

BOOLEAN = {"type": "boolean"}
SMALL = {"type": "integer", "minimum": 0, "maximum": 2}
TYPES: dict[str, dict[str, Any]] = {"a": BOOLEAN, "b": BOOLEAN, "n": SMALL}
COMPUTED = {"a": ("{not b}", "{b}", True), "b": ("{a}", "{not a}", False), "n": ("{(n + 1) % 3}", 1, "{n}")}


class ProjectMaker(Maker):
    """`grows`: also with a tree that contains itself."""

    def __init__(
        self, random: Random, timed: bool = True, size: int = 10, grows: bool = False, asks: float = 0
    ) -> None:
        super().__init__(random, timed, size, asks=asks)
        self.grows = grows
        self.files: dict[str, str] = {}

    def project(self, folder: Path) -> Path:
        """Writes the tree and what it includes; returns its file."""
        said = {name: {**kind, "default": 0 if name == "n" else False} for name, kind in TYPES.items()}
        for port in said.values():
            port.update(self.random.choice(({}, {}, {"outside": True}, {"outside": True}, {"outside": False})))
        head = {"blackboard": {**said, "q": {"type": "list", "default": [1, 2]}}}
        self.files["t"] = self.text(**head)
        (folder / "trees").mkdir(parents=True, exist_ok=True)
        (folder / "btr.yaml").write_text("version: 1\n")
        for name, text in self.files.items():
            (folder / "trees" / f"{name}.yaml").write_text(text)
        return folder / "trees" / "t.yaml"

    def load(self, folder: Path) -> Tree:
        return load(self.project(folder), skills=SKILLS, project=folder)

    def control(self, depth: int) -> dict[str, Any]:
        if self.random.random() < 0.55:
            return super().control(depth)
        kinds = ["tree", "tree", "tree", "for_each", "try", *(["grows"] if self.grows else [])]
        match self.random.choice(kinds):
            case "tree":
                return self.included(depth)
            case "for_each":
                empty = self.random.choice(("success", "failure", "skip"))
                return {"for_each": {"from": "q", "as": "item", "empty": empty, "child": self.node(depth)}}
            case "grows":
                return self.recursive()
        on = self.random.choice(("exception", "any"))
        return {"try": {"do": self.node(depth), "catch": self.node(depth), "finally": self.node(depth), "on": on}}

    def included(self, depth: int) -> dict[str, Any]:
        """Returns a node that includes a new tree."""
        name = f"s{len(self.files)}"
        self.files[name] = ""
        root = self.node(depth)
        wrote = set(_written(root))
        ports: dict[str, dict[str, Any]] = {"inputs": {}, "outputs": {}, "blackboard": {}}
        given: dict[str, Any] = {}
        for entry, kind in TYPES.items():
            default = {"default": 1 if entry == "n" else True}
            match self.random.choice(("inputs", "outputs", "outputs", "blackboard", "none")):
                case "inputs" if entry not in wrote:
                    ports["inputs"][entry] = kind
                    given[entry] = self.random.choice((f"{{{self.alias(entry)}}}", *COMPUTED[entry]))
                case "inputs" | "outputs":
                    ports["outputs"][entry] = {**kind, **self.random.choice(({}, default))}
                    given[entry] = f"{{{self.alias(entry)}}}"
                case "blackboard":
                    ports["blackboard"][entry] = {**kind, **default}
        head = {section: of for section, of in ports.items() if of}
        tree = {"version": 1, "tree": name, **head, "root": root}
        self.files[name] = str(yaml.safe_dump(tree, sort_keys=False))
        more = {"with": given} if given else {}
        return {"tree": {"file": name, **more, **self.random.choice(({}, {}, {"autoremap": True}))}}

    def alias(self, entry: str) -> str:
        return entry if entry == "n" else self.random.choice((entry, entry, "a", "b"))

    def recursive(self) -> dict[str, Any]:
        name = f"s{len(self.files)}"
        self.files[name] = ""
        again = {"tree": {"file": name, "with": {"k": "{k - 1}", "a": "{a}"}}}
        branch = {"if": {"check": "k > 0", "then": again, "else": {"set": {"a": True}}}}
        ports = {"inputs": {"k": {"type": "integer"}}, "outputs": {"a": BOOLEAN}}
        tree = {"version": 1, "tree": name, **ports, "root": {"sequence": [self.leaf(), branch]}}
        self.files[name] = str(yaml.safe_dump(tree, sort_keys=False))
        return {"tree": {"file": name, "with": {"k": self.random.choice((0, 1)), "a": "{a}"}}}

    def leaf(self) -> dict[str, Any]:
        if self.random.random() < 0.07:
            return {"set": {"q": self.random.choice(("{q + [1]}", [1], [2, 1]))}}
        return super().leaf()


def _written(node: Any) -> Iterator[str]:
    """Returns the entries that a part, as data, may write."""
    if isinstance(node, list):
        for each in node:
            yield from _written(each)
    for key, value in node.items() if isinstance(node, dict) else ():
        if key in ("set", "on_success", "on_failure", "on_halt"):
            yield from value
        elif key == "unset":
            yield value
        elif key in ("look", "with"):
            yield from (str(each).strip("{}") for each in value.values())
        elif key == "tree" and value.get("autoremap"):
            yield from TYPES
        yield from _written(value)
