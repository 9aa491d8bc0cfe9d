"""Finds all files of an import: the named ones, and all that they include or call."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from bt_robots.btcpp import document
from bt_robots.btcpp.document import Element
from bt_robots.btcpp.model import Model, models
from bt_robots.imports.report import Place, Report, fault
from bt_runtime.language import project
from bt_runtime.language.faults.diagnostic import BtError

# The folders that an import may read: the named one, and each `--include`. Nothing else is opened.

MOST_LISTED = 2_000  # XML files of a folder
LONGEST = 1_000  # characters of a path
DEEPEST = 8  # folders within each other


class Hit(NamedTuple):
    path: Path
    literal: bool  # it lies exactly where the include says; else somewhere that the folders make likely


class Folders:
    def __init__(self, home: Path, include: Sequence[Path]) -> None:
        self.home = project.real(home)
        self.roots = [self.home]
        for folder in include:
            if not folder.is_dir():
                raise BtError(f"--include: {folder} is no folder", "name a folder")
            self.roots.append(project.real(folder))

    def inside(self, path: Path) -> Path | None:
        """Returns the real file when the path, links followed, lies in one of the folders; else None."""
        try:
            real = project.real(path)
            return real if any(real.is_relative_to(root) for root in self.roots) and real.is_file() else None
        except (OSError, ValueError, RuntimeError):
            return None

    def find(self, said: str, file: Path, package: str = "") -> Hit | None:
        """The file that `<include path="…" ros_pkg="…">` refers to."""
        if len(said) > LONGEST:
            return None
        if not package and (exact := self.inside(file.parent / said)):
            return Hit(exact, True)
        parts = [part for part in PurePosixPath(said).parts if part not in ("/", "..", ".")]
        for root in self.roots:
            for prefix in self.of_package(root, package) if package else (root,):
                if parts and (found := self.inside(prefix.joinpath(*parts))):
                    return Hit(found, bool(package))
        for start in range(1, len(parts)):  # an absolute path, or one of an install folder: its end, the longest first
            for folder in (file.parent, *self.roots):
                if found := self.inside(folder.joinpath(*parts[start:])):
                    return Hit(found, False)
        beside = self.inside(file.parent / parts[-1]) if parts else None
        return Hit(beside, False) if beside else None

    def left_by(self, said: str, file: Path) -> bool:
        """Does an `<include path="…">` lead out of the first folder? One that no system can follow does not."""
        return len(said) <= LONGEST and not project.real(file.parent / said).is_relative_to(self.home)

    def of_package(self, root: Path, package: str) -> Iterator[Path]:
        """The folders in which a ROS package may keep its files: an install folder, a share folder, a workspace."""
        if PurePosixPath(package).name != package or package in ("", ".", ".."):
            return
        if root.name == package:
            yield root
        yield from (root / package / "share" / package, root / "share" / package, root / package)
        for folder in walk(root):
            if folder.name == package:
                yield folder


def walk(root: Path) -> Iterator[Path]:
    """Yields the folders below in order; it skips links and hidden folders, and is bounded in number."""
    count = 0
    for at, below, _ in os.walk(root):
        depth = len(Path(at).relative_to(root).parts)
        below[:] = sorted(name for name in below if not name.startswith(".")) if depth < DEEPEST else []
        for name in below:
            count += 1
            if count > MOST_LISTED:
                return
            yield Path(at) / name


def xml_files(root: Path, deep: bool = True) -> list[Path]:
    found: list[Path] = []
    for folder in (root, *(walk(root) if deep else ())):
        found += sorted(path for path in folder.glob("*.xml") if path.is_file())
        if len(found) > MOST_LISTED:
            raise BtError(f"{root} holds more than {MOST_LISTED:,} XML files", "name a folder within it")
    return found


MOST_FILES = 1_000
SHIPPED = {"nav2": Path(__file__).parent / "nav2.xml"}  # models that `--models` finds by name
CALLS = ("SubTree", "SubTreePlus")
STUB = "_stub"  # a tree that is called and stands in no file


class Sources:
    """`trees` by ID, in the order of the files; `models` by ID, the document's own before the others."""

    def __init__(self, path: Path, extra: Iterable[str], report: Report, include: Sequence[Path] = ()) -> None:
        self.report, self.many = report, path.is_dir()
        self.trees: dict[str, Element] = {}
        self.files: dict[str, Path] = {}  # file of each tree
        self.renamed: dict[Path, dict[str, str]] = {}  # file or folder → IDs that mean another tree there
        self.own: dict[str, Model] = {}
        self.main, self.version4 = "", True
        self.described: list[Element] = []  # the models that the files bring
        self.loose: list[str] = []  # comments that stand at no tree
        self.folders = Folders(path if self.many else path.parent, include)
        self.seen: set[Path] = set()
        self.everything(path) if self.many else self.file(path, None)
        if not self.trees:
            raise BtError(f"{path} has no <BehaviorTree>", "is it a tree of BehaviorTree.CPP?")
        self.apart()
        self.called()
        next(iter(self.trees.values())).after += self.loose
        self.models = dict(self.own)
        for name in extra:
            for id, model in models(document.read(SHIPPED.get(name, Path(name)))).items():
                self.models.setdefault(id, model)

    def everything(self, path: Path) -> None:
        """Reads all trees of a folder; skips foreign files with a row in the report."""
        mains = set()
        for file in xml_files(path):
            if (real := self.folders.inside(file)) is None or real in self.seen:
                continue
            place = Place(str(file), 1, 1)
            try:
                top = document.read(file, str(file))
            except (BtError, OSError) as error:
                self.report.add(place, str(file), "lost", f"it cannot be read: {error}")
                continue
            if top.tag != "root" or not any(part.tag in ("BehaviorTree", "TreeNodesModel") for part in top.children):
                self.report.add(place, f"<{top.tag:.40}>", "aside", "no tree of BehaviorTree.CPP: passed over")
                continue
            mains.add(top.get("main_tree_to_execute"))
            self.file(file, place)
        self.main = mains.pop() if len(mains) == 1 else ""

    def file(self, path: Path, place: Place | None) -> None:
        self.seen.add(project.real(path))
        top = document.read(path, str(path))
        version4 = top.get("BTCPP_format", "3").strip() == "4"
        if top.tag != "root":
            raise fault(top.place, f"a tree of BehaviorTree.CPP begins with <root>, and this is <{top.tag:.40}>")
        if place is None:
            self.main, self.version4 = top.get("main_tree_to_execute"), version4
        self.report.add(top.place, "<root>", "same", f"read as version {4 if version4 else 3}")
        for name in sorted(top.attributes.keys() - {"BTCPP_format", "main_tree_to_execute"}):
            self.report.add(top.at(name), f"`{name}` of <root>", "aside", "it means nothing to a tick: left out")
        self.own |= {id: model for id, model in models(top).items() if id not in self.own}
        for part in top.children:
            self.part(part, path, version4)
        trees = [part for part in top.children if part.tag == "BehaviorTree"]
        if trees:  # what stands around the trees is kept at the first, and at the last
            trees[0].comments[:0] = top.comments
            trees[-1].after += top.after
        self.remarks(
            [e for part in top.children if part.tag != "BehaviorTree" for e in part.walk()] + ([] if trees else [top])
        )

    def remarks(self, elements: Iterable[Element]) -> None:
        """Keeps comments on elements that become no node; they move to the first tree."""
        for element in elements:
            for line in (*element.comments, *element.after):
                self.report.add(element.place, f"comment `{line:.60}`", "aside", "kept at the first tree")
                self.loose.append(line)

    def part(self, part: Element, path: Path, version4: bool) -> None:
        if part.tag == "BehaviorTree":
            self.tree(part, path, version4)
        elif part.tag == "include":
            self.include(part, path)
        elif part.tag == "TreeNodesModel":
            self.described += part.children
        else:
            self.report.add(part.place, f"<{part.tag}>", "lost", "there is no such part of a <root>")

    def tree(self, part: Element, path: Path, version4: bool) -> None:
        name = part.get("ID") or ("MainTree" if "MainTree" not in self.trees else "")
        if not name:
            raise fault(part.place, "a tree without its `ID`", "name each")
        if name in self.trees:
            if not self.many or self.files[name] == path:
                raise fault(part.place, f"a second tree `{name}`", "name each")
            if _alike(part, self.trees[name]):
                self.report.add(part.place, f'<BehaviorTree ID="{name}">', "same", f"as in {self.files[name]}")
                return
            name = self.another(name, path, part)
        part.attributes["ID"], part.attributes["_version"] = name, "4" if version4 else "3"
        self.trees[name], self.files[name] = part, path

    def another(self, name: str, path: Path, part: Element) -> str:
        """Renames a second tree with an ID in use; files in its folder refer to it by the ID."""
        beside = self.files[name].parent == path.parent or name in self.renamed.get(path.parent, ())
        where = path.relative_to(self.folders.home) if path.is_relative_to(self.folders.home) else path
        other = f"{name} of {(where.with_suffix('') if beside else where.parent).as_posix()}"
        if other in self.trees:
            raise fault(part.place, f"a third tree `{name}`", "name each, or import a folder of them")
        self.renamed.setdefault(path if beside else path.parent, {})[name] = other
        why = f"called `{other}`: {self.files[name]} has another tree of this ID"
        self.report.add(part.place, f'<BehaviorTree ID="{name}">', "changed", why)
        return other

    def apart(self) -> None:
        """Renames calls so that an ID refers to the tree of its own file first, then to one of its own folder."""
        for id, tree in self.trees.items() if self.renamed else ():
            file = self.files[id]
            names = self.renamed.get(file.parent, {}) | self.renamed.get(file, {})
            for element in calls(tree):
                if element.get("ID") in names:
                    element.attributes["ID"] = names[element.get("ID")]

    # What stands elsewhere ------------------------------------------------------------------

    def include(self, part: Element, path: Path) -> None:
        said, package = part.get("path"), part.get("ros_pkg")
        what = f'<include path="{said:.200}">'
        hit = self.folders.find(said, path, package)
        if hit is None:
            self.absent(part, path, what, package)
            return
        if hit.path not in self.seen and len(self.seen) >= MOST_FILES:
            raise fault(part.place, f"more than {MOST_FILES:,} files include each other")
        became = "read, its trees become files beside" if hit.literal else f"taken for {hit.path}"
        self.report.add(part.place, what, "same" if hit.literal else "changed", became)
        if hit.path not in self.seen:
            self.file(hit.path, part.place)

    def absent(self, part: Element, path: Path, what: str, package: str) -> None:
        hint = "name the folder that has it: --include DIR"
        if package:
            self.report.add(part.place, what, "lost", f"no folder here has the package `{package}`: {hint}")
        elif self.many:
            self.report.add(part.place, what, "lost", f"no such file in the folders of this import: {hint}")
        elif self.folders.left_by(part.get("path"), path):
            raise fault(part.at("path"), f"{what} leads out of {self.folders.home}", hint)
        else:
            raise fault(part.at("path"), f"{what}: there is no such file", hint)

    def called(self) -> None:
        """Looks for called trees that were not read yet in the folders; a tree that is not found becomes a stub that
        fails."""
        missing = self.missing()
        if missing:
            self.many = True  # of what is read now a tree may stand in two files
            for path in self.having(missing.keys()):
                if path not in self.seen:
                    self.report.add(Place(str(path), 1, 1), str(path), "same", "read for the trees that are called")
                    self.file(path, Place(str(path), 1, 1))
            self.apart()
            missing = self.missing()
        for id, element in missing.items():
            stub = Element("BehaviorTree", {"ID": id, STUB: "true"}, element.place, {})
            stub.attributes["_version"] = "4" if self.version4 else "3"
            stub.children = [Element("AlwaysFailure", {}, element.place, {})]
            stub.comments = ["A stub: it was called, and stood in no file. Say here what it does."]
            self.trees[id] = stub
            why = "it stands in no file here, and becomes a stub that fails (--include DIR looks in more folders)"
            self.report.add(element.place, f'<SubTree ID="{id}">', "changed", why)

    def missing(self) -> dict[str, Element]:
        found: dict[str, Element] = {}
        for tree in self.trees.values():
            for element in calls(tree):
                if element.get("ID") and element.get("ID") not in self.trees:
                    found.setdefault(element.get("ID"), element)
        return found

    def having(self, ids: Iterable[str]) -> list[Path]:
        """Returns the files that define these trees and the trees they call; the first file counts for duplicates."""
        index: dict[str, tuple[Path, Element]] = {}
        for number, root in enumerate(self.folders.roots):
            try:
                listed = xml_files(root, deep=number > 0)
            except BtError:
                continue
            for file in listed:
                if (real := self.folders.inside(file)) is None or real in self.seen:
                    continue
                try:
                    top = document.read(real, str(real))
                except (BtError, OSError):
                    continue
                for part in top.children if top.tag == "root" else ():
                    if part.tag == "BehaviorTree" and part.get("ID") not in self.trees:
                        index.setdefault(part.get("ID"), (real, part))
        found: dict[Path, None] = {}
        todo, done = list(ids), set[str]()
        while todo:
            id = todo.pop()
            if id in index and id not in done:
                done.add(id)
                found[index[id][0]] = None
                todo += [element.get("ID") for element in calls(index[id][1])]
        return list(found)


def calls(tree: Element) -> list[Element]:
    return [element for element in tree.walk() if element.tag in CALLS]


def _alike(one: Element, other: Element) -> bool:
    def told(tree: Element) -> list[tuple[str, dict[str, str], int]]:
        own = {"ID", "_version"}
        rows = [(e.tag, e.attributes, len(e.children)) for e in tree.walk()][1:]
        return [("", {k: v for k, v in tree.attributes.items() if k not in own}, len(tree.children)), *rows]

    return told(one) == told(other)
