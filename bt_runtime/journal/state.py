"""The state of a run in its journal, kept now and then: a resumed run begins there, and plays only what came after.

A state is plain data: nodes by their number, scopes by their path, running skills by their job. Its classes come from a
closed list, because a journal may come from anywhere. What has no such form is not kept: nodes that were grafted, nodes
of py_trees, an agent at work, a person who is asked, an object on the blackboard, a world that is no robot's own. Then
the next state that has one is kept; without any, a resumed run is played from its start."""

from __future__ import annotations

import zlib
from collections import deque
from functools import partial
from itertools import starmap
from typing import TYPE_CHECKING, Any, Protocol, cast

from bt_runtime.events import Crash
from bt_runtime.journal.action import TapedActivity, TapedInstant
from bt_runtime.journal.order import STATE
from bt_runtime.journal.state_values import TAG, StatePlaces, Unkeepable, full_form, kept_form
from bt_runtime.language import ports
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.skills.activity import Activity
from bt_runtime.tree.action import Action
from bt_runtime.tree.budget import Spending
from bt_runtime.tree.gates import Gate
from bt_runtime.tree.node import RUNNING, Node
from bt_runtime.tree.nodes.instant import InstantNode
from bt_runtime.tree.nodes.interlocks import AsksPerson, Locked, Noticed, Required, lock
from bt_runtime.tree.nodes.skill import SkillNode, acting
from bt_runtime.tree.nodes.subtree import Subtree
from bt_runtime.tree.state import StateForm, TreeShape, declared, put, values_of
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.events import Tick
    from bt_runtime.journal.recordable import Recordable
    from bt_runtime.journal.tape import Tape
    from bt_runtime.journal.taped import TapedClock
    from bt_runtime.journal.writer import Writer
    from bt_runtime.language.entry import SkillEntry

VERSION = 1
BYTES = 2**19  # noted since the last one, before another is kept
TIMES = 8  # … and so many times its own size
NODES = 4_000  # nodes of a tree; keeping states of larger ones would hold up a tick
_SPENT = declared(Spending, "STATE")
_ASIDE: dict[type[Node], frozenset[str]] = {
    SkillNode: frozenset({"activity", "target"}),  # the activity is kept by its job; the target is found anew
    Subtree: frozenset({"tree"}),  # unchanged while its nodes are
}


class Recorded(Protocol):
    """What records the run: a gate of it."""

    run: Recordable
    tape: Tape
    clock: TapedClock
    changed: bool

    def known(self, action: Action) -> SkillEntry | None: ...
    def begin_at(self, tick: int) -> None: ...


class UnfitState(Exception):
    """Raised where a kept state does not fit the run: it is played from its start."""


# Nodes -----------------------------------------------------------------------------------------


def _likeness(shape: TreeShape) -> int:
    """Returns a number that trees of the same nodes share."""
    told = [(segment, type(node).__qualname__, len(node.children), getattr(node, "seen_as", 0))
            for node, segment in zip(shape.nodes, shape.segments, strict=True)]  # fmt: skip
    forms = sorted({(type(node).__qualname__, form.names) for node, form in shape.ours})
    return zlib.crc32(repr((told, forms)).encode("utf-8", "backslashreplace"))


def says_its_state(cls: type) -> bool:
    """True unless one of its classes came from elsewhere and declares nothing: what it keeps is then unknown."""
    for each in cls.__mro__[: cls.__mro__.index(Node)]:
        if not each.__module__.partition(".")[0].startswith("bt_") and not vars(each).keys() & {"STATE", "ROUND"}:
            return False
    return True


def _names(node: Node, form: StateForm, running: bool) -> list[str]:
    """What is kept of a node: what the next start sets anew only while it runs."""
    names = form.names if running else form.names[: form.round]
    aside = next((left for cls, left in _ASIDE.items() if isinstance(node, cls)), ())
    return [name for name in names if name not in aside]


# Running skills --------------------------------------------------------------------------------


_AROUND: dict[type, str] = {Noticed: "noticed", Required: "required", Locked: "locked"}


def _activity(activity: Activity, at: StatePlaces) -> Json:
    """Returns what stands before a running skill, from the outside, and what the tape knows of it."""
    around, here = [], activity
    while not isinstance(here, TapedActivity):
        if isinstance(here, AsksPerson) and not here.pending:  # once answered it only passes calls on
            here = here.inner
            continue
        if type(here) not in _AROUND:
            raise Unkeepable(type(here).__qualname__)
        around.append(_AROUND[type(here)])
        if isinstance(here, Locked) and here.pending:
            raise Unkeepable("a skill that waits for a lock")
        here = here.inner  # type: ignore[attr-defined]
    if here.dead or here.end is not None or not here.lasting or here.gone:
        raise Unkeepable("a skill that ends")
    found = {name: getattr(here, name) for name in ("number", "sentence", "before", "wakes", "lingers", "in_thread")}
    return {**found, "around": around, "params": kept_form(here.params, at)}


def _taken_up(node: SkillNode, kept: dict[str, Json], tape: Any, recorder: Recorded, at: StatePlaces) -> None:
    """Puts a skill back that was at work: as a run that is made again has it until its end is read or in doubt."""
    context, target = node.context, node.find()
    action = Action(context, target, node.entry, node, str(kept["sentence"]), node.fill)
    action.params = full_form(kept["params"], at)
    if node.acts(target):
        start = partial(acting, action)
    else:
        form = node.form = node.form or node.form_of(target)
        start = partial(node.formed, form, action)
    gates = context.gates.starts
    for gate in reversed(gates[gates.index(cast(Gate, recorder)) + 1 :]):
        start = partial(gate.start, action, start)
    here: Activity = TapedActivity.again(tape, start, action, recorder.known(action), kept)
    for name in reversed(kept["around"]):
        if name == "noticed":
            here = Noticed(action, here)
        elif name == "required":
            here = Required(action, node.entry, here)
        else:
            here = _locked(action, start, here)
    node.activity = here


def _locked(action: Action, start: Any, inner: Activity) -> Locked:
    locked = lock(action, start)
    if not isinstance(locked, Locked):
        raise UnfitState("its skills lock other things")
    locked.inner = inner
    locked.hold = action.context.resources.take(locked.uses, action.sentence) if locked.uses else None
    return locked


# Taking ----------------------------------------------------------------------------------------


class StateKeeper:
    """Keeps the states of one run. `look` is called after each tick that goes on."""

    def __init__(self, recorder: Recorded) -> None:
        self.recorder, self.run, self.tape = recorder, recorder.run, recorder.tape
        self.shape = TreeShape(self.run.engine.root)
        self.at = StatePlaces(self.shape.nodes, self.shape.numbers, self.run.context.blackboard.scopes)
        self.next = BYTES  # noted bytes after which a state is kept
        self.off = self._never()
        self.like = 0 if self.off else _likeness(self.shape)
        self.aside: Json = None
        if not self.off:
            try:
                self.aside = self._aside()
            except Unkeepable as what:
                self.off = str(what)

    def _never(self) -> str:
        """Why no state of this run is kept; "" where one may be."""
        run, services, spec = self.run, self.run.context.services, self.run.tree.spec
        if len(self.shape.nodes) > NODES:
            return "its tree is too large"
        if self.shape.foreign or not all(says_its_state(type(node)) for node, _ in self.shape.ours):
            return "what some of its nodes keep is unknown"
        if spec.watched or spec.policies or spec.shared or services.policy is not None:
            return "it is watched by rules"
        if run.resources.notebook is not None:
            return "its experiences are remembered"
        if services.world is not None and not getattr(services.world, "lasting", False):
            return "its world is led through what was done"
        return ""

    def _aside(self) -> Json:
        """What rooms above keep with the run, and what no state tells: it must be as it was at the beginning."""
        services = self.run.context.services
        found = [each for each in (services.memory, *services.parts.values()) if each is not None]
        values = [v for each in found for v in values_of(each, _state_of(each))]
        return [kept_form(v, self.at) for v in values if not _state_of(v)]

    def look(self, tick: Tick, writer: Writer) -> None:
        """Keeps the present state, if it has a form: enough was noted since the last one."""
        if self.off or not self.tape.goes_on or writer.broken:
            return
        engine, board = self.run.engine, self.run.context.blackboard
        # whoever changes the run from outside notes it after the change: none may come between
        with engine.lock, engine.inbox._lock, board._lock:
            try:
                body = self._state(tick)
            except Unkeepable:
                self.next = writer.noted + BYTES // TIMES
                return
            writer.event(engine.count, STATE, lambda: body)
        self.next = writer.noted + max(BYTES, TIMES * _size(body))

    def _state(self, tick: Tick) -> dict[str, Json]:
        run, at = self.run, self.at
        engine, context, services = run.engine, run.context, run.context.services
        standing = (engine.held or engine.over or engine.wanted_halt or context.requests or context.ticking
                    or engine.count != tick.number or engine.status is not RUNNING or engine._untold
                    or context.blackboard._inbox)  # fmt: skip
        if standing or not self.shape.stands(engine.root) or self._aside() != self.aside:
            raise Unkeepable("it is changing")
        if self.recorder.changed or any(hold.activity is not None for hold in context.resources._holds.values()):
            raise Unkeepable("it is changed from outside")
        board, nodes, acts, instants = context.blackboard, [], {}, {}
        for node, form in self.shape.ours:
            running = node.status is RUNNING
            nodes.append([kept_form(value, at) for value in values_of(node, tuple(_names(node, form, running)))])
            if isinstance(node, SkillNode):
                said = node._sentence
                if running and node.activity is not None:
                    acts[str(at.numbers[node])] = {**_activity(node.activity, at), "said": said}
                elif said:
                    acts[str(at.numbers[node])] = {"said": said}
                if isinstance(node, InstantNode) and node.behind is not None:
                    made: Any = node.behind.made.get(cast(Gate, self.recorder))
                    instants[str(at.numbers[node])] = _instant(made)
        scopes = {
            path: [kept_form(dict(scope.entries), at), dict(scope.stamps)] for path, scope in board.scopes.items()
        }
        spent = services.spent
        return {
            "v": VERSION, "like": self.like, "count": engine.count, "nodes": nodes, "acts": acts,
            "instants": instants, "scopes": scopes,
            "board": [board.sequence, board.begun, list(board._begins), board.stirred],
            "crashes": [context.crash_count, engine._crashes_seen, [list(crash) for crash in context.crashes]],
            "starts": kept_form(services.starts, at), "last": engine.shape.counted().last, "jobs": self.tape.number,
            "spent": None if spent is None else [kept_form(v, at) for v in values_of(spent, _SPENT)],
            "time": self.recorder.clock.time,
        }  # fmt: skip


def _state_of(value: object) -> tuple[str, ...]:
    return declared(type(value), "STATE")  # type: ignore[arg-type]


def _instant(taped: TapedInstant | None) -> Json:
    """Returns an instant skill's job, and what it has answered last; nothing before its first call."""
    if taped is None:
        return {}
    return {"number": taped.number, **({"value": taped.kept} if taped.has_answered else {})}


def _size(body: Json) -> int:
    """Returns how long a body is as text, roughly."""
    if isinstance(body, dict):
        return sum(len(name) + 4 + _size(each) for name, each in body.items())
    if isinstance(body, list):
        return 2 + sum(map(_size, body))
    return len(body) + 3 if isinstance(body, str) else 8


# Putting back ----------------------------------------------------------------------------------


def put_back(recorder: Recorded, body: dict[str, Json]) -> None:
    """Brings a run that was just made to a kept state. Raises UnfitState where the state is not one of this tree."""
    run, tape = recorder.run, recorder.tape
    engine, context = run.engine, run.context
    with engine.lock:
        tape.broken = True  # messages of the set-up are in the journal already
        try:
            engine.setup()
        finally:
            tape.broken = False
        shape = TreeShape(engine.root)
        if body.get("v") != VERSION or body.get("like") != _likeness(shape):
            raise UnfitState("it is of another tree")
        at = StatePlaces(shape.nodes, shape.numbers, context.blackboard.scopes)
        try:
            _put_back(recorder, shape, at, body)
        except (KeyError, ValueError, TypeError, IndexError, AttributeError, OverflowError, BtError) as error:
            raise UnfitState(f"it cannot be put back: {type(error).__name__}: {error}") from error
        recorder.begin_at(engine.count)
        engine._starts()


def _put_back(recorder: Recorded, shape: TreeShape, at: StatePlaces, body: dict[str, Json]) -> None:
    run, tape = recorder.run, recorder.tape
    engine, context, services = run.engine, run.context, run.context.services
    _put_board(context.blackboard, at, body)
    for number, kept in body["instants"].items():
        instant: Any = shape.nodes[int(number)]
        instant.ready()
        if "number" in kept and not instant.slow:
            tape.number = int(kept["number"]) - 1
            instant.behind.at(recorder).goes_on(kept)
    for (node, form), row in zip(shape.ours, body["nodes"], strict=True):
        names = _names(node, form, row[0] == {TAG: "status", "v": "RUNNING"})
        for name, kept in zip(names, row, strict=True):
            put(node, name, full_form(kept, at))
    crash_count, engine._crashes_seen, crashes = body["crashes"]
    context.crash_count = crash_count
    context.crashes.clear()
    context.crashes.extend(starmap(Crash, crashes))
    services.starts = full_form(body["starts"], at)
    if body["spent"] is not None:
        services.spent = Spending()
        vars(services.spent).update(zip(_SPENT, [full_form(v, at) for v in body["spent"]], strict=True))
    engine.count, engine.status = int(body["count"]), RUNNING
    engine.shape.counted().last = int(body["last"])
    recorder.clock.go_on_from(float(body["time"]))
    for number, kept in body["acts"].items():
        skill: Any = shape.nodes[int(number)]
        skill._sentence = str(kept["said"])
        if "number" in kept:
            _taken_up(skill, kept, tape, recorder, at)
    tape.number = int(body["jobs"])


def _put_board(board: Any, at: StatePlaces, body: dict[str, Json]) -> None:
    if body["scopes"].keys() != board.scopes.keys():
        raise UnfitState("it has other scopes")
    for path, (entries, stamps) in body["scopes"].items():
        scope = board.scopes[path]
        found = full_form(entries, at)
        for name in found.keys() & scope.declared.keys():
            ports.check(scope.declared[name], found[name])
        scope.entries.clear()
        scope.entries.update(found)
        scope.stamps.clear()
        scope.stamps.update(stamps)
    board.sequence, board.begun, begins, board.stirred = body["board"]
    board._begins = deque(begins, board._begins.maxlen)
    board._picture = (-1, {})
