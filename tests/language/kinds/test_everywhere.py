"""One description of a kind serves all who ask: why, exports, monitors, pages, drawings and tests; a plug-in's kind is
asked as ours are."""

from __future__ import annotations

import json
import random
from typing import Any
from xml.etree import ElementTree

import pytest

from bt_robots.btcpp import exporter, tree_xml
from bt_runtime import BtError, Status, Tree, debugger_of, load
from bt_runtime.events import Placed
from bt_runtime.language.kinds.kind import Twin
from bt_runtime.language.kinds.registry import shipped_kinds
from bt_runtime.language.spec import TreeSpec
from bt_runtime.plugins import Field, Kind
from bt_runtime.run.debug.script import LaterResult
from bt_runtime.run.view.event import started
from bt_runtime.run.view.render import FORMS, draw, sketch
from bt_runtime.skills.skill import kind_of
from bt_runtime.testing import FAILURE, RUNNING, SUCCESS, Trial
from bt_runtime.testing.case import Case, Subject
from bt_runtime.tree.describe.census import Census
from bt_runtime.tree.describe.gist import signs
from bt_runtime.tree.nodes.parent import Decorator, Parent
from tests.language.kinds.samples import tree_data


class Patient(Decorator):
    """A plug-in's class: a failure of its child counts as success."""

    HOLDS = True

    def ended_by(self, at: int, status: Status) -> Status | None:
        return SUCCESS

    def conclude(self, status: Status) -> Any:
        return status if status is RUNNING else SUCCESS

    def explain(self) -> str:
        return "it is patient"


PATIENT = Kind(
    "patient", "decorator", "Succeeds in the end.",
    (Field("grace", "integer", "How patient.", default=1), Field("child", "node", "What it runs.", required=True)),
    example="patient:\n  grace: 3\n  child:\n    check: battery > 0.2\n", impl=Patient, ends="success", sign="☺",
    twin=Twin("Patient", {"grace": "patience"}, standard=False),
)  # fmt: skip
ALL = [*shipped_kinds(), PATIENT]
PLAIN = [kind for kind in ALL if kind.family != "agent" and not kind.includes]  # those that tick without a model
PARENTS = [kind for kind in PLAIN if kind.node_fields and not kind.foreign and kind.name != "episode"]
names = pytest.mark.parametrize("kind", PLAIN, ids=lambda kind: kind.name)


def named_skill(name: str) -> Kind:
    def done() -> bool:
        return True

    done.__name__ = name
    return kind_of(done)


SKILLS = [named_skill(name) for name in ("s0", "s1", "s2", "last")]


def given(kind: Kind) -> dict[str, Any]:
    """The fields of a kind's example, and a skill in each place where nodes stand."""
    ((_, value),) = tree_data(kind)["root"].items()
    fields = {name: each for name, each in value.items() if kind.field(name)} if isinstance(value, dict) else {}
    if not fields and kind.bare is not None:
        fields = {kind.bare: value}
    for number, field in enumerate(kind.node_fields if not kind.foreign else ()):
        one: Any = {f"s{number}": {}}
        if field.type == "node":
            fields[field.name] = one
        else:
            several = {"a": one, "b": {"last": {}}}
            fields[field.name] = several if field.type == "cases" else list(several.values())
    return fields


def text_of(kind: Kind) -> str:
    ports = (
        "battery: {type: number, default: 0.5}, room: {type: string, default: a}, count: {type: integer, default: 1}"
    )
    root = json.dumps({kind.name: given(kind)})
    return f"version: 1\ntree: t\nblackboard: {{{ports}, message: string, place: string}}\nroot: {root}\n"


def tree_of(kind: Kind) -> Tree:
    return load(text_of(kind), skills=[*([kind] if kind is PATIENT else ()), *SKILLS])


def spec_of(kind: Kind) -> TreeSpec:
    return tree_of(kind).spec


@names
def test_why_asks_the_node(kind: Kind) -> None:
    with Trial(
        tree_of(kind), skills={name: RUNNING for name in ("s0", "s1", "s2", "last") if kind.node_fields}
    ) as trial:
        debugger = debugger_of(trial.run)
        debugger.look()
        trial.tick()
        said = debugger.why("/t")
        assert said[0].startswith("After tick 1: /t ")
        assert len(said) > 1 or trial.status is SUCCESS


def test_why_says_what_a_plug_ins_node_says() -> None:
    with Trial(tree_of(PATIENT), skills={"s0": RUNNING}) as trial:
        trial.tick()
        assert "/t (patient) is running: it is patient." in debugger_of(trial.run).why("/t")


@names
def test_an_export_writes_the_twin_or_refuses_with_the_place(kind: Kind) -> None:
    spec = spec_of(kind)
    xml, left = exporter.for_viewing(spec)
    tags = {each.tag for each in ElementTree.fromstring(xml).iter()}
    assert left or kind.twin is None or kind.name in ("until_failure", "parallel") or kind.twin.tag in tags
    try:
        assert exporter.text(spec)
    except BtError as refused:
        assert "has no words" in str(refused) or "no default" in str(refused)


def test_a_plug_ins_twin_is_written_with_its_ports_and_its_model() -> None:
    top = ElementTree.fromstring(exporter.for_viewing(spec_of(PATIENT))[0])
    made = top.find(".//BehaviorTree//Patient")
    assert made is not None and made.get("patience") == "3" and len(made) == 1
    known = top.find("TreeNodesModel/Decorator[@ID='Patient']/input_port")
    assert known is not None and (known.get("name"), known.get("type")) == ("patience", "int")


@names
def test_monitors_and_pages_get_kind_family_and_sign(kind: Kind) -> None:
    with Trial(tree_of(kind), skills={"s0": RUNNING} if kind.node_fields else {}) as trial:
        shape = Census().whole(trial.run.parts.engine.root)
        placed: Placed = next(row for row in shape.add if row.number == 1)
        rows = [tree_xml.Row(r.number, r.parent, r.kind, r.name, "/t", r.family) for r in shape.add]
    assert placed.family == ("foreign" if kind.foreign else kind.family)
    model = tree_xml.document("t", rows).find("TreeNodesModel")
    known = kind.twin.tag if kind.twin is not None and kind is not PATIENT else placed.kind
    families = {each.get("ID"): each.tag for each in model or ()}
    assert families[known] == tree_xml.FAMILIES.get(placed.family, families[known])
    told = started("r", "t", None, "", 0.0, kinds=trial.run.parts.tree.spec.registry)
    assert told["signs"].get(kind.name, "") == kind.sign


def test_the_signs_of_installed_kinds_are_the_registrys() -> None:
    assert signs() == {kind.name: kind.sign for kind in shipped_kinds() if kind.sign}


@names
def test_a_drawing_and_a_test_case_take_it(kind: Kind) -> None:
    tree = tree_of(kind)
    made = sketch(tree.spec)
    assert kind.name in {node.kind for node, _ in made.walk()}
    for form in FORMS:
        assert draw(made, form)
    acts = {name: [RUNNING] for name in ("s0", "s1", "s2", "last")}
    Subject(tree).play(Case({}, {n: a for n, a in acts.items() if n in text_of(kind)}, moves=(("tick", 2),)))


@pytest.mark.parametrize("kind", PARENTS, ids=lambda kind: kind.name)
def test_what_a_parent_says_of_its_children_is_what_it_does(kind: Kind) -> None:
    """In 40 random courses: a parent that HOLDS leaves its other children alone, and `ended_by` foretells its end."""
    draw_of = random.Random(kind.name)
    for _ in range(40):
        ends = [SUCCESS, FAILURE]
        acts = {
            name: [LaterResult(draw_of.randrange(3), draw_of.choice(ends)) for _ in range(30)]
            for name in ("s0", "s1", "s2", "last") if name in text_of(kind)
        }  # fmt: skip
        with Trial(tree_of(kind), skills=acts) as trial:
            node = trial.run.parts.engine.root
            assert isinstance(node, Parent)
            for _ in range(12):
                before = [child.status for child in node.children]
                foretold = [{end: node.ended_by(at, end) for end in ends} for at in range(len(node.children))]
                going = node.status is RUNNING
                trial.tick()
                compared(node, before if going else [], foretold if going else [], trial.ticks[-1].changes)


def compared(node: Parent, before: list[Status], foretold: list[Any], changes: Any) -> None:
    own = [(n, s) for n, s in changes if n in node.children and s in (SUCCESS, FAILURE)]
    if before and node.HOLDS and RUNNING in before:
        running = node.children[before.index(RUNNING)]
        first = next((n for n, _ in changes if n in node.children), running)
        assert first is running and all(n is not running or s is not Status.INVALID for n, s in changes)
    if own and before:
        child, status = own[-1]
        end = foretold[node.children.index(child)][status]
        shown = {SUCCESS, FAILURE} & {*before}  # a result that comes again is no change
        exact = node.HOLDS and len(own) == 1 and not shown
        assert node.status is (end or RUNNING) if exact else end in (None, node.status)
