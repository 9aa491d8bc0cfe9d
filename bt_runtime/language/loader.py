"""Loads a text to a checked tree. Every plan passes through here, written by a person or a model."""

from __future__ import annotations

from collections.abc import Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bt_runtime.language import project, source
from bt_runtime.language.checks import semantic
from bt_runtime.language.diagnostics import Diagnostics
from bt_runtime.language.faults.diagnostic import BtError, Diagnostic, Faults
from bt_runtime.language.header import Header
from bt_runtime.language.kinds.kind import Kind, Registry
from bt_runtime.language.kinds.registry import registry_of, says
from bt_runtime.language.project import real, shown_path
from bt_runtime.language.reader import NodeReader
from bt_runtime.language.source import Document, Limits, Node, Scalar, YamlList, YamlMap
from bt_runtime.language.source.pause import PausedCollection
from bt_runtime.language.spec import DEFAULT_CAPS, Caps, IncludeStep, TreeSpec

if TYPE_CHECKING:
    from bt_runtime.language.implementations import CheckedFiles
    from bt_runtime.language.import_policy import ImportPolicy
    from bt_runtime.language.manifest import Manifest

RULES = ("properties", "policies")
MOST_FILES = 100  # files nested in each other: each takes a level of Python's stack


class Checked(NamedTuple):
    """The result of a check: the tree, or None after errors, and all diagnostics."""

    tree: TreeSpec | None
    diagnostics: Sequence[Diagnostic]
    sources: dict[str, str]

    def sound(self) -> TreeSpec:
        if self.tree is None:
            raise Faults(self.diagnostics, self.sources)
        return self.tree


def _apart(skills: tuple[Kind, ...], known: Registry) -> tuple[Kind, ...]:
    """Returns the skills written in Python; raises when one has the name of another kind."""
    seen: set[str] = set()
    for kind in skills:
        if kind.name in known or kind.name in seen:
            other = "a kind of node" if kind.name in known else "another one"
            raise BtError(f"a skill is called `{kind.name}`, as {other} is", "give it a name: @skill(name='…')")
        seen.add(kind.name)
    return skills


class Loader:
    """Loads one tree and all it includes. `skills` are kinds that need no manifest (Python skills of the caller)."""

    def __init__(
        self, root: Path | None = None, skills: tuple[Kind, ...] = (), caps: Caps = DEFAULT_CAPS,
        limits: Limits | None = None,
    ) -> None:  # fmt: skip
        self.skills_given = skills
        self.found_by_file = root is None  # the project is that of the first file
        self.within(root or project.find_root())
        self.caps = caps
        self.limits = limits or Limits()
        self.diagnostics = Diagnostics()
        self.manifests: dict[TreeSpec, list[tuple[str, Manifest]]] = {}  # of trees not read yet
        self.loaded: dict[Path, TreeSpec | None] = {}
        self.unlisted: set[TreeSpec] = set()  # trees that name a manifest which is not there
        self.files: dict[Path, str] = {}  # every file that was read, with its text
        self.imports = True  # checks that named Python lies in the project; off where nothing is imported
        self.taken: dict[str, None] = {}  # shipped trees that were taken by their name alone
        self.home: Path | None = None  # the folder of the first file: what may be read when there is no project

    def within(self, root: Path | None) -> None:
        """Takes this project's content and kinds."""
        self.project = root
        known = registry_of(root)
        self.registry = known.with_kinds(_apart(self.skills_given, known))

    def beside(self, path: Path) -> None:
        """Takes the project around the first file, unless the caller named one. Shipped trees have none."""
        self.found_by_file = False
        root = None if project.shipped(path, "trees") else project.find_root(path.parent)
        if root is not None and root != self.project:
            self.within(root)

    def file(self, path: Path | str) -> Checked:
        """Checks a file; a name without a folder is also looked for among the project's and the shipped trees."""
        found = self.locate(str(path))
        if found is not None:
            if self.found_by_file:
                self.beside(found.resolve())
            with PausedCollection():
                return self.checked(self.load(found, ()))
        document = source.read(path, str(path), self.limits)  # says why there is no such file
        from bt_runtime.language import missing_file

        label = missing_file.tree_meant(self, str(path))
        document.diagnostics = [d._replace(label=d.label or label) for d in document.diagnostics]
        return self.checked(self.tree(document, Path.cwd()))

    def text(self, text: str | bytes, name: str = "text", folder: Path | None = None) -> Checked:
        self.home = real(folder or Path.cwd())
        with PausedCollection():
            return self.checked(self.tree(source.parse(text, name, self.limits), self.home))

    def checked(self, tree: TreeSpec | None) -> Checked:
        if tree is not None:
            semantic.check(tree, self.diagnostics, self.caps)
        for each in (tree, *self.loaded.values()):
            if each is not None:
                for node in each.root.walk():
                    node.given, node.source = {}, each.text
        found = self.diagnostics.sorted()
        if self.loaded and not found and type(self) is Loader:
            from bt_runtime.language import kept

            kept.keep(self)
        return Checked(None if self.diagnostics.errors else tree, found, self.diagnostics.sources)

    # Files -----------------------------------------------------------------------------------

    def locate(self, name: str) -> Path | None:
        if not project.nameable(name, 4000):
            return None
        direct = Path(name)
        return direct if direct.is_file() else self.named(name).path

    def named(self, name: str) -> project.FoundTree:
        found = project.find_tree(name, self.project)
        if found.shipped:
            self.taken.setdefault(name.removesuffix(".yaml"))
        return found

    def load(self, path: Path, way: tuple[IncludeStep, ...]) -> TreeSpec | None:
        path = real(path)
        if self.home is None:
            self.home = path.parent
        if path in self.loaded:
            return self.loaded[path]
        from bt_runtime.language import kept

        self.loaded[path] = tree = kept.taken(self, path) if way and type(self) is Loader else None
        if tree is None:  # until it is whole: a tree that contains itself is met here
            document = source.read(path, shown_path(path), self.limits)
            self.files[path] = document.text
            self.loaded[path] = tree = self.tree(document, path.parent, way, path)
        return tree

    def include(self, name: str, folder: Path) -> Path | str:
        """Returns the file of a subtree, or a diagnostic."""
        if not project.nameable(name):
            return "missing"
        found = next(filter(Path.is_file, (folder / name, folder / f"{name}.yaml")), None)
        if found is None:
            shipped = project.shipped(folder, "trees")
            found = (project.find_tree(name, self.project) if shipped else self.named(name)).path
        if found is None:
            return "missing"
        return real(found) if self.allowed(found, folder) else "outside"

    def allowed(self, path: Path, folder: Path) -> bool:
        """True when a tree of this folder may use the file: it lies in the project, or among the shipped files."""
        home = self.project or self.home or folder
        return real(path).is_relative_to(real(home)) or project.shipped(path, "trees", "skills")

    def import_policy(self, folder: Path) -> ImportPolicy | None:
        """Returns the import policy for files of this folder."""
        if not self.imports:
            return None
        from bt_runtime.language.import_policy import policy_of

        return policy_of(self.project or self.home or folder)

    def foreign(self, spec: TreeSpec) -> None:
        """Checks `py` nodes, whose Python the tree itself names."""
        nodes = [node for node in spec.root.walk() if node.kind.foreign and "class" in node.values]
        import_policy = self.import_policy(spec.folder) if nodes else None
        if import_policy is not None:
            from bt_runtime.language import implementations

            self.python(implementations.of_nodes(nodes, import_policy, spec.folder))

    # Trees -----------------------------------------------------------------------------------

    def tree(
        self, document: Document, folder: Path, way: tuple[IncludeStep, ...] = (), path: Path | None = None
    ) -> TreeSpec | None:
        spec, lost = self.alone(document, folder)
        if spec is None:
            return None
        self.subtrees(spec, way, path)
        semantic.check_tree(spec, self.diagnostics, lost)
        return spec

    def alone(self, document: Document, folder: Path) -> tuple[TreeSpec | None, Set[str] | None]:
        """Loads the tree without those it includes. Returns it with the words of unreadable parts, for `check_tree`."""
        self.diagnostics.sources[document.name] = document.text
        self.diagnostics.add(*document.diagnostics)
        top = document.root
        if top is None:
            return None, None
        if not isinstance(top, YamlMap):
            message = "a tree file is a mapping with `version`, `tree` and `root`"
            self.diagnostics.error("BT018", message, document.name, top.span)
            return None, None
        header = Header(top, document.name, self.diagnostics)
        spec = TreeSpec(header.name(), document.name, document.text, folder, self.registry)
        spec.about = header.text("about")
        spec.moves = header.text("moves") == "true"
        spec.inputs, spec.outputs, spec.entries = (header.ports(k) for k in ("inputs", "outputs", "blackboard"))
        if "shared:" in document.text or "stale" in document.text:
            from bt_runtime.language import shared

            shared.read(top, spec, self.diagnostics)
        spec.registry = self.skills(top.get("skills"), spec)
        self.rules(top, spec)
        root = top.get("root")
        if root is None:
            return None, None
        reader = NodeReader(spec.file, spec.registry, self.diagnostics, self.caps.depth, self.manifest_with)
        reader.unlisted = spec in self.unlisted
        node = reader.read(root)
        if node is None:
            return None, None
        spec.root = node
        if spec.policies:
            from bt_runtime.language.policies import flow

            flow.check(spec, self.diagnostics)
        self.foreign(spec)
        self.implementations(spec)
        return spec, reader.lost if reader.whole else None

    def skills(self, node: Node | None, spec: TreeSpec) -> Registry:
        """Returns the registry with the skills of the manifests that the tree lists."""
        registry = self.registry
        spec.shared |= {name: None for kind in self.skills_given for name in kind.data.get("locks", ())}
        if not isinstance(node, YamlList):
            return registry
        for item in node:
            name = item.text if isinstance(item, Scalar) else ""
            path = project.find("skills", name, root=self.project) if project.nameable(name) else None
            if path is None or not self.allowed(path, spec.folder):
                from bt_runtime.language import missing_file

                if path is None:
                    missing_file.no_manifest(self, name, spec.file, item.span)
                    self.unlisted.add(spec)
                else:
                    missing_file.not_included(self, "outside", name, spec.file, item.span)
                continue
            read = self.manifest(path, spec.folder)
            self.diagnostics.sources[shown_path(path)] = self.files[real(path)] = read.text
            self.diagnostics.add(*read.diagnostics)
            for kind in read.kinds:
                spec.shared |= kind.data["locks"]
                if kind.name in registry:
                    message = f"`{kind.name}` of manifest `{name}` is the name of another kind"
                    self.diagnostics.error("BT043", message, spec.file, item.span)
            registry = registry.with_kinds(tuple(read.kinds))
            self.manifests.setdefault(spec, []).append((shown_path(path), read))
        return registry

    def rules(self, top: YamlMap, spec: TreeSpec) -> None:
        """Gives the tree its properties and policies: its own, those of its manifests and those of the project."""
        found = [each for _, each in self.manifests.get(spec, ()) if each.properties or each.policies]
        file = self.project / project.PROJECT_FILE if self.project else None
        if found or any(top.get(key) is not None or (file and says(file, key)) for key in RULES):
            from bt_runtime.language.rules import of_tree

            of_tree(top, spec, found, file, self.diagnostics)

    def implementations(self, spec: TreeSpec) -> None:
        """Checks the Python of the skills that the tree uses. A tree with an agent uses all of its listed skills."""
        manifests = [each for each in self.manifests.pop(spec, []) if each[1].spots]
        if not manifests:
            return
        from bt_runtime.language import manifest

        kinds = [node.kind for node in spec.root.walk()]
        used = None if any(kind.asks for kind in kinds) else {kind.name for kind in kinds}
        for shown, read in manifests:
            self.python(manifest.python_of(read, shown, used))

    def python(self, found: CheckedFiles) -> None:
        self.diagnostics.add(*found.faults)
        self.diagnostics.sources.update(found.sources)

    def manifest(self, path: Path, folder: Path) -> Manifest:
        from bt_runtime.language import manifest

        return manifest.read(path, shown_path(path), self.import_policy(folder))

    def manifest_with(self, kind: str) -> str:
        """Returns a hint for an unknown kind that is a skill of a manifest not listed by this tree."""
        from bt_runtime.language import manifest

        return manifest.offering(kind, self.project)

    def subtrees(self, spec: TreeSpec, way: tuple[IncludeStep, ...] = (), path: Path | None = None) -> None:
        """Loads what the tree includes. A tree that contains itself is left to be built when it is reached."""
        for node in spec.root.walk():
            if not node.kind.includes or "file" not in node.values or self.diagnostics.full():
                continue
            name = str(node.values["file"])
            found = self.include(name, spec.folder)
            if not isinstance(found, Path):
                from bt_runtime.language import missing_file

                missing_file.not_included(self, found, name, node.file, node.given["file"].span)
                continue
            here = (*way, IncludeStep(path, spec, node))
            first = next((i for i, step in enumerate(here) if step.path == found), None)
            if first is not None:
                node.again = here[first].tree
                from bt_runtime.language.checks.recursion import check_recursion

                check_recursion(here[first:], self.diagnostics)
            elif len(here) > MOST_FILES:
                message = f"trees stand inside each other more than {MOST_FILES} files deep"
                self.diagnostics.error("BT028", message, node.file, node.span, help="include fewer trees")
            else:
                node.subtree = self.load(found, here)
                if node.subtree is not None:
                    spec.policies += tuple(each for each in node.subtree.policies if each not in spec.policies)
                    spec.shared |= node.subtree.shared
                    spec.watched |= node.subtree.watched
