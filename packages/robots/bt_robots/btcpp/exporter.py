"""Exports a checked tree as XML for BehaviorTree.CPP 4 and Groot2, with a model of its nodes."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree.ElementTree import Comment, Element, SubElement, indent, tostring

from bt_robots.btcpp import aside
from bt_robots.btcpp.element_writer import ElementWriter, tree_id
from bt_robots.btcpp.manifest import foreign_of
from bt_robots.btcpp.model import CPP, TAGS, Model, attribute
from bt_robots.btcpp.node_writers import NODE_WRITERS
from bt_robots.btcpp.refusals import Refusals
from bt_robots.btcpp.script import value
from bt_robots.btcpp.sources import STUB
from bt_robots.imports.report import CannotSay
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.kinds.kind import Field, Kind
from bt_runtime.language.project import disk
from bt_runtime.language.spec import ABSENT, Port, TreeSpec

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def text(tree: TreeSpec) -> str:
    """Raises Refused with all that XML has no words for, each with its place."""
    export = _Export(tree)
    made = export.document()
    if export.refusals.lines:
        raise export.refusals.error()
    return made


def for_viewing(tree: TreeSpec) -> tuple[str, list[str]]:
    """Returns XML for display only, with stand-ins for nodes without an equivalent, and the list of those."""
    export = _Export(tree)
    return export.document(), export.refusals.lines


class _Export:
    def __init__(self, tree: TreeSpec) -> None:
        self.main = tree
        self.trees: dict[str, TreeSpec] = {}
        self.sorts: dict[str, str] = {}  # skill → how it was used
        self.models: dict[str, Model] = {}  # models of used nodes of other libraries
        self.refusals = Refusals()
        self.ids: dict[str, str] = {}  # IDs of skills that are no names here
        todo = [tree]
        while todo:
            each = todo.pop()
            other = self.trees.get(each.name)
            if other is not None:
                if other.file != each.file:
                    raise BtError(
                        f"{other.file} and {each.file} are both called `{each.name}`", "XML knows them by name"
                    )
                continue
            self.trees[each.name] = each
            self.ids |= aside.head(each.text).ids
            todo += [t for node in each.root.walk() for t in (node.subtree, node.again) if t is not None]

    def document(self) -> str:
        root = Element("root", BTCPP_format="4", main_tree_to_execute=tree_id(self.main))
        for name in sorted(self.trees, key=lambda name: (name != self.main.name, name)):
            tree, kept = self.trees[name], aside.head(self.trees[name].text).attributes
            if STUB in kept:
                continue
            writer = ElementWriter(tree, self.sorts, self.models, self.refusals, NODE_WRITERS)
            for line in writer.remarks(_line_of("version", tree.text)):
                if not aside.is_kept(line):
                    root.append(Comment(f" {line.replace('--', '- -').rstrip('-')} "))
            body = SubElement(root, "BehaviorTree", {"ID": name} | kept)
            writer.into(self.begun(body, tree), tree.root)
        self.model(root)
        if self.refusals.lines:
            root.insert(0, Comment(f" for viewing only: {len(self.refusals.lines)} places have no words in XML "))
        for element in root.iter():
            if not isinstance(element.tag, str):
                continue
            for key, said in element.attrib.items():
                if _NO_XML.search(said):
                    raise BtError(
                        f"`{key}` of <{element.tag}> has a character that XML has no room for", "leave it out"
                    )
        indent(root)
        return tostring(root, encoding="unicode", xml_declaration=False) + "\n"

    def begun(self, body: Element, tree: TreeSpec) -> Element:
        """Writes a script that gives entries their defaults once; returns the element for the tree's root. An output
        of an included tree keeps what its caller's entry holds."""
        values: dict[str, str] = {}
        for port in (*tree.entries.values(), *(tree.outputs.values() if tree is self.main else ())):
            if port.default is ABSENT or port.default is None:
                continue
            try:
                values[port.name] = value(port.default)
                if tree.root.kind.name == "guard":
                    raise CannotSay("the root of the tree has a guard: put it one level down")
            except CannotSay as why:
                said = f"the default of `{port.name}` has no words in XML of BehaviorTree.CPP: {why}"
                self.refusals.add(tree.file, port.span or tree.root.span, said)
        if not values:
            return body
        sequence = SubElement(body, "Sequence")
        once = SubElement(sequence, "RunOnce", then_skip="true")
        SubElement(once, "Script", code="; ".join(f"{name} := {said}" for name, said in values.items()))
        return sequence

    # The model ------------------------------------------------------------------------------

    def model(self, root: Element) -> None:
        model = SubElement(root, "TreeNodesModel")
        kinds = {k.name: k for tree in self.trees.values() for k in tree.registry if k.family == "skill"}
        for name in sorted(kinds):
            self.skill(model, kinds[name])
        for _, other in sorted(self.models.items()):
            known = SubElement(model, other.sort, ID=other.id)
            for port in other.ports.values():
                SubElement(known, TAGS[port.direction], name=port.name, type=port.foreign or port.type)
        for name, sort in sorted(self.refusals.sorts.items()):
            SubElement(model, sort, ID=name)
        for name in sorted(self.trees):
            tree = self.trees[name]
            known = SubElement(model, "SubTree", ID=tree_id(tree))
            for ports, direction in ((tree.inputs, "input_port"), (tree.outputs, "output_port")):
                for given in ports.values():
                    self.port(known, direction, given)
            for part in aside.head(tree.text).model:
                aside.put(known, part)

    def port(self, into: Element, tag: str, port: Port) -> None:
        element = SubElement(into, tag, {"name": port.name} | ({"type": CPP[port.type]} if port.type in CPP else {}))
        if port.default is not ABSENT and port.default is not None:
            element.set("default", attribute(port.default))
        element.text = port.about or None

    def skill(self, model: Element, kind: Kind) -> None:
        asks = getattr(kind.data.get("entry"), "instant", False)
        gives = any(field.writes for field in kind.fields)
        sort = self.sorts.get(kind.name, "Condition" if asks and not gives else "Action")
        known = SubElement(model, sort, ID=self.ids.get(kind.name, kind.name))
        if asks and sort == "Action":
            known.set("instant", "true")
        names = {field.name for field in kind.fields}
        for field in kind.fields:
            both = f"{field.name}_out" in names or (
                field.writes and field.name.removesuffix("_out") in names - {field.name}
            )
            if both and field.writes:
                continue
            tag = "inout_port" if both else "output_port" if field.writes else "input_port"
            self.field(known, tag, field)
            if field.name in getattr(kind.data.get("entry"), "follow", ()):
                known[-1].set("follow", "true")

    def field(self, into: Element, tag: str, field: Field) -> None:
        foreign, about = foreign_of(field.about)
        type = foreign or CPP.get(field.type, "")
        element = SubElement(into, tag, {"name": field.name} | ({"type": type} if type else {}))
        if field.default is not None:
            element.set("default", attribute(field.default))
        element.text = about or None


def _line_of(key: str, text: str) -> int:
    return next((n for n, line in enumerate(text.splitlines(), 1) if line.startswith(f"{key}:")), 1)


def write(tree: TreeSpec, path: Path) -> None:
    disk.write(path, text(tree))
