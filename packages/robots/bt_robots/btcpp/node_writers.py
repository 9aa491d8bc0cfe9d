"""Writes the kinds that are no twin of a single node there; what has no equivalent is refused, with its place."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

from bt_robots.btcpp import script
from bt_robots.btcpp.element_writer import ANY_SKILL, SETS, ElementWriter, NodeWriter, plain, tree_id
from bt_robots.btcpp.model import CPP, Model, Port, attribute
from bt_robots.imports.report import CannotSay
from bt_runtime.language.expression import Expression
from bt_runtime.language.ports import an
from bt_runtime.language.spec import NodeSpec
from bt_runtime.language.values import Computed, is_entry

_ELSE = {"failure": "FAILURE", "success": "SUCCESS", "skip": "SKIPPED", "running": "RUNNING"}
_BEFORE = {"failure": "_failureIf", "success": "_successIf", "skip": "_skipIf"}  # in the order in which they are asked
_LOOPS: dict[type, str] = {bool: "LoopBool", int: "LoopInt", float: "LoopDouble", str: "LoopString"}
TO_QUEUE = Model("ListToQueue", "Action", {  # which the program registers: a loop there uses its queue up
    "list": Port("list", type=CPP["list"]), "queue": Port("queue", "out", foreign="BT::SharedQueue<std::string>"),
})  # fmt: skip
MOST_CASES = 6  # most cases of a switch: Switch6


def _parallel(s: ElementWriter, parent: Element, spec: NodeSpec) -> None:
    success, failure, count = spec.values["success"], spec.values["failure"], len(spec.children)
    if spec.values["order"] != "together":
        raise CannotSay("`order: in_turn`")
    if spec.values["wait_all"]:
        if failure != -1 or not isinstance(success, int) or not 1 <= success <= count:
            raise CannotSay("`wait_all` is ParallelAll only with `failure: -1` and a plain number as `success`")
        s.below(SubElement(parent, "ParallelAll", max_failures=str(count - success + 1)), spec, "children")
        return
    success = count - 1 if success == -2 else success
    given = {"success_count": s.port(success)} | ({"failure_count": s.port(failure)} if failure != 1 else {})
    s.below(SubElement(parent, "Parallel", given), spec, "children")


def _branches(tag: str, first: str) -> NodeWriter:
    def say(s: ElementWriter, parent: Element, spec: NodeSpec) -> None:
        element = SubElement(parent, tag)
        s.test(element, spec, "check")
        s.below(element, spec, first)
        s.below(element, spec, "else")

    return say


def _switch(s: ElementWriter, parent: Element, spec: NodeSpec) -> None:
    cases = [
        (p.removeprefix("cases:"), c) for c, p in zip(spec.children, spec.places, strict=True) if p.startswith("cases:")
    ]
    if not 2 <= len(cases) <= MOST_CASES or spec.at("on") is not None:
        raise CannotSay(f"a switch over an entry, with 2 to {MOST_CASES} cases, is all that can be said")
    element = SubElement(parent, f"Switch{len(cases)}", variable=s.port(spec.values["on"]))
    for number, (case, child) in enumerate(cases, 1):
        element.set(f"case_{number}", case)
        s.into(element, child)
    default = spec.at("default")
    if default is None:
        SubElement(element, "AlwaysFailure")
    else:
        s.into(element, default)


def _until_failure(s: ElementWriter, parent: Element, spec: NodeSpec) -> None:
    s.below(SubElement(SubElement(parent, "Inverter"), "KeepRunningUntilFailure"), spec, "child")


def _invert(s: ElementWriter, parent: Element, spec: NodeSpec) -> None:
    child = spec.children[0]
    if plain(child, "until_failure"):
        s.below(SubElement(parent, "KeepRunningUntilFailure"), child, "child")
    else:
        s.into(SubElement(parent, "Inverter"), child)


def _tested(s: ElementWriter, parent: Element, spec: NodeSpec) -> None:
    """Writes a test as an attribute of its node, or as a separate element where the order of tests would change."""
    holder = Element("holder")
    s.below(holder, spec, "child")
    child, otherwise, test = holder[-1], spec.values["else"], spec.values["if"]
    rank = {name: number for number, name in enumerate(_BEFORE.values())}
    name = _BEFORE.get(otherwise, "")
    later = all(rank[name] < rank[other] for other in set(child.keys()) & rank.keys()) if name else False
    writes = bool(set(child.keys()) & (set(SETS.values()) - {"_onHalted"})) and (
        otherwise != "skip" or id(spec) in s.after
    )
    if not later or writes or spec.name is not None or id(spec) in s.apart:
        child = Element("Precondition", {"if": s.code(test), "else": _ELSE[otherwise]})
        child.extend(holder)
        parent.append(child)
        return
    child.set(name, script.denied(test.text) if isinstance(test, Expression) else f"!{s.code(test)}")
    parent.extend(holder)


def _precondition(s: ElementWriter, parent: Element, spec: NodeSpec) -> None:
    otherwise, test = spec.values["else"], spec.at("if")
    if test is None:
        _tested(s, parent, spec)
    elif otherwise == "running" and plain(test, "check") and "expr" not in test.values:
        s.below(SubElement(parent, "WaitValueUpdate", entry=f"{{{test.values['updated']}}}"), spec, "child")
    elif otherwise == "running" and test.kind.family == "skill" and test.name is None:
        if s.sorts.setdefault(test.kind.name, "Decorator") != "Decorator":
            raise CannotSay(f"`{test.kind.name}` as a decorator and as a leaf")
        _skill(s, parent, test, decorates=True)
        s.below(parent[-1], spec, "child")
    elif otherwise in ("failure", "success"):
        element = SubElement(parent, "IfThenElse")
        s.into(element, test)
        s.below(element, spec, "child")
        SubElement(element, "AlwaysFailure" if otherwise == "failure" else "AlwaysSuccess")
    else:
        raise CannotSay(f"a node as its test, with `else: {otherwise}`")


def _force(s: ElementWriter, parent: Element, spec: NodeSpec) -> None:
    tag = "ForceSuccess" if spec.values["status"] == "success" else "ForceFailure"
    s.below(SubElement(parent, tag), spec, "child")


def _once(s: ElementWriter, parent: Element, spec: NodeSpec) -> None:
    s.below(
        SubElement(parent, "RunOnce", then_skip="true" if spec.values["then"] == "skip" else "false"), spec, "child"
    )


def _skip_unless(s: ElementWriter, parent: Element, spec: NodeSpec) -> None:
    s.below(SubElement(parent, "SkipUnlessUpdated", entry=f"{{{spec.values['updated']}}}"), spec, "child")


def _for_each(s: ElementWriter, parent: Element, spec: NodeSpec) -> None:
    items, item = spec.values.get("in"), spec.values["as"]
    given = {"if_empty": "SUCCESS", "value": f"{{{item}}}"}
    if is_entry(items):
        _queued(s, SubElement(parent, "Sequence"), spec, given)
        return
    if not isinstance(items, list) or not items or len(types := {type(each) for each in items}) != 1 \
            or not types <= _LOOPS.keys():  # fmt: skip
        raise CannotSay("LoopString and its like take an entry, or plain values of one type, said in the tree")
    texts = [attribute(each) for each in items]
    if any(";" in text or text != text.strip() or not text for text in texts):
        raise CannotSay("an item with a semicolon or blanks around it")
    s.below(SubElement(parent, _LOOPS[type(items[0])], {"queue": ";".join(texts)} | given), spec, "child")


def _queued(s: ElementWriter, parent: Element, spec: NodeSpec, given: dict[str, str]) -> None:
    """Writes a loop over the list in an entry: an action copies it, because the loop there uses up its queue."""
    declared = s.tree.ports.get(spec.values["as"])
    if declared is not None and declared.type not in ("any", "string"):
        raise CannotSay(f"a list in an entry holds texts there, and `{declared.name}` takes {an(declared.type)}")
    if spec.values["empty"] != "success":
        raise CannotSay("`empty` is its result after the last item as well there")
    queue = {"queue": f"{{{s.unused(spec.values['as'] + '_queue')}}}"}
    s.models[TO_QUEUE.id] = TO_QUEUE
    SubElement(parent, TO_QUEUE.id, {"list": s.port(spec.values["in"]), **queue})
    s.below(SubElement(parent, "LoopString", queue | given), spec, "child")


def _rate(s: ElementWriter, parent: Element, spec: NodeSpec) -> None:
    if spec.values["else"] != "running":
        raise CannotSay("RateController is RUNNING in between: `else: running`")
    s.known("RateController", spec.kind, {"hz": "hz"})
    s.below(SubElement(parent, "RateController", hz=s.port(spec.values["hz"])), spec, "child")


def _try(s: ElementWriter, parent: Element, spec: NodeSpec) -> None:
    do, catch = spec.at("do"), spec.at("catch")
    if do is None or catch is None or not plain(catch, "force") or catch.values["status"] != "failure" \
            or spec.at("finally") or spec.values["on"] == "exception":  # fmt: skip
        raise CannotSay("TryCatch fails after its catch: `catch: {force: {status: failure, …}}`, without `finally`")
    element = SubElement(parent, "TryCatch", {"catch_on_halt": "true"} if spec.values["on"] == "any" else {})
    if plain(do, "sequence") and not do.values.get("yield"):
        s.below(element, do, "children")
    else:
        s.into(element, do)
    s.into(element, catch.children[0])


# Leaves -----------------------------------------------------------------------------------------


def _check(s: ElementWriter, parent: Element, spec: NodeSpec) -> None:
    if "updated" in spec.values and "expr" in spec.values:
        raise CannotSay("`expr` and `updated` in one")
    if "updated" in spec.values:
        SubElement(parent, "WasEntryUpdated", entry=f"{{{spec.values['updated']}}}")
    else:
        SubElement(parent, "ScriptCondition", code=s.code(spec.values["expr"]))


def _fail(s: ElementWriter, parent: Element, spec: NodeSpec) -> None:
    """Writes why it fails as the element's name; of a node with a name of its own as a description."""
    why = spec.values.get("why") or ""
    text = why.text if isinstance(why, Computed) else str(why)
    element = SubElement(parent, "AlwaysFailure")
    if text:
        element.set("name" if spec.name is None else "_description", text)


def _log(s: ElementWriter, parent: Element, spec: NodeSpec) -> None:
    """Writes an action `Log`, which the program there registers; a text with holes in it stays as it is written."""
    text = spec.values["text"]
    s.known("Log", spec.kind, {"text": "text", "level": "level"})
    given = {"text": text.text if isinstance(text, Computed) else attribute(text)}
    given |= {"level": level} if (level := spec.values.get("level", "info")) != "info" else {}
    SubElement(parent, "Log", given)


def _unset(s: ElementWriter, parent: Element, spec: NodeSpec) -> None:
    SubElement(parent, "UnsetBlackboard", key=spec.values["entry"])


def _set(s: ElementWriter, parent: Element, spec: NodeSpec) -> None:
    SubElement(parent, "Script", code=s.assigned(spec.values["values"]))


def _tree(s: ElementWriter, parent: Element, spec: NodeSpec) -> None:
    target = spec.subtree or spec.again
    assert target is not None
    element = SubElement(parent, "SubTree", ID=tree_id(target))
    for name, value in (spec.values.get("with") or {}).items():
        element.set(name, s.port(value))
    if spec.values.get("autoremap"):
        element.set("_autoremap", "true")


def _skill(s: ElementWriter, parent: Element, spec: NodeSpec, decorates: bool = False) -> None:
    if not decorates and s.sorts.get(spec.kind.name) == "Decorator":
        raise CannotSay("it is a decorator elsewhere in this tree")
    id = s.ids.get(spec.kind.name)
    element = SubElement(parent, spec.kind.name) if id is None else SubElement(parent, "Action", ID=id)
    for field in spec.kind.fields:
        value = spec.values.get(field.name)
        if value is None or (not field.writes and not isinstance(value, Computed) and value == field.default):
            continue
        both = field.name.removesuffix("_out")
        name = both if field.writes and any(f.name == both and not f.writes for f in spec.kind.fields) else field.name
        said = s.port(value)
        if element.get(name, said) != said:
            raise CannotSay(f"`{name}` and `{field.name}` name two entries: there it is one port")
        element.set(name, said)


NODE_WRITERS: dict[str, NodeWriter] = {
    "parallel": _parallel, "if": _branches("IfThenElse", "then"),
    "while": _branches("WhileDoElse", "do"), "switch": _switch, "until_failure": _until_failure, "invert": _invert,
    "precondition": _precondition, "force": _force, "once": _once, "skip_unless": _skip_unless, "for_each": _for_each,
    "fail": _fail, "log": _log, "rate": _rate, "try": _try, "check": _check, "set": _set, "tree": _tree,
    "unset": _unset, ANY_SKILL: _skill,
}  # fmt: skip
