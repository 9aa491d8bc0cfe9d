"""Imports a file of BehaviorTree.CPP as a project: trees, a manifest of custom nodes, a Python file for them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bt_robots.btcpp import aside, manifest
from bt_robots.btcpp.document import Element
from bt_robots.btcpp.model import CPP, DIRECTIONS, Model, Port, entry_of, literal, type_seen
from bt_robots.btcpp.nodes import Known, Nodes, built_in, form_of, tag_of
from bt_robots.btcpp.rules import CHOOSERS
from bt_robots.btcpp.sources import STUB, Sources, calls
from bt_robots.imports import skill_files, yaml
from bt_robots.imports.names import Names, identifier
from bt_robots.imports.project import Imported
from bt_robots.imports.report import Place, Report, fault
from bt_robots.imports.yaml import Step
from bt_runtime.language import project
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.kinds.registry import shipped_kinds
from bt_runtime.types import Json

_RESERVED = {"name", "ID"}
MOST_TREES = 2_000
MOST_MODELS = 2_000
MOST_PORTS = 500  # most ports of one node kind
SPLIT = "import them in parts, each with its own main tree"
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEPT = {"ID", "_version", "_fullpath", "_description", STUB}  # attributes of a tree that are kept by other means
NOWHERE = Place("", 0, 0)


def load(
    path: Path,
    models: Iterable[str] = (),
    enums: Mapping[str, float] | None = None,
    include: Sequence[Path] = (),
) -> Imported:
    """Imports a file, or all files of a folder. Raises BtError when it holds no tree; lesser problems are in the
    report."""
    report = Report()
    sources = Sources(path, models, report, include)
    return _Import(sources, identifier(project.real(path).stem.lower(), "robot"), enums or {}, report).imported()


class _Import:
    def __init__(self, sources: Sources, stem: str, enums: Mapping[str, float], report: Report) -> None:
        self.sources, self.stem, self.report = sources, stem, report
        self.models = self.used()
        names = Names("node", shipped_kinds())
        self.kinds = {
            id: names.of(f"{id}_node" if identifier(id) in shipped_kinds() else id) for id in sorted(self.models)
        }
        if len(sources.trees) > MOST_TREES:
            raise BtError(f"these files have {len(sources.trees):,} trees, more than {MOST_TREES:,}", SPLIT)
        names = Names("tree")
        self.names = {id: names.of(id) for id in sources.trees}
        self.outer = self.outermost()
        offers = {id: m.ports for id, m in sources.models.items() if m.sort == "SubTree"}
        forms = {id: form_of(model) for id, model in self.models.items()}
        known = Known(self.models, self.kinds, self.names, enums, report, forms, self.entries(), self.outer, offers)
        stubs = known._replace(report=Report())  # nothing of a stub stands in a file
        self.nodes = {id: Nodes(t, stubs if t.get(STUB) else known) for id, t in sources.trees.items()}
        self.calls: dict[str, list[Any]] = {}  # calls by the tree that is called
        self.callers: dict[str, set[str]] = {}
        for id, nodes in self.nodes.items():
            for call in nodes.calls:
                self.calls.setdefault(call.target, []).append(call)
                self.callers.setdefault(call.target, set()).add(id)
        self.handed_down()
        self.outputs = self.written()
        self.ports = {id: self.ports_of(id) for id in sources.trees}
        self.own_kinds = set(self.kinds.values())
        self.described: dict[str, list[Element]] = {}  # the models of trees
        for element in sources.described:
            if element.tag == "SubTree":
                self.described.setdefault(element.get("ID"), []).append(element)

    def used(self) -> dict[str, Model]:
        """The models of the custom nodes in use; what a model leaves out is taken from the node's uses."""
        seen: dict[str, list[Element]] = {}
        for tree in self.sources.trees.values():
            for element in list(tree.walk())[1:]:
                if not built_in(element):
                    seen.setdefault(tag_of(element), []).append(element)
        found = {id: self.model(id, elements) for id, elements in seen.items()}
        for id, model in self.sources.own.items():  # what a file says of nodes that it does not use
            if model.sort in ("Action", "Condition") and not built_in(Element(id, {}, NOWHERE, {})):
                found.setdefault(id, model)
        if len(found) > MOST_MODELS:
            raise BtError(
                f"these files have {len(found):,} kinds of nodes of their own, more than {MOST_MODELS:,}", SPLIT
            )
        for id, model in found.items():
            if len(model.ports) > MOST_PORTS:
                raise BtError(
                    f"`{id:.60}` has {len(model.ports):,} ports, more than {MOST_PORTS:,}", "make several nodes"
                )
        return found

    def model(self, id: str, elements: list[Element]) -> Model:
        model = self.sources.models.get(id)
        sort = model.sort if model else "Decorator" if len(elements[0].children) == 1 else "Action"
        if any(len(each.children) == 1 for each in elements):
            sort = "Decorator"
        elif sort in ("Decorator", "Control", "SubTree"):
            sort = "Condition" if sort == "Decorator" else "Action"
        ports = dict(model.ports) if model else {}
        if id in CHOOSERS:
            output = CHOOSERS[id].output
            ports.setdefault(output, Port(output, "out", "any"))
            sort = "Condition" if CHOOSERS[id].cases else "Action"
        texts: dict[str, list[str]] = {}
        for each in elements:
            for name, text in each.attributes.items():
                texts.setdefault(name, []).append(text)
        for each in elements:
            for name in each.attributes:
                if name in ports or name in _RESERVED or name.startswith("_"):
                    continue
                ports[name] = Port(name, "in", type_seen([t for t in texts[name] if entry_of(t, name) is None]))
                if model is not None:
                    self.report.add(
                        each.at(name), f"`{name}` of <{id}>", "changed", "its model has no such port: an input"
                    )
        return Model(
            id,
            sort,
            {
                name: self.port(
                    self.fitting(port, texts.get(name, ()), elements), len(texts.get(name, ())) < len(elements)
                )
                for name, port in ports.items()
            },
            model is not None,
            model is not None and model.at_once,
        )

    def fitting(self, port: Port, texts: Iterable[str], elements: list[Element]) -> Port:
        """The type of a port that fits all its texts; "any" when one does not fit, such as `infinity` for a number."""
        if port.direction != "in" or port.type not in ("number", "integer", "boolean"):
            return port
        bad = (t for t in texts if literal(t, port.type) == t and entry_of(t, port.name) is None)
        if (text := next(bad, None)) is None:
            return port
        each = next(each for each in elements if each.attributes.get(port.name) == text)
        became = f"`{text:.40}` is no {port.type} here: a text, at a port that takes anything"
        self.report.add(each.at(port.name), f"`{port.name}` of <{tag_of(each)}>", "changed", became)
        return port._replace(type="any", foreign=port.foreign or CPP[port.type], reads=port.type)

    def port(self, port: Port, left_out: bool) -> Port:
        """Makes a port optional, with an empty default, when some element omits it."""
        return port._replace(default="") if left_out and port.default is None else port

    def entries(self) -> Names:
        """The names of entries; a made-up name never equals a word in the trees."""
        words = set[str]()
        for tree in self.sources.trees.values():
            for element in tree.walk():
                words.update(*(_WORD.findall(text) for text in element.attributes.values()))
        return Names("entry", words, files=False)

    def outermost(self) -> dict[str, str]:
        """The prefix of the outermost tree's entries in the trees that it calls."""
        called = {element.get("ID") for tree in self.sources.trees.values() for element in calls(tree)}
        return dict.fromkeys(called - {self.sources.main}, "global_")

    # Ports of trees -------------------------------------------------------------------------

    def handed_down(self) -> None:
        """The ports that a call passes besides its attributes: entries of the outermost tree, and declared ports
        that autoremap matches by name."""
        shared = {id: set(nodes.shared) for id, nodes in self.nodes.items()}
        todo = list(shared)
        while todo:
            id = todo.pop()
            for caller in self.callers.get(id, ()):
                if not shared[id] <= shared[caller]:
                    shared[caller] |= shared[id]
                    todo.append(caller)
        offered = {id: self.offered(id) for id in self.calls}
        for id, nodes in self.nodes.items():
            for call in nodes.calls:
                inner, outer = self.outer.get(call.target, ""), self.outer.get(id, "")
                more = {f"{inner}{name}": f"{{{outer}{name}}}" for name in sorted(shared[call.target])}
                if call.autoremap:
                    for name, port in offered[call.target].items():
                        if port.default is None or entry_of(port.default, name) is not None:
                            more.setdefault(name, f"{{{name}}}")
                call.hand({name: value for name, value in more.items() if name not in call.given})

    def called(self, id: str) -> list[Any]:
        return self.calls.get(id, [])

    def offered(self, id: str) -> dict[str, Port]:
        """The ports of a tree: those of its model, and those that a caller passes."""
        model = self.sources.models.get(id)
        found = {identifier(p.name): p for p in model.ports.values()} if model and model.sort == "SubTree" else {}
        for call in self.called(id):
            found |= {name: Port(name) for name in call.given if name not in found}
        return found

    def written(self) -> dict[str, set[str]]:
        """The entries that each tree writes, including the trees below it, computed to a fixed point."""
        offered = {id: self.offered(id) for id in self.nodes}
        writes = {id: set(nodes.writes) for id, nodes in self.nodes.items()}
        reads = {id: set(nodes.reads) for id, nodes in self.nodes.items()}
        for id, ports in offered.items():
            writes[id] |= {name for name, port in ports.items() if port.direction != "in"}
        todo = dict.fromkeys(reversed(self.callees_first()))  # an ordered set, emptied from its end
        while todo:
            id, _ = todo.popitem()
            before = len(writes[id]), len(reads[id])
            for call in self.nodes[id].calls:
                for name, value in call.given.items():
                    entry = entry_of(value) if isinstance(value, str) else None
                    if entry:
                        (writes if name in writes[call.target] else reads)[id].add(entry)
                if call.autoremap:
                    reads[id] |= reads[call.target] - offered[call.target].keys()
                    writes[id] |= writes[call.target] - offered[call.target].keys()
            if before != (len(writes[id]), len(reads[id])):
                todo |= dict.fromkeys(self.callers.get(id, ()))
        self.reads = reads
        return writes

    def callees_first(self) -> list[str]:
        order: dict[str, None] = {}
        seen: set[str] = set()
        for top in self.nodes:
            todo = [(top, False)]
            while todo:
                id, left = todo.pop()
                if left:
                    order[id] = None
                elif id not in seen:
                    seen.add(id)
                    todo += [(id, True), *((call.target, False) for call in self.nodes[id].calls)]
        return list(order)

    def ports_of(self, id: str) -> tuple[dict[str, Json], dict[str, Json]]:
        """Inputs and outputs."""
        inputs: dict[str, Json] = {}
        outputs: dict[str, Json] = {}
        strict = [call for call in self.called(id) if not call.autoremap]
        handed = Counter(name for call in strict for name in call.given)
        for name, port in self.offered(id).items():
            into = outputs if name in self.outputs[id] else inputs
            into[name] = port.type
            if port.default is not None and entry_of(port.default, port.name) is None:
                into[name] = {"type": port.type, "default": literal(port.default, port.type)}
            elif into is inputs and handed[name] < len(strict):
                into[name] = {"type": "any", "default": None}
        for call in self.called(id):
            self.lend(call, outputs)
        return inputs, outputs

    def lend(self, call: Any, outputs: Mapping[str, Json]) -> None:
        """Creates an entry for a literal that is passed to a port which the called tree writes."""
        plain = {
            n: v for n, v in call.given.items() if n in outputs and (not isinstance(v, str) or entry_of(v) is None)
        }
        if not plain:
            return
        step = call.step
        entries = {f"{identifier(call.target)}_{name}": value for name, value in plain.items()}
        handed = {n: f"{{{identifier(call.target)}_{n}}}" if n in plain else v for n, v in call.given.items()}
        inside = Step("tree", {**step.fields, "with": handed}, "file")
        name = inside.fields.pop("name", None)
        common = {
            k: inside.fields.pop(k)
            for k in ("when", "on_halt", "on_success", "on_failure", "on_end")
            if k in inside.fields
        }
        step.kind, step.bare = "sequence", "children"
        step.fields = {
            **({"name": name} if name else {}),
            "children": [Step("set", {"values": entries}, "values"), inside],
            **common,
        }

    # Files ----------------------------------------------------------------------------------

    def imported(self) -> Imported:
        files: dict[str, str] = {"btr.yaml": "version: 1\n"}
        for id in self.sources.trees:
            files[f"trees/{self.names[id]}.yaml"] = self.tree(id)
        if self.models:
            stubs = [manifest.stub(self.models[id], kind) for id, kind in self.kinds.items()]
            files |= skill_files.files(self.stem, stubs)
        self.modelled()
        return Imported(files, self.main(), self.report)

    def modelled(self) -> None:
        """Adds to the report what became of each model in the files."""
        for element in self.sources.described:
            id, where = element.get("ID"), f"`{self.kinds.get(element.get('ID'))}` of skills/{self.stem}.yaml"
            if id in self.models or (element.tag == "SubTree" and id in self.names):
                became = where if id in self.models else f"the ports of trees/{self.names[id]}.yaml"
            elif built_in(Element(id, {}, NOWHERE, {})):
                became = "a node that is known here"
            else:
                self.report.add(element.place, f'<{element.tag} ID="{id}">', "aside", "no tree uses it: left out")
                continue
            for part in list(element.walk())[1:]:
                known = part.tag in DIRECTIONS and part.get("name")
                name = f'<{part.tag} name="{part.get("name")}">' if known else f"<{part.tag}>"
                why = aside.KEPT if element.tag == "SubTree" else "it means nothing to a tick: left out"
                self.report.add(part.place, name, "same" if known else "aside", became if known else why)
            self.report.add(element.place, f'<{element.tag} ID="{id}">', "same", became)

    def main(self) -> str:
        named = self.sources.main
        if named and named not in self.names:
            known = ", ".join(self.names)
            raise BtError(f"`main_tree_to_execute` names `{named}`, which is no tree of these files", f"trees: {known}")
        called = {call.target for nodes in self.nodes.values() for call in nodes.calls}
        return self.names[named or next((id for id in self.names if id not in called), next(iter(self.names)))]

    def tree(self, id: str) -> str:
        tree, nodes = self.sources.trees[id], self.nodes[id]
        inputs, outputs = self.ports[id]
        lent = {f"{identifier(c.target)}_{n}" for c in nodes.calls for n in c.given}
        outside = sorted(self.reads[id] - self.outputs[id] - inputs.keys() - outputs.keys() - lent)
        if any(call.autoremap for call in self.called(id)):
            outside = []
        head: dict[str, Json] = {"version": 1, "tree": self.names[id]}
        head |= {"skills": [self.stem]} if self.uses(nodes.root) else {}
        for key, ports in (("inputs", inputs), ("outputs", outputs), ("blackboard", dict.fromkeys(outside, "any"))):
            head |= {key: ports} if ports else {}
        for name in sorted(tree.attributes.keys() - _KEPT):
            self.report.add(tree.at(name), f"`{name}` of <BehaviorTree>", "aside", aside.KEPT)
        if not tree.get(STUB):
            self.report.add(tree.place, f'<BehaviorTree ID="{id}">', "same", f"trees/{self.names[id]}.yaml")
        comments = [*tree.comments, *tree.get("_description").splitlines(), *tree.after, *self.kept(id)]
        try:
            return yaml.document({**head, "root": nodes.root}, comments)
        except RecursionError:
            raise fault(tree.place, f"`{id}` is nested too deeply to be written", "make a SubTree of a part") from None

    def kept(self, id: str) -> list[str]:
        """The comments at the head of a tree's file that the export needs."""
        tree, name = self.sources.trees[id], self.names[id]
        said = {k: v for k, v in tree.attributes.items() if k not in _KEPT or k == STUB}
        said = ({"ID": id} if id != name else {}) | said
        ids = {kind: other for other, kind in self.kinds.items() if other != kind}
        used = self.uses(self.nodes[id].root) & ids.keys() if ids else set[str]()
        model = [part for each in self.described.get(id, ()) for part in each.children if part.tag not in DIRECTIONS]
        return [
            *aside.attributes(said),
            *aside.attributes({kind: ids[kind] for kind in sorted(used)}, aside.IDS),
            *aside.parts(model),
        ]

    def uses(self, root: Step) -> set[str]:
        """Returns the skills among a tree's nodes."""
        kinds, todo, found = self.own_kinds, [root], set[str]()
        while todo:
            step = todo.pop()
            if step.kind in kinds:
                found.add(step.kind)
            for value in step.fields.values():
                parts = value if isinstance(value, list) else value.values() if isinstance(value, dict) else [value]
                todo += [part for part in parts if isinstance(part, Step)]
        return found


def enum(text: str) -> tuple[str, float]:
    """Parses an enum value from the command line: `RED=1`."""
    found = re.fullmatch(r"\s*([A-Za-z_]\w*)\s*=\s*(-?\d+(?:\.\d+)?)\s*", text)
    if found is None:
        raise BtError(f"`{text:.60}` is no word of an enum", "such as --enum RED=1")
    return found[1], float(found[2])
