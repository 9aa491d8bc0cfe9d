"""Translates each node of BehaviorTree.CPP and Nav2; docs/btcpp.md lists the rules as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from bt_robots.btcpp.model import entry_of, guessed
from bt_robots.btcpp.script import Said, quoted
from bt_robots.btcpp.source_element import Given
from bt_robots.imports.report import CannotSay
from bt_robots.imports.yaml import Step
from bt_runtime.types import Json

Rule = Callable[[Given, list[Step]], Step]


class Listed(NamedTuple):
    """Translates a control node with any number of children."""

    kind: str
    fields: Mapping[str, Json] = {}
    note: str = ""


LISTS: dict[str, Listed] = {
    "Sequence": Listed("sequence"),
    "Fallback": Listed("fallback"),
    "AsyncSequence": Listed("sequence", {"yield": True}),
    "AsyncFallback": Listed("fallback", {"yield": True}),
    "ReactiveSequence": Listed("reactive_sequence"),
    "ReactiveFallback": Listed("reactive_fallback"),
    "SequenceWithMemory": Listed("sequence_with_memory", {}, "goes on to the next child within the tick"),
    "PipelineSequence": Listed("pipeline"),
    "RoundRobin": Listed("round_robin"),
    "NonblockingSequence": Listed("parallel", {}, "taken for a parallel of all its children"),
}
OLD = {
    "SequenceStar": "SequenceWithMemory", "RetryUntilSuccesful": "RetryUntilSuccessful", "SubTreePlus": "SubTree",
    "Selector": "Fallback", "FallbackStar": "Fallback", "ParallelNode": "Parallel",
}  # fmt: skip
GATES = {"GoalUpdater", "PathLongerOnApproach", "SingleTrigger"}  # Nav2's decorators that are no plain gates
LATER = "again at the next tick, one round a tick"


STATUSES = {"FAILURE": "failure", "SUCCESS": "success", "SKIPPED": "skip", "RUNNING": "running"}


def status(text: str, port: str) -> str:
    if text.strip().upper() not in STATUSES:
        raise CannotSay(f"`{port}`: `{text:.40}` is no status")
    return STATUSES[text.strip().upper()]


def one(below: list[Step]) -> Step:
    if len(below) != 1:
        raise CannotSay(f"it has {len(below)} children, and takes one")
    return below[0]


def alone(kind: str, **fields: Json) -> Rule:
    """Translates a decorator without ports."""
    return lambda given, below: Step(kind, {**fields, "child": one(below)}, "" if fields else "child")


def counted(port: str, kind: str) -> Rule:
    def rule(given: Given, below: list[Step]) -> Step:
        times = given.number(given.take(port, default="1"), port)
        given.notes.append(LATER)
        return Step(kind, {"times": "{0}" if times == 0 else times, "child": one(below)})

    return rule


def timed(port: str, kind: str, default: str = "0") -> Rule:
    return lambda given, below: Step(
        kind, {"seconds": given.number(given.take(port, default=default), port, 1000), "child": one(below)}
    )


def parallel(given: Given, below: list[Step]) -> Step:
    fields: dict[str, Json] = {}
    success = given.number(given.take("success_count", "success_threshold", "threshold", default="-1"), "success_count")
    failure = given.number(given.take("failure_count", "failure_threshold", default="1"), "failure_count")
    fields |= {"success": success} if success != -1 else {}
    fields |= {"failure": failure} if failure != 1 else {}
    return Step("parallel", {**fields, "children": below}, "children")


def parallel_all(given: Given, below: list[Step]) -> Step:
    most = given.number(given.take("max_failures", default="1"), "max_failures")
    if not isinstance(most, int) or not 1 <= most <= len(below):
        raise CannotSay("`max_failures` is read here when the tree is written: a number from 1 to the children")
    return Step("parallel", {"success": len(below) - most + 1, "failure": -1, "wait_all": True, "children": below}, "")


def test_of(step: Step) -> Step | str:
    """Returns a node as a test; a node that is only a check becomes its expression."""
    plain = step.kind == "check" and list(step.fields) == ["expr"] and not step.comments
    return str(step.fields["expr"]) if plain else step


def branches(kind: str, first: str) -> Rule:
    def rule(given: Given, below: list[Step]) -> Step:
        if len(below) not in (2, 3):
            raise CannotSay(f"it has {len(below)} children, and takes 2 or 3")
        return Step(kind, {"check": test_of(below[0]), **dict(zip((first, "else"), below[1:], strict=False))})

    return rule


def switch(count: int) -> Rule:
    def rule(given: Given, below: list[Step]) -> Step:
        said = given.take("variable")
        on = given.read(said, "variable") if entry_of(said) else given.text(Said(quoted(said)))
        cases = [given.take(f"case_{number}") for number in range(1, count + 1)]
        if len(below) != count + 1 or len(set(cases)) != count or any(entry_of(case) for case in cases):
            raise CannotSay(f"it takes {count} different cases that are plain values, and {count + 1} children")
        named = [f"{given.enums[case]:g}" if case in given.enums else case for case in cases]
        return Step("switch", {"on": on, "cases": dict(zip(named, below, strict=False)), "default": below[-1]})

    return rule


def try_catch(given: Given, below: list[Step]) -> Step:
    if len(below) < 2:
        raise CannotSay("it takes two children or more")
    halts = given.take("catch_on_halt", default="false").lower() in ("true", "1")
    do = below[0] if len(below) == 2 else Step("sequence", {"children": below[:-1]}, "children")
    caught = Step("force", {"status": "failure", "child": below[-1]})
    return Step("try", {"do": do, "catch": caught, **({"on": "any"} if halts else {})})


def precondition(given: Given, below: list[Step]) -> Step:
    otherwise = status(given.take("else", default="FAILURE"), "else")
    return guarded(given.text(given.asked(given.take("if"))), otherwise, one(below))


def guarded(test: str | Step, otherwise: str, child: Step) -> Step:
    more = {} if otherwise == "failure" else {"else": otherwise}
    return Step("precondition", {"if": test, **more, "child": child})


def until_failure(given: Given, below: list[Step]) -> Step:
    return Step("invert", {"child": Step("until_failure", {"child": one(below)}, "child")}, "child")


def run_once(given: Given, below: list[Step]) -> Step:
    skips = given.take("then_skip", default="true").lower() in ("true", "1")
    return Step("once", {**({"then": "skip"} if skips else {}), "child": one(below)}, "child")


def updated(given: Given, below: list[Step]) -> Step:
    return Step("skip_unless", {"updated": given.read(given.take("entry"), "entry"), "child": one(below)})


def awaits(given: Given, below: list[Step]) -> Step:
    check = Step("check", {"updated": given.read(given.take("entry"), "entry")})
    return guarded(check, "running", one(below))


def loop(given: Given, below: list[Step]) -> Step:
    queue, value = given.take("queue", default="{queue}"), given.write(given.take("value", default="{value}"), "value")
    empty = status(given.take("if_empty", default="SUCCESS"), "if_empty")
    if entry_of(queue, "queue"):
        items: dict[str, Json] = {"from": given.read(queue, "queue")}
    else:
        items = {"in": [guessed(part) for part in queue.split(";") if part.strip()]}
    step = Step("for_each", {**items, "as": value, "child": one(below)})
    if empty == "success":
        return step
    if empty == "failure":  # its result after the last item as well
        return Step("force", {"status": "failure", "child": step})
    step.fields["empty"] = empty
    given.notes.append("SUCCESS after the last item, where `if_empty` is its result there as well")
    return step


def recovery(given: Given, below: list[Step]) -> Step:
    if len(below) != 2:
        raise CannotSay(f"it has {len(below)} children, and takes two")
    times = given.number(given.take("number_of_retries", default="1"), "number_of_retries")
    return Step("recovery", {**({"times": times} if times != 1 else {}), "do": below[0], "recover": below[1]})


def rate(given: Given, below: list[Step]) -> Step:
    hertz = given.number(given.take("hz", default="10"), "hz")
    return Step("rate", {"hz": hertz, "else": "running", "child": one(below)})


def compared(given: Given, below: list[Step]) -> Step:
    """Translates version 3's BlackboardCheckInt and its relatives."""
    sides = [given.take(name) for name in ("value_A", "value_B")]
    left, right = (given.read(s) if entry_of(s) else given.text(Said(_word(s))) for s in sides)
    otherwise = status(given.take("return_on_mismatch", default="FAILURE"), "return_on_mismatch")
    return guarded(given.text(Said(f"{left} == {right}")), otherwise, one(below))


def _word(text: str) -> str:
    return quoted(text) if isinstance(guessed(text), str) else text.strip()


def persistent(given: Given, below: list[Step]) -> Step:
    """Nav2's sequence that stores its position in an entry: it resumes there after a halt, and restarts after a
    failure."""
    said = given.take("current_child_idx")
    if entry_of(said) is None or not below:
        raise CannotSay("`current_child_idx` names the entry that holds its place")
    place = given.read(said)
    given.write(said)
    given.notes.append("a child that was skipped is asked again after a halt")
    children = []
    for number, child in enumerate(below):
        step = guarded(f"{place} <= {number}", "skip", child)
        step.fields |= {"on_success": {place: number + 1}, "on_failure": {place: 0}}
        children.append(step)
    return Step("sequence", {"children": [*children, Step("set", {"values": {place: 0}}, "values")]}, "children")


class Chooser(NamedTuple):
    """A control node that asks a plugin which child to tick: here a skill, whose output a `switch` reads."""

    output: str
    cases: tuple[str, ...]  # of its children; none: their numbers, from 0
    ask: str  # the list of the skill and the `switch`
    note: str


CHOOSERS = {
    "PauseResumeController": Chooser(
        "state", ("RESUMED", "PAUSED", "ON_PAUSE", "ON_RESUME"), "reactive_sequence",
        "the skill tells the state at each tick: RESUMED, PAUSED, ON_PAUSE or ON_RESUME",
    ),
    "ManualSelector": Chooser("choice", (), "sequence", "the skill asks a person for the number of a child, from 0"),
}  # fmt: skip


def chosen(given: Given, skill: Step, below: list[Step]) -> Step:
    chooser = CHOOSERS[given.tag]
    cases = chooser.cases or tuple(map(str, range(len(below))))
    if len(below) > len(cases):
        raise CannotSay(f"it has {len(below)} children, and takes {len(cases)}")
    given.notes.append(chooser.note)
    entry = given.write(f"{given.tag}_{chooser.output}")
    given.reads.add(entry)
    skill.fields[chooser.output] = f"{{{entry}}}"
    if chooser.cases:  # what is not RESUMED goes on until the state is another
        below = [below[0], *(Step("repeat", {"times": -1, "child": child}) for child in below[1:])]
    default = Step("repeat", {"times": -1, "child": Step("succeed")}) if chooser.cases else Step("fail")
    switch = Step("switch", {"on": entry, "cases": dict(zip(cases, below, strict=False)), "default": default})
    return Step(chooser.ask, {"children": [skill, switch]}, "children")


# Leaves -----------------------------------------------------------------------------------------


def leaf(kind: str) -> Rule:
    return lambda given, below: Step(kind)


def scripted(given: Given, below: list[Step]) -> Step:
    sets, value = given.sets(given.take("code"))
    if value is not None:
        given.notes.append(f"`{value.text:.60}` at its end writes nothing, and is left out")
    return Step("set", {"values": sets}, "values") if sets else Step("succeed")


def script_condition(given: Given, below: list[Step]) -> Step:
    sets, value = given.sets(given.take("code"))
    if value is None:
        raise CannotSay("a test that ends with an assignment")
    check = Step("check", {"expr": given.text(value)}, "expr")
    return (
        Step("sequence", {"children": [Step("set", {"values": sets}, "values"), check]}, "children") if sets else check
    )


def set_blackboard(given: Given, below: list[Step]) -> Step:
    said, key = given.take("value"), given.write(given.take("output_key"), "output_key")
    if entry_of(said):
        return Step("set", {"values": {key: f"{{{given.read(said)}}}"}}, "values")
    value = guessed(said)
    plain = value.replace("{", "{{").replace("}", "}}") if isinstance(value, str) else value
    if value != said:
        given.notes.append("a text there until it is read; a value of what it looks like here")
    return Step("set", {"values": {key: plain}}, "values")


def unset(given: Given, below: list[Step]) -> Step:
    return Step("unset", {"entry": given.write(given.take("key"), "key")}, "entry")


def sleep(given: Given, below: list[Step]) -> Step:
    return Step("wait", {"seconds": given.number(given.take("msec", default="0"), "msec", 1000)}, "seconds")


def was_updated(given: Given, below: list[Step]) -> Step:
    return Step("check", {"updated": given.read(given.take("entry"), "entry")})


RULES: dict[str, Rule] = {
    "Parallel": parallel, "ParallelAll": parallel_all, "IfThenElse": branches("if", "then"),
    "WhileDoElse": branches("while", "do"), "TryCatch": try_catch, "RecoveryNode": recovery,
    "PersistentSequence": persistent,
    **{f"Switch{count}": switch(count) for count in range(2, 7)},
    "Inverter": alone("invert"), "ForceSuccess": alone("force", status="success"),
    "ForceFailure": alone("force", status="failure"), "KeepRunningUntilFailure": until_failure,
    "RetryUntilSuccessful": counted("num_attempts", "retry"), "Repeat": counted("num_cycles", "repeat"),
    "Timeout": timed("msec", "timeout"), "Delay": timed("delay_msec", "delay"), "RunOnce": run_once,
    "Precondition": precondition, "SkipUnlessUpdated": updated, "WaitValueUpdate": awaits,
    **{f"Loop{sort}": loop for sort in ("Int", "Double", "Bool", "String")}, "RateController": rate,
    **{f"BlackboardCheck{sort}": compared for sort in ("Int", "Double", "Bool", "String")},
}  # fmt: skip
LEAVES: dict[str, Rule] = {
    "AlwaysSuccess": leaf("succeed"), "AlwaysFailure": leaf("fail"), "Script": scripted,
    "ScriptCondition": script_condition, "SetBlackboard": set_blackboard, "UnsetBlackboard": unset, "Sleep": sleep,
    "WasEntryUpdated": was_updated,
}  # fmt: skip
