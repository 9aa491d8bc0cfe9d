"""The nodes of one tree: each element becomes a step, from the leaves upward."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from bt_robots.btcpp import aside, rules, script
from bt_robots.btcpp.document import Element
from bt_robots.btcpp.model import Model, Port, entry_of, guessed, literal
from bt_robots.btcpp.source_element import Given
from bt_robots.imports.names import Names, identifier, node_name, parameter, unique
from bt_robots.imports.report import CannotSay, Report
from bt_robots.imports.yaml import Step
from bt_runtime.types import Json

EXPLICIT = {"Action", "Condition", "Control", "Decorator"}  # <Action ID="X"/> is <X/>
_BEFORE = (("_skipIf", "skip"), ("_successIf", "success"), ("_failureIf", "failure"))  # from the inside out
_AFTER = (("_onSuccess", "on_success"), ("_onFailure", "on_failure"), ("_post", "on_end"))


class Call(NamedTuple):
    """A <SubTree> element: its step, and the values that it passes, by port."""

    step: Step
    target: str
    given: dict[str, Json]
    autoremap: bool

    def hand(self, more: Mapping[str, Json]) -> None:
        """Passes more ports than the element named."""
        self.given.update(more)
        if self.given:
            last = {"autoremap": self.step.fields.pop("autoremap")} if "autoremap" in self.step.fields else {}
            self.step.fields |= {"with": self.given} | last


class Form(NamedTuple):
    """The parts shared by all nodes of a model, computed once because a model may have many nodes."""

    defaults: list[tuple[Port, str]]  # ports whose default names an entry, with that entry
    order: dict[str, int]  # field → its place: inputs first


def form_of(model: Model) -> Form:
    ports = model.ports.values()
    named = [(port, entry_of(port.default or "", port.name)) for port in ports]
    takes = [parameter(p.name) for p in ports if p.direction != "out"]
    gives = [parameter(p.name) + "_out" * (p.direction == "both") for p in ports if p.direction != "in"]
    order = {key: place for place, key in enumerate(dict.fromkeys((*takes, *gives)))}
    return Form([(port, entry) for port, entry in named if entry is not None], order)


class Known(NamedTuple):
    """The data shared by all trees of an import."""

    models: Mapping[str, Model]  # models of nodes that are not built in
    kinds: Mapping[str, str]  # ID → the name of the kind
    trees: Mapping[str, str]  # ID → name of the tree here
    enums: Mapping[str, float]
    report: Report
    forms: Mapping[str, Form]  # forms by ID
    entries: Names  # names for entries whose name there is none here
    shared: Mapping[str, str]  # trees that are called → what an entry of the outermost tree is called in them
    offers: Mapping[str, Mapping[str, Port]]  # the ports of trees, by the models of the files


def tag_of(element: Element) -> str:
    tag = element.get("ID") if element.tag in EXPLICIT and element.get("ID") else element.tag
    return rules.OLD.get(tag, tag)


def built_in(element: Element) -> bool:
    tag = tag_of(element)
    return tag in rules.RULES or tag in rules.LISTS or tag in rules.LEAVES or tag == "SubTree"


class Nodes:
    def __init__(self, tree: Element, known: Known) -> None:
        self.known, self.report = known, known.report
        self.version4 = tree.get("_version") == "4"
        self.outer = known.shared.get(tree.get("ID"), "")
        self.shared = set[str]()
        self.calls: list[Call] = []
        self.reads, self.writes = set[str](), set[str]()
        made: dict[int, Step] = {}
        for element in reversed(list(tree.walk())[1:]):
            below = [made.pop(id(child)) for child in element.children]
            made[id(element)] = self.step(element, below)
        roots = [made[id(child)] for child in tree.children]
        if len(roots) != 1:
            why = "a tree has one root: the parts of this one stand in a sequence" if roots else "it is empty: it fails"
            self.report.add(tree.place, f'<BehaviorTree ID="{tree.get("ID")}">', "lost", why)
        self.root = (
            roots[0]
            if len(roots) == 1
            else Step("sequence", {"children": roots}, "children")
            if roots
            else Step("fail")
        )

    def step(self, element: Element, below: list[Step]) -> Step:
        tag = tag_of(element)
        given = Given(element, tag, self.report, self.known.enums, self.known.entries, self.outer)
        name, description = given.take("name"), given.take("_description")
        unique(below)
        try:
            made = self.made(given, below)
        except CannotSay as why:
            given.gone, given.notes = str(why), []
            made = self.placeholder(below)
        inner, outer = made, self.guarded(given, made)
        self.named(given, inner, name, tag)
        told = [f"lost: <{tag}>: {given.gone}"] if given.gone else []
        outer.comments = [*element.comments, *description.splitlines(), *told, *outer.comments]
        if element.after:
            outer.comments += element.after
        if element.text:
            given.report.add(element.place, f"text in <{tag}>", "lost", "a node holds no text")
        cosmetic = {name: text for name, text in given.left.items() if name.startswith("_")}
        for each in sorted(given.left):
            kept = each in cosmetic
            given.tell(each, "aside" if kept else "lost", aside.KEPT if kept else "nothing here reads it")
        outer.comments += aside.attributes(cosmetic)
        self.reads |= given.reads
        self.writes |= given.writes
        self.shared |= given.shared
        became = f"`{outer.kind}`" + (f": {'; '.join(given.notes)}" if given.notes else "")
        if given.gone:
            self.report.add(element.place, f"<{tag}>", "lost", f"{became} in its place: {given.gone}")
        else:
            self.report.add(element.place, f"<{tag}>", "changed" if given.notes else "same", became)
        return outer

    def placeholder(self, below: list[Step]) -> Step:
        """A node in place of one that cannot be imported: it fails, and keeps its children visible."""
        fail = Step("fail")
        return Step("sequence", {"children": [fail, *below]}, "children") if below else fail

    def made(self, given: Given, below: list[Step]) -> Step:
        tag = given.tag
        if tag in rules.LISTS:
            listed = rules.LISTS[tag]
            given.notes += [listed.note] if listed.note else []
            if given.left.get("wrap_around", "").lower() in ("false", "0"):
                given.take("wrap_around")  # what holds without
            if not below:
                raise CannotSay("it has no children")
            return Step(listed.kind, {**listed.fields, "children": below}, "children")
        if tag == "SubTree":
            return self.subtree(given)
        if not below and tag in rules.LEAVES:
            return rules.LEAVES[tag](given, below)
        if tag in rules.RULES:
            return rules.RULES[tag](given, below)
        skill = self.skill(given, self.known.models[tag])
        if not below:
            return skill
        if tag in rules.CHOOSERS:
            return rules.chosen(given, skill, below)
        if len(below) > 1:
            raise CannotSay("a control node that is not known here")
        return self.decorator(given, skill, below[0])

    def decorator(self, given: Given, skill: Step, child: Step) -> Step:
        if given.tag == "GoalUpdater":
            return Step("reactive_sequence", {"children": [skill, child]}, "children")
        if given.tag == "PathLongerOnApproach":
            return Step("if", {"check": skill, "then": child, "else": Step("succeed")})
        if given.tag == "SingleTrigger":
            return Step("if", {"check": skill, "then": child})
        if given.tag not in rules.GATES and not given.tag.endswith("Controller"):
            given.notes.append("taken for one that starts its child when it says so, and is RUNNING until then")
        return rules.guarded(skill, "running", child)

    def skill(self, given: Given, model: Model) -> Step:
        fields: dict[str, Json] = {}
        for name in list(given.left):
            if name.startswith("_"):
                continue
            port = model.ports.get(name)
            if port is None:
                continue
            text, key = given.take(name), parameter(name)
            said = entry_of(text, name)
            if said is None and port.direction == "in":
                value = literal(text, port.reads or port.type)
                if port.default and value == literal(port.default, port.type):
                    continue
                fields[key] = value.replace("{", "{{").replace("}", "}}") if isinstance(value, str) else value
                continue
            entry = given.entry(text, name)
            if said is None:
                given.notes.append(f"`{name}` is an output: taken for the name of an entry")
            if port.direction != "out":
                given.reads.add(entry)
                fields[key] = f"{{{entry}}}"
            if port.direction != "in":
                given.writes.add(entry)
                fields[key if port.direction == "out" else f"{key}_out"] = f"{{{entry}}}"
        form = self.known.forms[model.id]
        for port, said in form.defaults:  # written out where it holds
            if parameter(port.name) not in fields:
                fields[parameter(port.name)] = (
                    f"{{{given.read(said) if port.direction != 'out' else given.write(said)}}}"
                )
        if not model.given:
            given.notes.append("its ports and their directions are guessed; a model (--models) would say them")
        order = form.order
        return Step(
            self.known.kinds[model.id], {k: fields[k] for k in sorted(order.keys() & fields, key=order.__getitem__)}
        )

    def subtree(self, given: Given) -> Step:
        target = given.element.get("ID")
        if target not in self.known.trees:
            raise CannotSay(f"there is no tree `{target}` in these files")
        if given.element.children:
            raise CannotSay("a <SubTree> has no children")
        asked = [given.take(n) for n in ("_autoremap", "__autoremap", "__shared_blackboard")]
        autoremap = any(word.strip().lower() in ("true", "1") for word in asked)
        plain = not self.version4 and given.element.tag == "SubTree"  # there `a="b"` names an entry without braces
        handed: dict[str, Json] = {}
        for name in [n for n in given.left if not n.startswith("_")]:
            text = given.take(name)
            said = entry_of(text, name) or (text.strip() if plain else None)
            if said is not None:
                handed[identifier(name)] = f"{{{given.entry(said)}}}"
            else:
                value = guessed(text)
                handed[identifier(name)] = (
                    value.replace("{", "{{").replace("}", "}}") if isinstance(value, str) else value
                )
        for port in self.known.offers.get(target, {}).values():
            said = entry_of(port.default or "", port.name)
            if said is not None and identifier(port.name) not in handed:
                handed[identifier(port.name)] = f"{{{given.entry(said)}}}"
        step = Step("tree", {"file": self.known.trees[target]}, "file")
        step.fields |= {"with": handed} if handed else {}
        step.fields |= {"autoremap": True} if autoremap else {}
        self.calls.append(Call(step, target, handed, autoremap))
        return step

    # What any node may carry ----------------------------------------------------------------

    def guarded(self, given: Given, made: Step) -> Step:
        outer = made
        self.attribute(given, "_while", lambda code: made.fields.__setitem__("when", given.text(given.asked(code))))
        self.attribute(given, "_onHalted", lambda code: made.fields.__setitem__("on_halt", self.assigned(given, code)))
        for name, otherwise in _BEFORE:
            if name in given.left:
                code = given.take(name)
                try:
                    test = given.text(script.negated(given.asked(code)))
                except CannotSay as why:
                    given.tell(name, "lost", f"it has no words here: {why}")
                    continue
                outer = rules.guarded(test, otherwise, outer)
                given.tell(name, "same", f"`precondition` with `else: {otherwise}`")
        for name, field in _AFTER:
            self.attribute(given, name, lambda code, f=field: outer.fields.__setitem__(f, self.assigned(given, code)))
        return outer

    def attribute(self, given: Given, name: str, write: Any) -> None:
        if name not in given.left:
            return
        try:
            write(given.take(name))
            words = {"_while": "when", "_onHalted": "on_halt", **dict(_AFTER)}
            given.tell(name, "same", f"`{words[name]}`")
        except CannotSay as why:
            given.tell(name, "lost", f"it has no words here: {why}")

    def assigned(self, given: Given, code: str) -> Json:
        sets, value = given.sets(code)
        if not sets:
            raise CannotSay("it writes nothing")
        if value is not None:
            given.notes.append(f"`{value.text:.60}` writes nothing, and is left out")
        return sets

    def named(self, given: Given, step: Step, name: str, tag: str) -> None:
        if not name or name == tag:
            return
        if (clean := node_name(name)) != name:
            given.notes.append(f"called `{clean}`")
        step.fields = {"name": clean, **step.fields}
