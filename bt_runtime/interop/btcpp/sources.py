"""The files of an import: the one that is named, and all that it includes, by which its trees and models are found."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.interop.btcpp import document
from bt_runtime.interop.btcpp.document import Element, Place, fault
from bt_runtime.interop.btcpp.model import Model, models
from bt_runtime.interop.btcpp.report import Report

MOST_FILES = 100
SHIPPED = {"nav2": Path(__file__).parent / "nav2.xml"}  # what `--models` knows by name


class Sources:
    """`trees` by ID, in the order of the files; `models` by ID, the document's own before the others."""

    def __init__(self, path: Path, extra: Iterable[str], report: Report) -> None:
        self.report = report
        self.trees: dict[str, Element] = {}
        self.own: dict[str, Model] = {}
        self.main = ""
        self.described: list[Element] = []  # the models that the files bring
        self.home = path.resolve().parent
        self.seen: set[Path] = set()
        self.file(path, None)
        if not self.trees:
            raise BtError(f"{path} has no <BehaviorTree>", "is it a tree of BehaviorTree.CPP?")
        self.models = dict(self.own)
        for name in extra:
            for id, model in models(document.read(SHIPPED.get(name, Path(name)))).items():
                self.models.setdefault(id, model)

    def file(self, path: Path, place: Place | None) -> None:
        self.seen.add(path.resolve())
        top = document.read(path, str(path))
        version4 = top.get("BTCPP_format", "3").strip() == "4"
        if top.tag != "root":
            raise fault(top.place, f"a tree of BehaviorTree.CPP begins with <root>, and this is <{top.tag:.40}>")
        if place is None:
            self.main, self.version4 = top.get("main_tree_to_execute"), version4
        self.report.add(top.place, "<root>", "same", f"read as version {4 if version4 else 3}")
        for name in sorted(top.attributes.keys() - {"BTCPP_format", "main_tree_to_execute"}):
            self.report.add(top.at(name), f"`{name}` of <root>", "lost", "it means nothing here")
        self.own |= {id: model for id, model in models(top).items() if id not in self.own}
        for part in top.children:
            self.part(part, path, version4)
        trees = [part for part in top.children if part.tag == "BehaviorTree"]
        if trees:  # what stands around the trees is kept at the first, and at the last
            trees[0].comments[:0] = top.comments
            trees[-1].after += top.after
        self.remarks([e for part in top.children if part not in trees for e in part.walk()] + ([] if trees else [top]))

    def remarks(self, elements: Iterable[Element]) -> None:
        """Comments that stand where nothing is made of what they stand at."""
        for element in elements:
            for line in (*element.comments, *element.after):
                self.report.add(element.place, f"comment `{line:.60}`", "lost", "it stands at no node")

    def part(self, part: Element, path: Path, version4: bool) -> None:
        if part.tag == "BehaviorTree":
            name = part.get("ID") or ("MainTree" if "MainTree" not in self.trees else "")
            if not name or name in self.trees:
                raise fault(part.place, f"a second tree `{name}`" if name else "a tree without its `ID`", "name each")
            part.attributes["ID"], part.attributes["_version"] = name, "4" if version4 else "3"
            self.trees[name] = part
        elif part.tag == "include":
            self.include(part, path)
        elif part.tag == "TreeNodesModel":
            self.described += part.children
        else:
            self.report.add(part.place, f"<{part.tag}>", "lost", "there is no such part of a <root>")

    def include(self, part: Element, path: Path) -> None:
        what = f'<include path="{part.get("path")}">'
        if part.get("ros_pkg"):
            why = f"the folder of the package `{part.get('ros_pkg')}` is not known: put the file beside, and name it so"
            self.report.add(part.place, what, "lost", why)
            return
        found = (path.parent / part.get("path")).resolve()
        if not found.is_relative_to(self.home):
            raise fault(part.at("path"), f"{what} leads out of {self.home}", "import what lies above both, or copy it")
        if not found.is_file():
            raise fault(part.at("path"), f"{what}: there is no such file")
        if len(self.seen) >= MOST_FILES:
            raise fault(part.place, f"more than {MOST_FILES} files include each other")
        self.report.add(part.place, what, "same", "read, its trees become files beside")
        if found not in self.seen:
            self.file(found, part.place)
