"""One file of a workspace, and the loader that reads it by itself and then beside the files it names."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from bt_runtime.faults.diagnostic import Diagnostic
from bt_runtime.interop.lsp.entries import known
from bt_runtime.interop.lsp.text import Text
from bt_runtime.language.checks import meaning
from bt_runtime.language.checks.recursion import Step
from bt_runtime.language.checks.subtree_ports import check_border
from bt_runtime.language.findings import Findings
from bt_runtime.language.kinds.kind import Registry
from bt_runtime.language.loader import Loader
from bt_runtime.language.manifest import Manifest
from bt_runtime.language.reach import Reach
from bt_runtime.language.source import Limits, Node, Scalar
from bt_runtime.language.spec import DEFAULT_CAPS, NodeSpec, TreeSpec
from bt_runtime.project import Folder

Content = Literal["tree", "skills", "plan", "project", "prompt"]


class Include(NamedTuple):
    """A `tree` node, and the file that it stands for."""

    node: NodeSpec
    target: Path
    level: int


class Unit:
    """`alone`: what is at fault in the file itself; `linked`: what is with the files that it names."""

    def __init__(self, path: Path, content: Content, text: Text) -> None:
        self.path, self.content, self.text = path, content, text
        self.root: Node | None = None
        self.spec: TreeSpec | None = None
        self.good: TreeSpec | None = None  # the last one that could be read: what is known while the text is broken
        self.lost: Set[str] | None = None  # words of what could not be read
        self.manifest: Manifest | None = None
        self.alone: list[Diagnostic] = []
        self.linked: list[Diagnostic] = []
        self.named: list[Path] = []  # manifests
        self.includes: list[Include] = []
        self.nodes = self.depth = 0
        self._known: tuple[TreeSpec, dict[str, str]] | None = None

    def known(self) -> dict[str, str]:
        """The entries of the tree, as far as it could be read, and their types."""
        tree = self.spec or self.good
        if tree is None:
            return {}
        if self._known is None or self._known[0] is not tree:
            self._known = (tree, known(tree))
        return self._known[1]

    def targets(self) -> set[Path]:
        return {include.target for include in self.includes}


def interface(unit: Unit | None) -> Any:
    """How a file looks to those that name it."""
    if unit is None:
        return None
    if unit.manifest is not None:
        return tuple(unit.manifest.kinds)
    if unit.spec is None:
        return ()
    ports = ((p._replace(span=None) for p in each.values()) for each in (unit.spec.inputs, unit.spec.outputs))
    return (unit.spec.name, *(tuple(each) for each in ports))


class Around(Protocol):
    """What a file's loader asks of the workspace."""

    project: Path | None
    registry: Registry
    found: dict[tuple[str, Path], Path | str]  # where the name of a tree leads, from a folder

    def unit(self, path: Path) -> Unit | None: ...
    def names(self, folder: Folder) -> list[str]: ...
    def manifest(self, path: Path) -> Manifest: ...
    def manifest_named(self, name: str) -> Path | None: ...
    def reach(self, folder: Path) -> Reach: ...


class UnitLoader(Loader):
    """The loader, for one file of a workspace: what other files say is asked of the workspace."""

    def __init__(self, workspace: Around, unit: Unit) -> None:  # of its base, what costs time is at hand here
        self.workspace = workspace
        self.project = workspace.project
        self.registry = workspace.registry
        self.caps, self.limits = DEFAULT_CAPS, Limits()
        self.findings = Findings()
        self.loaded, self.files, self.manifests, self.taken = {}, {}, {}, {}
        self.imports = True
        self.home = unit.path.parent
        self.manifest_paths: list[Path] = []

    def shown(self, path: Path) -> str:
        return str(path)

    def reach(self, folder: Path) -> Reach | None:
        return self.workspace.reach(folder)

    def names(self, folder: Folder) -> list[str]:
        return self.workspace.names(folder)

    def include(self, name: str, folder: Path) -> Path | str:
        key = (name, folder)
        if key not in self.workspace.found:
            self.workspace.found[key] = super().include(name, folder)
        return self.workspace.found[key]

    def manifest(self, path: Path, folder: Path) -> Manifest:
        self.manifest_paths.append(path.resolve())
        return self.workspace.manifest(path)

    def manifest_with(self, kind: str) -> str:
        for name in self.names("skills"):
            path = self.workspace.manifest_named(name)
            if path is not None and any(k.name == kind for k in self.workspace.manifest(path).kinds):
                return f"a skill of `{name}`: add `skills: [{name}]`"
        return ""

    def link(self, unit: Unit) -> None:
        """The checks that need the trees it includes."""
        spec = unit.spec
        assert spec is not None
        unit.includes, unit.nodes, unit.depth = [], 0, 0
        todo = [(spec.root, 1)]
        while todo:
            node, level = todo.pop()
            unit.nodes, unit.depth = unit.nodes + 1, max(unit.depth, level)
            todo.extend((child, level + 1) for child in reversed(node.children))
            if node.kind.includes and "file" in node.values:
                self.included(node, spec, unit, level)
        meaning.check_tree(spec, self.findings, unit.lost)
        for include in unit.includes:
            target = include.node.subtree or include.node.again
            if target is not None:
                check_border(spec, include.node, target, self.findings)

    def included(self, node: NodeSpec, spec: TreeSpec, unit: Unit, level: int) -> None:
        name = str(node.values["file"])
        found = self.include(name, spec.folder)
        if not isinstance(found, Path):
            given = node.given.get("file")
            self.not_included(found, name, node.file, given.span if isinstance(given, Scalar) else node.span)
            return
        unit.includes.append(Include(node, found, level))
        target = self.workspace.unit(found)
        node.subtree = node.again = None
        if found == unit.path:
            node.again = spec
        elif target is not None:
            node.subtree = target.spec


def step(unit: Unit, include: Include) -> Step:
    assert unit.spec is not None
    return Step(unit.path, unit.spec, include.node)
