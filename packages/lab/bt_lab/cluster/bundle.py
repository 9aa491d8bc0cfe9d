"""The files that an evaluation sends to another machine: everything its episodes read, except models and data sets.

Those must lie at an equal path there; a model is checked by its digest.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from bt_lab.run.case import Setup, Strategy
from bt_lab.run.provenance import file_digest, of_tree, versions
from bt_runtime.journal import sources
from bt_runtime.language import project
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.import_policy import is_module, read_allowed
from bt_runtime.llm.backends import FILE, backend_name, is_file
from bt_runtime.llm.model_setting import apart
from bt_runtime.llm.settings import WorkerSettings, is_address
from bt_runtime.run.run import Tree, load
from bt_runtime.types import Json

CONTENT: tuple[project.Folder, ...] = ("trees", "skills", "envs")


class Named(NamedTuple):
    """A model's file or address, sent to another machine and opened there. `how`: settings of a local model."""

    where: str
    how: Mapping[str, Any] = {}
    digest: str = ""  # digest of the file

    @property
    def settings(self) -> WorkerSettings | None:
        return WorkerSettings(self.where, **self.how) if backend_name(self.where) == FILE else None

    def stats(self) -> Mapping[str, Json]:
        return {"model": self.where}

    def opened(self) -> Any:
        """Opens the model on this machine. Raises when its file has another digest."""
        from bt_runtime.llm import open_model

        if self.digest:
            path = Path(self.where)
            if not path.is_file():
                raise BtError(f"there is no model {path}", "it has to lie at the same place on every node")
            if file_digest(path) != self.digest:
                raise BtError(f"{path} is another model than where the evaluation was started", "copy it anew")
        return open_model(self.where, **self.how).ready()


def named(where: str, **how: Any) -> Named:
    """Returns the model's file, or raises when it does not exist; an address is returned unchanged."""
    where, own = apart(where)
    how = {**own, **how}
    if is_address(where):
        from bt_runtime.llm.server.address import parse

        return Named(parse(where).text, dict(own))
    if not is_file(where):
        return Named(where, how)
    path = Path(where).resolve()
    if not path.is_file():
        raise BtError(f"there is no model {where}", "check the path; `starter` is the model that is shipped")
    return Named(str(path), how, file_digest(path))


class Packed(NamedTuple):
    """A tree in a bundle: its place in the content, and its digest."""

    place: str
    digest: str


class Bundle(NamedTuple):
    setup: Setup
    jobs: int
    content: Mapping[str, bytes]  # place in a project → what is in the file
    trees: Mapping[str, Packed]  # the tree as strategies name it →
    memories: Mapping[str, Mapping[str, bytes]]  # the file as strategies name it → what lies beside it, too
    versions: Mapping[str, str]  # versions of packages that compute the outcomes


class Unpacked(NamedTuple):
    trees: dict[str, Tree]
    memories: dict[str, str]  # memory's name in strategies → its file here


def pack(setup: Setup, strategies: Iterable[Strategy], jobs: int) -> Bundle:
    strategies = list(strategies)
    content, trees = _content(), {}
    brought: dict[str, bytes] = {}
    for name in dict.fromkeys(s.tree for s in strategies):
        tree = load(name)
        for file in _files(tree):
            if brought.setdefault(file["place"], file["text"]) != file["text"]:
                raise BtError(f"two different files would be {file['place']} on other machines", "rename one of them")
        trees[name] = Packed(_root(tree), of_tree(tree))
    memories = {s.memory: _beside(Path(s.memory)) for s in strategies if s.memory}
    world = dict(setup.world)
    if isinstance(world.get("data"), str):
        world["data"] = str(Path(world["data"]).resolve())
    journals = str(Path(setup.journals).resolve()) if setup.journals else ""
    sent = setup._replace(world=world, journals=journals)
    return Bundle(sent, jobs, {**content, **brought}, trees, memories, _versions())


def unpack(bundle: Bundle, folder: Path) -> Unpacked:
    """Unpacks the bundle as a project in the folder. Raises when this machine lacks or differs in something."""
    here = _versions()
    for name, theirs in bundle.versions.items():
        if here.get(name) != theirs:
            said = f"{name} is {here.get(name, 'not installed')} here, and {theirs} where the evaluation was started"
            raise BtError(said, "have the same versions on every node")
    data = bundle.setup.world.get("data")
    if isinstance(data, str) and not Path(data).exists():
        raise BtError(f"there is no data set {data}", "it has to lie at the same place on every node")
    (folder / project.PROJECT_FILE).touch()
    _lay_out(bundle.content, folder)
    trees = {}
    for name, packed in bundle.trees.items():
        trees[name] = load(folder / packed.place, project=folder)
        if of_tree(trees[name]) != packed.digest:
            raise BtError(f"the tree `{name}` did not arrive as it was sent", "is bt_runtime the same on every node?")
    memories = {}
    for number, (name, files) in enumerate(bundle.memories.items()):
        _lay_out(files, folder / "memories" / str(number))
        memories[name] = str(folder / "memories" / str(number) / Path(name).name)
    return Unpacked(trees, memories)


def _versions() -> dict[str, str]:
    """The versions that both machines must share. Ray checks Python's version itself."""
    return {name: number for name, number in versions().items() if name not in ("python", "platform")}


def _content() -> dict[str, bytes]:
    """The shipped content, replaced by the project's files of the same names."""
    found: dict[str, bytes] = {}
    for name in CONTENT:
        for place in reversed(project.folders(name)):
            files = (p for p in sorted(place.rglob("*")) if p.is_file() and "__pycache__" not in p.parts)
            found |= {str(PurePosixPath(name, *p.relative_to(place).parts)): p.read_bytes() for p in files}
    root = project.find_root()
    packages = [name for name in read_allowed(root / project.PROJECT_FILE) if is_module(name)] if root else []
    if packages:  # of its settings only this decides whether a tree is sound
        found[project.PROJECT_FILE] = json.dumps({"version": 1, "allow": {"python": packages}}).encode()
    return found


def _files(tree: Tree) -> list[dict[str, Any]]:
    """Returns the files that a tree was read from, and the Python files that its nodes name."""
    loader = tree.first
    kept: Any = sources.files_kept({**loader.files, **_python(tree)}, loader.project, loader.home)
    return [{**file, "text": file["text"].encode("utf-8", "backslashreplace")} for file in kept]


def _python(tree: Tree) -> dict[Path, str]:
    found: dict[Path, str] = {}
    for spec in filter(None, (tree.spec, *tree.first.loaded.values())):
        for node in spec.root.walk():
            file = str(node.values.get("class", "")).rpartition(":")[0]
            path = (spec.folder / file).resolve()
            if file.endswith(".py") and path.is_file():
                found[path] = path.read_text("utf-8")
    return found


def _root(tree: Tree) -> str:
    """The tree's own file: the first one that was read."""
    loader = tree.first
    first = dict([next(iter(loader.files.items()))])
    return str(sources.files_kept(first, loader.project, loader.home)[0]["place"])


def _beside(path: Path) -> dict[str, bytes]:
    """A memory's file and SQLite's log file beside it."""
    if not path.is_file():
        raise BtError(f"there is no memory {path}", "make one: `btr lab eval … --memory build --train 50`")
    log = path.with_name(f"{path.name}-wal")
    return {p.name: p.read_bytes() for p in (path, log) if p.is_file()}


def _lay_out(files: Mapping[str, bytes], folder: Path) -> None:
    for place, found in files.items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(found)
