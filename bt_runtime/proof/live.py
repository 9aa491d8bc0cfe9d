"""The present of a run as a state of a model: what its nodes and entries are now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from bt_runtime.proof.model.chooser import Chooser, If, Recovery, Try
from bt_runtime.proof.model.control import InOrder, Parallel, Pipeline, Reactive, RoundRobin
from bt_runtime.proof.model.decorators import Counted, Delay, ForEach, Grown, Once, Rate, Timeout
from bt_runtime.proof.model.leaves import Subtree, Wait
from bt_runtime.proof.model.model import Model
from bt_runtime.proof.model.node import ModelNode
from bt_runtime.proof.model.skill import Skill
from bt_runtime.proof.model.tick import RUN, UNKNOWN, UNSET, State, Tick
from bt_runtime.tree.blackboard import Blackboard, Scope
from bt_runtime.tree.node import FAILURE, INVALID, RUNNING, SUCCESS

STATUS: dict[Any, int] = {INVALID: 0, RUNNING: 1, SUCCESS: 2, FAILURE: 3}


def state_of(
    model: Model, live: Mapping[ModelNode, Any], board: Blackboard, top: Scope, now: float, above: str = "",
    halted: Sequence[ModelNode] = (), since: Sequence[tuple[bool, float | None]] = (), way: Sequence[Any] = (),
    still: Mapping[str, int] = {},
) -> State:  # fmt: skip
    """`live` pairs the model's nodes with those of the run; `top` is the scope of the tree that the model is of, and
    `above` what its paths begin with in the run. `halted` are nodes that are halted first. `since`: for each clock of a
    property, whether it has been looked at before, and since when it runs. `way`: the live nodes from the root down to
    the one that is ticked now; their statuses are still those of the tick before. `still`: what nodes outside the model
    show."""
    t = Tick(model, model.first())
    t.s = [0] * model.slots
    t.urgent = True
    for (path, name), slot in model.places.items():
        scope = top if not path else board.scopes.get(f"{above}{path}")
        there = scope is not None and name in scope
        if slot in model.outside:
            t.s[slot] = UNKNOWN if there else UNSET
            continue
        value = scope[name] if scope is not None and there else None
        t.s[slot] = UNSET if not there else model.number(value) if model.kept[slot] else UNKNOWN
    for name, slot in model.still.items():
        t.s[slot] = still.get(name, 0)
    for node, behaviour in live.items():
        _load(t, node, behaviour, now, RUN if behaviour in way else STATUS.get(behaviour.status, 0))
    for above, below in pairwise(way):
        for node in (each for each, behaviour in live.items() if behaviour is above):
            _pass_turn(t, node, _place(above, below))
    for node in nodes_of(model):
        mark = getattr(node, "mark", 0)
        scope = top if not node.scope.path else board.scopes.get(f"{above}{node.scope.path}")
        if mark and scope is not None:
            t.s[mark] = int(scope.stamp(str(node.spec.values["updated"])) > getattr(live.get(node), "seen", 0))
    for node in halted:
        node.halt(t)
    for clock, (begun, began) in zip(model.clocks, since, strict=False):
        t.s[clock.over] = int(begun)
        if began is not None:
            t.s[clock.runs] = 1
            t.start(clock.clock, max(0.001, clock.seconds - (now - began)))
    return t.state()


def nodes_of(model: Model) -> list[ModelNode]:
    found = [model.root]
    for node in found:
        found += node.children
    return found


def _pass_turn(t: Tick, node: ModelNode, place: int) -> None:
    """Gives the turn to a child at this place: another one that had it will be halted in this tick."""
    s = t.s
    match node:
        case Reactive() | Chooser():
            slot = node.runner if isinstance(node, Reactive) else node.active
            if isinstance(node, Grown):
                place = 1
            if s[slot] not in (0, place):
                node.children[s[slot] - 1].halt(t)
            s[slot] = place
        case Pipeline():
            s[node.reached] = max(s[node.reached], place - 1)


def _load(t: Tick, node: ModelNode, live: Any, now: float, status: int) -> None:
    s = t.s
    s[node.i] = status if node.shown or status == RUN else 0
    match node:
        case InOrder():
            s[node.at], s[node.passed] = _merged(node, live.at), int(live.passed) if status == RUN or node.keeps else 0
        case Reactive():
            s[node.runner] = _place(live, live.runner)
        case Parallel() if status == RUN:
            s[node.success], s[node.failure] = live.success, live.failure
            for child, slot in zip(live.children, node.results, strict=False):
                if child in live.results:
                    s[slot] = STATUS[live.results[child]] + 1
        case Pipeline() if status == RUN:
            s[node.reached] = live.reached
        case RoundRobin():
            s[node.at] = live.at
            if status == RUN:
                s[node.tried], s[node.failed] = live.tried, int(live.failed)
        case Skill():
            if node.holds_it:
                s[node.holds_it] = int(getattr(live, "hold", None) is not None)
        case Wait() if status == RUN and node.clock:
            t.start(node.clock, max(0.001, live.until - now))
            t.wake(node.clock)
        case Chooser():
            _chooser(t, node, live, now, status)


def _chooser(t: Tick, node: Chooser, live: Any, now: float, status: int) -> None:
    s = t.s
    s[node.active] = _place(live, getattr(live, "active", None))
    match node:
        case If() if status == RUN:
            s[node.taken] = {"then": 1, "else": 2}.get(live.taken, 0)
        case Try() if status == RUN:
            s[node.at] = {"do": 0, "catch": 1, "finally": 2}[live.at]
            s[node.result] = STATUS.get(live.result, 0)
        case Recovery() if status == RUN:
            s[node.recovering], s[node.times] = int(live.recovering), live.times
            s[node.recovered] = live.recovered if live.times >= 0 else 0
        case Counted() if status == RUN:
            s[node.count], s[node.times] = live.count if live.times >= 0 else 0, live.times
        case ForEach() if status == RUN:
            s[node.items] = t.model.number(tuple(live.items))
            s[node.due], s[node.passed] = int(live.due), int(live.passed)
        case Once():
            s[node.result] = STATUS.get(live.result, 0) if live.result is not None else 0
        case Subtree() if node.grows and live.children:
            s[node.grown] = 2
        case Timeout() if status == RUN:
            t.start(node.clock, max(0.001, live.deadline - now))
            t.wake(node.clock)
        case Delay() if status == RUN and live.begins > now:
            t.start(node.clock, live.begins - now)
            t.wake(node.clock)
        case Rate():
            s[node.last] = STATUS.get(live.last, 0)
            if now < live.due < now + 1e9:
                t.start(node.clock, live.due - now)


def _merged(node: ModelNode, at: int) -> int:
    """The place of a live child among the model's children, of which one may stand for several."""
    for place, child in enumerate(node.children):
        at -= getattr(child, "merged", 1)
        if at < 0:
            return place
    return len(node.children)


def _place(live: Any, child: Any) -> int:
    """The place of a child, from 1; 0 for none."""
    return next((at for at, each in enumerate(live.children, 1) if each is child), 0)
