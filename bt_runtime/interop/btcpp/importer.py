"""A file of BehaviorTree.CPP as a project: trees, a manifest of its own nodes, a place for their Python."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.interop.btcpp import manifest, yaml
from bt_runtime.interop.btcpp.document import Element, Place, fault
from bt_runtime.interop.btcpp.model import DIRECTIONS, Model, Port, entry_of, identifier, literal, type_seen
from bt_runtime.interop.btcpp.nodes import Known, Nodes, built_in, tag_of
from bt_runtime.interop.btcpp.report import Report
from bt_runtime.interop.btcpp.sources import Sources
from bt_runtime.interop.btcpp.yaml import Step
from bt_runtime.language.kinds.registry import BUILT_IN
from bt_runtime.types import Json

_RESERVED = {"name", "ID"}
NOWHERE = Place("", 0, 0)


class Imported(NamedTuple):
    files: dict[str, str]  # place in the project → text
    main: str  # the tree that is run
    report: Report


def load(path: Path, models: Iterable[str] = (), enums: Mapping[str, float] | None = None) -> Imported:
    """Raises BtError for what is no tree at all; everything else is in the report."""
    report = Report()
    sources = Sources(path, models, report)
    return _Import(sources, identifier(path.stem.lower(), "robot"), enums or {}, report).imported()


class _Import:
    def __init__(self, sources: Sources, stem: str, enums: Mapping[str, float], report: Report) -> None:
        self.sources, self.stem, self.report = sources, stem, report
        self.models = self.used()
        self.kinds = {id: self.kind(id) for id in sorted(self.models)}
        self.names = self.trees()
        known = Known(self.models, self.kinds, self.names, enums, report)
        self.nodes = {id: Nodes(tree, known) for id, tree in sources.trees.items()}
        self.outputs = self.written()
        self.ports = {id: self.ports_of(id) for id in sources.trees}

    def used(self) -> dict[str, Model]:
        """The models of what the trees use that we do not know; how a node is used says what its model does not."""
        seen: dict[str, list[Element]] = {}
        for tree in self.sources.trees.values():
            for element in list(tree.walk())[1:]:
                if not built_in(element):
                    seen.setdefault(tag_of(element), []).append(element)
        found = {id: self.model(id, elements) for id, elements in seen.items()}
        for id, model in self.sources.own.items():  # what a file says of nodes that it does not use
            if model.sort in ("Action", "Condition") and not built_in(Element(id, {}, NOWHERE, {})):
                found.setdefault(id, model)
        return found

    def model(self, id: str, elements: list[Element]) -> Model:
        model = self.sources.models.get(id)
        sort = model.sort if model else "Decorator" if len(elements[0].children) == 1 else "Action"
        if any(len(each.children) == 1 for each in elements):
            sort = "Decorator"
        elif sort in ("Decorator", "Control", "SubTree"):
            sort = "Condition" if sort == "Decorator" else "Action"
        ports = dict(model.ports) if model else {}
        for each in elements:
            for name in each.attributes:
                if name in ports or name in _RESERVED or name.startswith("_"):
                    continue
                texts = [e.get(name) for e in elements if name in e.attributes]
                ports[name] = Port(name, "in", type_seen([t for t in texts if entry_of(t, name) is None]))
                if model is not None:
                    self.report.add(
                        each.at(name), f"`{name}` of <{id}>", "changed", "its model has no such port: an input"
                    )
        return Model(
            id,
            sort,
            {name: self.port(port, elements) for name, port in ports.items()},
            model is not None,
            model is not None and model.at_once,
        )

    def port(self, port: Port, elements: list[Element]) -> Port:
        """A default that no value of its type says is none; one that is left out somewhere may be left out."""
        left = [e for e in elements if port.name not in e.attributes]
        return port._replace(default="") if left and port.default is None else port

    def kind(self, id: str) -> str:
        made = identifier(id, "node")
        return f"{made}_node" if made in BUILT_IN else made

    def trees(self) -> dict[str, str]:
        names: dict[str, str] = {}
        for id, tree in self.sources.trees.items():
            name = identifier(id, "tree")
            if name.lower() in {other.lower() for other in names.values()}:
                raise fault(tree.at("ID"), f"`{id}` would be the file trees/{name}.yaml, which another tree has")
            names[id] = name
        return names

    # Ports of trees -------------------------------------------------------------------------

    def called(self, id: str) -> list[Any]:
        return [call for nodes in self.nodes.values() for call in nodes.calls if call.target == id]

    def offered(self, id: str) -> dict[str, Port]:
        """The ports of a tree: what its model says, and what anybody hands over."""
        model = self.sources.models.get(id)
        found = {identifier(p.name): p for p in model.ports.values()} if model and model.sort == "SubTree" else {}
        for call in self.called(id):
            found |= {name: Port(name) for name in call.given if name not in found}
        return found

    def written(self) -> dict[str, set[str]]:
        """What each tree writes, those below it counted in, until nothing is new."""
        offered = {id: self.offered(id) for id in self.nodes}
        writes = {id: set(nodes.writes) for id, nodes in self.nodes.items()}
        reads = {id: set(nodes.reads) for id, nodes in self.nodes.items()}
        for id, ports in offered.items():
            writes[id] |= {name for name, port in ports.items() if port.direction != "in"}
        changed = True
        while changed:
            before = sum(map(len, (*writes.values(), *reads.values())))
            for id, nodes in self.nodes.items():
                for call in nodes.calls:
                    for name, value in call.given.items():
                        entry = entry_of(value) if isinstance(value, str) else None
                        if entry:
                            (writes if name in writes[call.target] else reads)[id].add(entry)
                    if call.autoremap:
                        reads[id] |= reads[call.target] - offered[call.target].keys()
                        writes[id] |= writes[call.target] - offered[call.target].keys()
            changed = sum(map(len, (*writes.values(), *reads.values()))) != before
        self.reads = reads
        return writes

    def ports_of(self, id: str) -> tuple[dict[str, Json], dict[str, Json]]:
        """Inputs and outputs."""
        inputs: dict[str, Json] = {}
        outputs: dict[str, Json] = {}
        for name, port in self.offered(id).items():
            into = outputs if name in self.outputs[id] else inputs
            into[name] = port.type
            if port.default is not None and entry_of(port.default, port.name) is None:
                into[name] = {"type": port.type, "default": literal(port.default, port.type)}
            elif into is inputs and any(name not in call.given and not call.autoremap for call in self.called(id)):
                into[name] = {"type": "any", "default": None}
        for call in self.called(id):
            self.lend(call, outputs)
        return inputs, outputs

    def lend(self, call: Any, outputs: Mapping[str, Json]) -> None:
        """A value that is handed to what the tree writes needs an entry first."""
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
            models = [self.models[id] for id in self.kinds]
            files[f"skills/{self.stem}.yaml"] = manifest.text(self.stem, models, self.kinds)
            files[f"skills/{self.stem}.py"] = manifest.stubs(self.stem, models, self.kinds)
        self.modelled()
        return Imported(files, self.main(), self.report)

    def modelled(self) -> None:
        """What became of each model that the files bring."""
        for element in self.sources.described:
            id, where = element.get("ID"), f"`{self.kinds.get(element.get('ID'))}` of skills/{self.stem}.yaml"
            if id in self.models or (element.tag == "SubTree" and id in self.names):
                became = where if id in self.models else f"the ports of trees/{self.names[id]}.yaml"
            elif built_in(Element(id, {}, NOWHERE, {})):
                became = "a node that is known here"
            else:
                self.report.add(element.place, f'<{element.tag} ID="{id}">', "lost", "no tree uses it")
                continue
            for part in list(element.walk())[1:]:
                known = part.tag in DIRECTIONS and part.get("name")
                name = f'<{part.tag} name="{part.get("name")}">' if known else f"<{part.tag}>"
                self.report.add(
                    part.place, name, "same" if known else "lost", became if known else "nothing here reads it"
                )
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
        for name in sorted(tree.attributes.keys() - {"ID", "_version", "_fullpath", "_description"}):
            self.report.add(tree.at(name), f"`{name}` of <BehaviorTree>", "lost", "nothing here reads it")
        self.report.add(tree.place, f'<BehaviorTree ID="{id}">', "same", f"trees/{self.names[id]}.yaml")
        comments = [*tree.comments, *tree.get("_description").splitlines(), *tree.after]
        try:
            return yaml.document({**head, "root": nodes.root}, comments)
        except RecursionError:
            raise fault(tree.place, f"`{id}` is nested too deeply to be written", "make a SubTree of a part") from None

    def uses(self, root: Step) -> bool:
        kinds, todo = set(self.kinds.values()), [root]
        while todo:
            step = todo.pop()
            if step.kind in kinds:
                return True
            for value in step.fields.values():
                parts = value if isinstance(value, list) else value.values() if isinstance(value, dict) else [value]
                todo += [part for part in parts if isinstance(part, Step)]
        return False


def enum(text: str) -> tuple[str, float]:
    """`RED=1` of a command line."""
    found = re.fullmatch(r"\s*([A-Za-z_]\w*)\s*=\s*(-?\d+(?:\.\d+)?)\s*", text)
    if found is None:
        raise BtError(f"`{text:.60}` is no word of an enum", "such as --enum RED=1")
    return found[1], float(found[2])
