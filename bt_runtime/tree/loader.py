"""Text → checked tree. The one door through which every plan comes, a person's and a model's alike."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bt_runtime import project, source
from bt_runtime.diagnose import Diagnostic, Faults
from bt_runtime.schema.kind import Field, Kind, Registry
from bt_runtime.schema.registry import BUILT_IN
from bt_runtime.source import Document, Limits, Listing, Mapping, Node, Scalar
from bt_runtime.tree import meaning
from bt_runtime.tree.findings import Findings, did_you_mean
from bt_runtime.tree.ports import PORT_TYPES, an, fits, type_name
from bt_runtime.tree.reader import NodeReader
from bt_runtime.tree.spec import ABSENT, NodeSpec, Port, TreeSpec
from bt_runtime.tree.values import NAME
from bt_runtime.types import Span

HEADER = ("version", "tree", "about", "skills", "inputs", "outputs", "blackboard", "root")
PORT_FIELDS = ("type", "default", "about", "choices")
VERSION = 1


class Caps(NamedTuple):
    """What a tree may be at most; subtrees count."""

    depth: int = 256
    nodes: int = 100_000


DEFAULT_CAPS = Caps()


class Checked(NamedTuple):
    """What became of a text: the tree, unless there were errors, and everything that was found."""

    tree: TreeSpec | None
    diagnostics: Sequence[Diagnostic]
    sources: dict[str, str]

    def sound(self) -> TreeSpec:
        if self.tree is None:
            raise Faults(self.diagnostics, self.sources)
        return self.tree


class Loader:
    """Loads one tree and all it includes. `skills` are kinds that need no manifest (Python skills of the caller)."""

    def __init__(
        self,
        root: Path | None = None,
        skills: tuple[Kind, ...] = (),
        caps: Caps = DEFAULT_CAPS,
        limits: Limits | None = None,
    ) -> None:
        self.project = root or project.find_root()
        self.registry = BUILT_IN.with_kinds(skills)
        self.caps = caps
        self.limits = limits or Limits()
        self.findings = Findings()
        self.loaded: dict[Path, TreeSpec | None] = {}
        self.home: Path | None = None  # the folder of the first file: what may be read when there is no project

    def file(self, path: Path | str) -> Checked:
        """Checks a file; a name without a folder is also looked for among the project's and the shipped trees."""
        found = self.locate(str(path))
        tree = self.load(found or Path(path), ())
        return self.checked(tree)

    def text(self, text: str | bytes, name: str = "text", folder: Path | None = None) -> Checked:
        self.home = (folder or Path.cwd()).resolve()
        return self.checked(self.tree(source.parse(text, name, self.limits), self.home, ()))

    def fragment(self, text: str | bytes, tree: TreeSpec, name: str) -> NodeSpec:
        """A node and all below, to be grafted: checked with the kinds and ports of its tree-to-be. Raises Faults."""
        document = source.parse(text, name, self.limits)
        self.home = tree.folder
        self.findings.sources[name] = document.text
        self.findings.items += document.diagnostics
        if document.root is not None:
            whole = TreeSpec(tree.name, name, document.text, tree.folder, tree.registry)
            whole.inputs, whole.outputs, whole.entries = tree.inputs, tree.outputs, tree.entries
            root = NodeReader(name, tree.registry, self.findings, self.caps.depth).read(document.root)
            if root is not None:
                whole.root = root
                self.subtrees(whole, ())
                meaning.check_nodes(whole, self.findings)
                return self.checked(whole).sound().root
        return self.checked(None).sound().root

    def checked(self, tree: TreeSpec | None) -> Checked:
        if tree is not None and not self.findings.errors:
            meaning.check(tree, self.loaded, self.findings, self.caps)
        for each in (tree, *self.loaded.values()):
            if each is not None:
                for node in each.root.walk():
                    node.given = {}
        found = self.findings.sorted()
        return Checked(None if self.findings.errors else tree, found, self.findings.sources)

    # Files -----------------------------------------------------------------------------------

    def locate(self, name: str) -> Path | None:
        direct = Path(name)
        if direct.is_file() or direct.parent != Path():
            return direct if direct.is_file() else None
        return project.find("trees", name, root=self.project)

    def load(self, path: Path, chain: tuple[Path, ...]) -> TreeSpec | None:
        path = path.resolve()
        if self.home is None:
            self.home = path.parent
        if path not in self.loaded:
            document = source.read(path, self.shown(path), self.limits)
            self.loaded[path] = None  # until it is whole: a tree that contains itself is met here
            self.loaded[path] = self.tree(document, path.parent, (*chain, path))
        return self.loaded[path]

    def shown(self, path: Path) -> str:
        """The file as a person knows it: relative to where they stand, when it is below."""
        here = Path.cwd()
        return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)

    def include(self, name: str, folder: Path) -> Path | str:
        """The file of a subtree, or why there is none."""
        for candidate in (folder / name, folder / f"{name}.yaml"):
            if candidate.is_file():
                path = candidate.resolve()
                roots = [self.project or self.home or folder, project.packaged("trees")]
                return path if any(path.is_relative_to(r.resolve()) for r in roots) else "outside"
        return project.find("trees", name, root=self.project) or "missing"

    # Trees -----------------------------------------------------------------------------------

    def tree(self, document: Document, folder: Path, chain: tuple[Path, ...]) -> TreeSpec | None:
        self.findings.sources[document.name] = document.text
        self.findings.items += document.diagnostics
        top = document.root
        if top is None:
            return None
        if not isinstance(top, Mapping):
            self.findings.error(
                "BT018", "a tree file is a mapping with `version`, `tree` and `root`", document.name, top.span
            )
            return None
        header = Header(top, document.name, self.findings)
        spec = TreeSpec(header.name(), document.name, document.text, folder, self.registry)
        spec.about = header.text("about")
        spec.inputs, spec.outputs, spec.entries = (header.ports(k) for k in ("inputs", "outputs", "blackboard"))
        spec.registry = self.skills(top.get("skills"), spec)
        root = top.get("root")
        if root is None:
            return None
        reader = NodeReader(spec.file, spec.registry, self.findings, self.caps.depth)
        node = reader.read(root)
        if node is None:
            return None
        spec.root = node
        self.subtrees(spec, chain)
        meaning.check_tree(spec, self.findings)
        return spec

    def skills(self, node: Node | None, spec: TreeSpec) -> Registry:
        """The registry with the skills of the manifests that the tree names."""
        registry = self.registry
        if node is None or _empty(node):
            return registry
        if not isinstance(node, Listing):
            self.findings.error("BT018", "`skills` takes a list of manifests: `skills: [house]`", spec.file, node.span)
            return registry
        from bt_runtime.skills import manifest

        for item in node:
            path = project.find("skills", item.text, root=self.project) if isinstance(item, Scalar) else None
            if not isinstance(item, Scalar) or path is None:
                known = list(project.names("skills", root=self.project))
                name = item.text if isinstance(item, Scalar) else ""
                self.findings.error(
                    "BT040",
                    f"there is no skill manifest `{name}`",
                    spec.file,
                    item.span,
                    did_you_mean(name, known),
                    f"manifests here: {', '.join(known) or 'none'}",
                )
                continue
            read = manifest.read(path, self.shown(path))
            self.findings.sources[self.shown(path)] = read.text
            self.findings.items += read.diagnostics
            for kind in read.kinds:
                if kind.name in registry:
                    self.findings.error(
                        "BT043",
                        f"`{kind.name}` of manifest `{item.text}` is the name of another kind",
                        spec.file,
                        item.span,
                    )
            registry = registry.with_kinds(tuple(read.kinds))
        return registry

    def subtrees(self, spec: TreeSpec, chain: tuple[Path, ...]) -> None:
        """Loads what the tree includes. A tree that contains itself is left to be built when it is reached."""
        for node in spec.root.walk():
            if node.kind.name != "tree" or "file" not in node.values:
                continue
            name = str(node.values["file"])
            found = self.include(name, spec.folder)
            if not isinstance(found, Path):
                self.not_included(found, name, node.file, node.span)
            elif found.resolve() in chain:
                node.values["recursive"] = found.resolve()
                meaning.check_recursion(spec, node, self.findings)
            else:
                node.subtree = self.load(found, chain)

    def not_included(self, why: str, name: str, file: str, span: Span) -> None:
        if why == "outside":
            self.findings.error(
                "BT041",
                f"`{name}` lies outside the project",
                file,
                span,
                help="move it into the project's trees/ folder",
            )
        else:
            known = list(project.names("trees", root=self.project))
            self.findings.error(
                "BT040",
                f"there is no tree `{name}`",
                file,
                span,
                did_you_mean(name, known),
                "looked beside this file, in the project's trees/ and among the shipped ones",
            )


class Header:
    """What stands above `root`."""

    def __init__(self, top: Mapping, file: str, findings: Findings) -> None:
        self.top = top
        self.file = file
        self.findings = findings
        for key, _ in top:
            if key.text not in HEADER:
                findings.error(
                    "BT018",
                    f"a tree file has no `{key.text}`",
                    file,
                    key.span,
                    did_you_mean(key.text, HEADER),
                    f"it has: {', '.join(HEADER)}",
                )
        self.version()
        if top.get("root") is None:
            findings.error("BT018", "the tree has no `root`", file, top.span, help="add `root:` and one node below it")

    def version(self) -> None:
        node = self.top.get("version")
        if node is None:
            self.findings.error(
                "BT018",
                "the file does not say its language version",
                self.file,
                self.top.span,
                help=f"begin it with `version: {VERSION}`",
            )
        elif not isinstance(node, Scalar) or node.value != VERSION or isinstance(node.value, bool):
            self.findings.error("BT018", f"this runtime reads language version {VERSION}", self.file, node.span)

    def name(self) -> str:
        node = self.top.get("tree")
        if isinstance(node, Scalar) and isinstance(node.value, str) and NAME.fullmatch(node.text):
            return node.text
        span = node.span if node is not None else self.top.span
        self.findings.error("BT018", "`tree` gives the tree a name of letters, digits and _", self.file, span)
        return "tree"

    def text(self, key: str) -> str:
        node = self.top.get(key)
        if node is None or isinstance(node, Scalar):
            return node.text if node is not None else ""
        self.findings.error("BT018", f"`{key}` takes text", self.file, node.span)
        return ""

    def ports(self, key: str) -> dict[str, Port]:
        return read_ports(self.top.get(key), key, self.file, self.findings)


def _empty(node: Node) -> bool:
    """`inputs:` and nothing after it."""
    return isinstance(node, Scalar) and node.value is None


def read_ports(node: Node | None, section: str, file: str, findings: Findings) -> dict[str, Port]:
    """Typed ports: `room: {type: string, default: kitchen}`, or in short `room: string`."""
    if node is None or _empty(node):
        return {}
    if not isinstance(node, Mapping):
        findings.error(
            "BT048",
            f"`{section}` takes a mapping of names to ports",
            file,
            node.span,
            help="for instance `room: {type: string, default: kitchen}`",
        )
        return {}
    found: dict[str, Port] = {}
    for key, value in node:
        if not NAME.fullmatch(key.text):
            findings.error("BT048", f"`{key.text}` cannot be the name of a port: letters, digits and _", file, key.span)
            continue
        port = _port(key, value, file, findings)
        if port is not None:
            found[key.text] = port
    return found


def _port(key: Scalar, value: Node, file: str, findings: Findings) -> Port | None:
    if isinstance(value, Scalar):
        given: dict[str, Node] = {"type": value}
    elif isinstance(value, Mapping):
        given = {k.text: v for k, v in value}
        for name, _ in value:
            if name.text not in PORT_FIELDS:
                findings.error(
                    "BT048",
                    f"a port has no `{name.text}`",
                    file,
                    name.span,
                    did_you_mean(name.text, PORT_FIELDS),
                    f"it has: {', '.join(PORT_FIELDS)}",
                )
    else:
        findings.error("BT048", f"port `{key.text}` takes its type, or a mapping", file, value.span)
        return None
    type_node = given.get("type")
    type_name_given = type_node.text if isinstance(type_node, Scalar) else "any"
    if type_name_given not in PORT_TYPES:
        findings.error(
            "BT048",
            f"unknown type `{type_name_given}`",
            file,
            (type_node or key).span,
            did_you_mean(type_name_given, PORT_TYPES),
            f"types: {', '.join(PORT_TYPES)}",
        )
        return None
    choices = given["choices"].data() if "choices" in given else ()
    default = given["default"].data() if "default" in given else ABSENT
    about = str(given["about"].data()) if "about" in given else ""
    if default is not ABSENT and not fits(default, type_name_given):
        findings.error(
            "BT016",
            f"the default of `{key.text}` is {an(type_name(default))}, not {an(type_name_given)}",
            file,
            given["default"].span,
        )
        return None
    if not isinstance(choices, list | tuple):
        findings.error("BT048", "`choices` takes a list", file, given["choices"].span)
        choices = ()
    return Port(key.text, type_name_given, default, about, tuple(choices), key.span)  # type: ignore[arg-type]


def field_of(port: Port) -> Field:
    """A port seen as a field of a node that takes it."""
    return Field(port.name, port.type, port.about, port.required, None if port.required else port.default, port.choices)
