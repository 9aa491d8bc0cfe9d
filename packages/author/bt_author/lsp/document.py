"""A file of a workspace, and the loader that reads it alone and then together with the files it names."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from bt_author.lsp.entries import EntryPlace, EntryPlaces
from bt_author.lsp.text import Text
from bt_runtime.language import missing_file
from bt_runtime.language.checks import semantic
from bt_runtime.language.checks.subtree_ports import check_border
from bt_runtime.language.faults.diagnostic import Diagnostic
from bt_runtime.language.import_policy import ImportPolicy
from bt_runtime.language.kinds.registry import registry_of
from bt_runtime.language.loader import Loader
from bt_runtime.language.manifest import Manifest
from bt_runtime.language.project import Folder, find, names, real
from bt_runtime.language.source import Node, Scalar
from bt_runtime.language.spec import IncludeStep, NodeSpec, TreeSpec

Content = Literal["tree", "skills", "plan", "project", "prompt"]


class Include(NamedTuple):
    """A `tree` node, and the file that it refers to."""

    node: NodeSpec
    target: Path
    level: int


class Document:
    """A file of a workspace. `alone`: faults of the file itself; `linked`: faults in relation to the files it names."""

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
        self._entries: EntryPlaces | None = None

    def entries(self) -> EntryPlaces | None:
        """Returns the tree's entries, from its last readable version."""
        tree = self.spec or self.good
        if tree is None:
            return None
        if self._entries is None or self._entries.tree is not tree:
            self._entries = EntryPlaces(tree)
        return self._entries

    def known(self) -> dict[str, str]:
        """The entries by name, with their types."""
        entries = self.entries()
        return entries.types if entries is not None else {}

    def mentions(self, name: str) -> list[EntryPlace]:
        """Returns the places that name this entry; none while the tree is unreadable."""
        entries = self.entries() if self.spec is not None else None
        return entries.named(name) if entries is not None else []

    def targets(self) -> set[Path]:
        return {include.target for include in self.includes}


def interface(document: Document | None) -> Any:
    """Returns the part of a file that affects files naming it."""
    if document is None:
        return None
    if document.manifest is not None:
        return tuple(document.manifest.kinds)
    if document.spec is None:
        return ()
    ports = ((p._replace(span=None) for p in each.values()) for each in (document.spec.inputs, document.spec.outputs))
    return (document.spec.name, *(tuple(each) for each in ports))


class DocumentSite:
    """A project within a workspace, and where names lead in it. `project`: None without a project file."""

    def __init__(self, project: Path | None) -> None:
        self.project = project
        self.registry = registry_of(project)
        self.forget()

    def forget(self) -> None:
        """Clears the cached names after files were added or removed."""
        self.found: dict[tuple[str, Path], Path | str] = {}  # (tree's name, folder) → its file, or why there is none
        self.listed: dict[str, list[str]] = {}
        self.manifests: dict[str, Path | None] = {}

    def manifest_named(self, name: str) -> Path | None:
        if name not in self.manifests:
            path = find("skills", name, root=self.project)
            self.manifests[name] = real(path) if path is not None else None
        return self.manifests[name]

    def names(self, folder: Folder) -> list[str]:
        if folder not in self.listed:
            self.listed[folder] = list(names(folder, root=self.project))
        return self.listed[folder]


class Around(Protocol):
    """The workspace as a file's loader sees it."""

    def site(self, path: Path) -> DocumentSite: ...
    def is_open(self, path: Path) -> bool: ...
    def document(self, path: Path) -> Document | None: ...
    def manifest(self, path: Path) -> Manifest: ...
    def import_policy(self, folder: Path) -> ImportPolicy: ...


class DocumentLoader(Loader):
    """Loads one file of a workspace; it gets the content of other files from the workspace."""

    def __init__(self, workspace: Around, document: Document) -> None:
        self.workspace, self.site = workspace, workspace.site(document.path)
        super().__init__(self.site.project)
        self.project, self.registry = self.site.project, self.site.registry  # at hand there
        self.home = document.path.parent
        self.manifest_paths: list[Path] = []

    def shown(self, path: Path) -> str:
        return str(path)

    def import_policy(self, folder: Path) -> ImportPolicy | None:
        return self.workspace.import_policy(folder)

    def names(self, folder: Folder) -> list[str]:
        return self.site.names(folder)

    def include(self, name: str, folder: Path) -> Path | str:
        key = (name, folder)
        if key not in self.site.found:
            found = super().include(name, folder)
            self.site.found[key] = self.unsaved(name, folder) or found if found == "missing" else found
        return self.site.found[key]

    def unsaved(self, name: str, folder: Path) -> Path | None:
        """A tree of this name that an editor holds, though it is not on the disk yet."""
        places = [folder, *([self.project / "trees"] if self.project is not None else [])]
        paths = (place / f"{name.removesuffix('.yaml')}.yaml" for place in places)
        return next((path for path in paths if self.workspace.is_open(path)), None)

    def manifest(self, path: Path, folder: Path) -> Manifest:
        self.manifest_paths.append(real(path))
        return self.workspace.manifest(path)

    def manifest_with(self, kind: str) -> str:
        for name in self.names("skills"):
            path = self.site.manifest_named(name)
            if path is not None and any(k.name == kind for k in self.workspace.manifest(path).kinds):
                return f"a skill of `{name}`: add `skills: [{name}]`"
        return ""

    def link(self, document: Document) -> None:
        """Runs the checks that need the included trees."""
        spec = document.spec
        assert spec is not None
        document.includes, document.nodes, document.depth = [], 0, 0
        todo = [(spec.root, 1)]
        while todo:
            node, level = todo.pop()
            document.nodes, document.depth = document.nodes + 1, max(document.depth, level)
            todo.extend((child, level + 1) for child in reversed(node.children))
            if node.kind.includes and "file" in node.values:
                self.included(node, spec, document, level)
        semantic.check_tree(spec, self.diagnostics, document.lost)
        for include in document.includes:
            target = include.node.subtree or include.node.again
            if target is not None:
                check_border(spec, include.node, target, self.diagnostics)

    def included(self, node: NodeSpec, spec: TreeSpec, document: Document, level: int) -> None:
        name = str(node.values["file"])
        found = self.include(name, spec.folder)
        if not isinstance(found, Path):
            given = node.given.get("file")
            span = given.span if isinstance(given, Scalar) else node.span
            missing_file.not_included(self, found, name, node.file, span)
            return
        document.includes.append(Include(node, found, level))
        target = self.workspace.document(found)
        node.subtree = node.again = None
        if found == document.path:
            node.again = spec
        elif target is not None:
            node.subtree = target.spec


def step(document: Document, include: Include) -> IncludeStep:
    assert document.spec is not None
    return IncludeStep(document.path, document.spec, include.node)
