"""Explores a tree: the engine's own nodes, ticked from any state with any choices of what is around them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from bt_author.proof.acting import Acting
from bt_author.proof.board import ProofBoard
from bt_author.proof.choices import RUN, WORDS, Choices, State
from bt_author.proof.crashes import Crashes
from bt_author.proof.cut import Cut
from bt_author.proof.declared import ours
from bt_author.proof.doors import ProofContext
from bt_author.proof.entries import Entries
from bt_author.proof.options import Options
from bt_author.proof.parts import NUMBER, OpenPart, Part
from bt_author.proof.reader import Reader
from bt_author.proof.renaming import ClockRenaming, Starts
from bt_author.proof.slot import NodeSlot, ScopeSlot, Slot, moved, times_in
from bt_author.proof.times import PAST, Source
from bt_author.proof.zone import NO_CLOCKS
from bt_runtime.language.properties.property import Property
from bt_runtime.language.spec import TreeSpec
from bt_runtime.run.monitoring.within import Within
from bt_runtime.skills.resources import Hold
from bt_runtime.tree.build import build
from bt_runtime.tree.changes import below
from bt_runtime.tree.engine import tick_once
from bt_runtime.tree.node import RUNNING, path_of
from bt_runtime.tree.nodes.interlocks import held
from bt_runtime.tree.nodes.skill import SkillNode
from bt_runtime.tree.nodes.subtree import Subtree

Bits = int  # bit n: the n-th atom holds
Mark = tuple[str, int]  # a time that is waited for, or a node that goes on
OVER = State(())
C = TypeVar("C", bound=Choices)


class Step(NamedTuple):
    """One possible next tick. `marks`: what went on in it, and cannot go on for ever. `over`: the graft that is looked
    at has ended: what comes after is not its doing."""

    choices: tuple[int, ...]
    status: int
    bits: Bits
    state: State
    marks: frozenset[Mark] = frozenset()
    over: bool = False


class Explorer:
    """A tree with the atoms of a property. `nodes`: the number of the node that speaks for each path."""

    def __init__(self, tree: TreeSpec, property: Property | None, options: Options) -> None:
        self.tree, self.property, self.options = tree, property, options
        self.ticks = 0  # ticks explored so far
        self.doubts: dict[str, None] = {}  # what the exploration does not cover, in words
        self.cut = Cut(tree, property, self.options, self.doubt)
        self.source = Source()
        self.board = ProofBoard(self.kept)
        self.context = ProofContext(self.source, self.board)
        self.start: State | None = None  # before the first tick
        self.graft: Any = None  # the node of the graft that is looked at, when it is not the whole tree
        self.entries = Entries(tree, self.cut, self.board, self.options, self.doubt)
        self._build()
        self._find()
        self.entries.add(self.all, self.acting())
        self._atoms()
        self._show()
        self._slots()

    def doubt(self, text: str) -> None:
        self.doubts.setdefault(text)

    def kept(self, name: str) -> bool:
        """True when the value of an entry matters."""
        return (name in self.cut.read or self.options.entries) and name not in self.cut.faults

    # Making ----------------------------------------------------------------------------------

    def _build(self) -> None:
        self.board.root.declare(self.tree.ports)
        self.root: Any = build(self.cut.cut(), self.context, self.board.root)

    def _find(self) -> None:
        """Numbers the nodes, parents first, with those that a tree that contains itself grows later."""
        self.all: list[Any] = []
        self.nodes: dict[str, int] = {}
        self.skills: dict[str, list[tuple[int, Any]]] = {}
        self.ends: list[int] = []
        self.holders: list[SkillNode] = []
        todo: list[Any] = [self.root]
        while todo:
            node = todo.pop()
            number = len(self.all)
            self.all.append(node)
            path = path_of(node)
            self.nodes.setdefault(path, number)
            below = list(node.children)
            if isinstance(node, SkillNode):
                self._skill(node, number, path)
            elif isinstance(node, Subtree):
                if node.spec.again is not None and not node.children:
                    below.append(self.context.growth.prepare(node))  # type: ignore[attr-defined]
                assert node.inner is not None
                self.board.register(node.inner)
            elif isinstance(node, OpenPart):
                for name in node.spec.values["asked"]:
                    self.skills.setdefault(name, []).append((number, node))
                self.ends.append(number)
            elif isinstance(node, Part) and path in self.cut.ends:
                self.ends.append(number)
            todo.extend(reversed(below))
        self.numbers = {node: number for number, node in enumerate(self.all)}

    def _skill(self, node: SkillNode, number: int, path: str) -> None:
        if isinstance(node.target, Acting):  # the tree has changed
            node.target.number, node.target.watches = number, []
        else:
            node.target = Acting(node, number, path, self)
        self.skills.setdefault(node.spec.kind.name, []).append((number, node.target))
        self.ends.append(number)
        if node.entry.uses:
            self.holders.append(node)

    def acting(self) -> list[Acting]:
        return [each for found in self.skills.values() for _, each in found if isinstance(each, Acting)]

    def _atoms(self) -> None:
        always = self.property is not None and self.property.word == "always"
        self.atoms = [Reader(self, atom, always) for atom in self.cut.atoms]
        seconds = self.property.seconds if self.property is not None else None
        self.clocks = [Within(1, 2 if len(self.atoms) > 1 else 0, seconds)] if seconds is not None else []

    def _show(self) -> None:
        """Finds the nodes whose results somebody reads, and all above them."""
        read: list[Any] = [self.all[number] for reader in self.atoms for number in reader.read]
        for node in self.all:
            if (self.cut.breaks and node.spec.kind.name == "try") or not ours(type(node)):
                read += below(node)
        self.shown: set[int] = set()
        for at in read:
            while at is not None and self.numbers[at] not in self.shown:
                self.shown.add(self.numbers[at])
                at = at.parent

    def _slots(self) -> None:
        self.slots: list[Any] = [NodeSlot(node) for node in self.all]
        for number in self.shown:
            self.slots[number].show()
        for acting in self.acting():
            if acting.watches or acting.contract is not None:
                self.slots[acting.number].lasting += ("target",)
        for node in self.context.growth.requests:  # type: ignore[attr-defined]
            self.slots[self.numbers[node]].lasting += ("children",)
        self.scopes: dict[Any, int] = {}
        for scope in self.board.scopes.values():
            self.scopes[scope] = len(self.slots)
            self.slots.append(ScopeSlot(scope))
        self.watching = {number for number in range(len(self.all)) if self.slots[number].stamps}
        self.crashes = Crashes(self.context, self.all, self.cut.breaks)
        more: list[Any] = [*self.clocks]
        if any(node.entry.agent_options.at_most is not None for node in self.all if isinstance(node, SkillNode)):
            more.append(Starts(self.context))
        if self.cut.breaks:
            more.append(self.crashes)
        self.more = range(len(self.slots), len(self.slots) + len(more))
        self.slots += [Slot(each) for each in more]
        self.at: list[int] = [-1] * len(self.slots)  # the numbers of what the slots hold now
        self.touched: set[int] = set()

    # Running ---------------------------------------------------------------------------------

    def first(self) -> State:
        """The state before the first tick."""
        if self.start is None:
            self.source.choices = Choices(State((), urgent=True))
            self.start = self.present(State((), NO_CLOCKS, (), True), range(len(self.slots)), True)
        return self.start

    def steps(self, state: State) -> Iterator[Step]:
        """Returns all possible next ticks."""
        return (step for step, _ in self.steps_by(state, Choices))

    def steps_by(self, state: State, made: Callable[[State, Sequence[int]], C]) -> Iterator[tuple[Step, C]]:
        """Returns all possible next ticks with their choices, which are made from a list of the first ones."""
        prefix: list[int] | None = []
        while prefix is not None:
            t = made(state, prefix)
            yield self.tick(t, state), t
            prefix = t.next()

    def replay(self, state: State, choices: Sequence[int], births: Mapping[int, int]) -> tuple[Step, Choices]:
        """Repeats a tick with these choices, and records what happened in it."""
        t = Choices(state, choices, True, births)
        return self.tick(t, state), t

    def tick(self, t: Choices, state: State) -> Step:
        self.ticks += 1
        self.restore(state)
        context, board = self.context, self.board
        self.source.choices = t
        board.begin(t)
        visits, halts = list[Any](), list[Any]()
        context.visits, context.halts = visits, halts
        if board.awaited:
            board.stir()
            board.stirred = False
        context.ticking = True
        status = NUMBER[tick_once(self.root)]
        context.ticking = False
        t.urgent = t.urgent or board.stirred
        numbers = self.numbers
        touched = {numbers[node] for node in visits}
        touched.update(numbers[node] for node, _ in halts)
        touched |= self.grown()
        self.touched |= touched
        self.status = status
        bits = self.observe(t, status)
        touched |= self.shown | self.watching
        touched.update(self.more)
        touched.update(self.scopes[scope] for scope in board.touched)
        over = self.graft is not None and self.graft.status is not RUNNING
        choices = tuple(choice for choice, _ in t.trail)
        self.touched |= touched
        if status != RUN or over or t.mismatch:
            return Step(choices, status, bits, OVER, frozenset(), over)
        marks: list[Mark] = []
        after = self.present(state, sorted(touched), t.urgent, marks)
        goes = (n for n in self.ends if n not in t.fresh and self.ran(state, n) and self.all[n].status is RUNNING)
        marks.extend(("node", number) for number in goes)
        return Step(choices, status, bits, after, frozenset(marks), over)

    def ran(self, state: State, number: int) -> bool:
        return self.slots[number].values[state.slots[number]][0] is RUNNING

    def grown(self) -> set[int]:
        growth: Any = self.context.growth
        found = set()
        for request in growth.asked:
            request.made()
            found.add(self.numbers[request.node])
        growth.asked.clear()
        return found

    def observe(self, t: Choices, status: int) -> Bits:
        bits = 0
        for at, atom in enumerate(self.atoms):
            if atom.holds(t, status):
                bits |= 1 << at
        for at, clock in enumerate(self.clocks, len(self.atoms)):
            if clock.late(self.source.now(), bits, status != RUN):
                bits |= 1 << at
        return bits

    # States ----------------------------------------------------------------------------------

    def restore(self, state: State) -> None:
        at, slots = self.at, self.slots
        target = state.slots
        changed = self.touched | {i for i, (one, other) in enumerate(zip(at, target, strict=True)) if one != other}
        for number in changed:
            slots[number].put(target[number])
        if self.holders and changed:
            self.lock()
        self.at = list(target)
        self.touched.clear()

    def lock(self) -> None:
        """Gives the locks to the skills that hold them."""
        holds: dict[Any, Hold] = {}
        for node in self.holders:
            hold = held(node.activity)
            if hold is not None:
                holds.update(dict.fromkeys(hold.names, hold))
        self.context.resources._holds = holds

    def present(self, state: State, touched: Iterable[int], urgent: bool, marks: list[Mark] | None = None) -> State:
        """Returns the state after a tick. `touched`: the slots that may have changed in it."""
        t, slots = self.source.choices, self.slots
        self.crashes.settle()
        values = {number: slots[number].read() for number in touched}
        timed = sorted({*(n for n in state.timed if n not in values), *(n for n, v in values.items() if times_in(v))})
        for number in state.timed:
            if number not in values:
                values[number] = slots[number].values[state.slots[number]]
        after = list(state.slots) if state.slots else [-1] * len(slots)
        clocks = ClockRenaming(self.source, t)
        still_timed = []
        for number in timed:
            owner = number
            made = tuple(moved(value, clocks.move, self.board.written) for value in values[number])
            if marks is not None and clocks.waited:
                marks.append(("time", owner))
            clocks.waited = False
            values[number] = made
            if times_in(made):
                still_timed.append(number)
        armed = tuple(
            sorted({(time.clock, time.offset) for each in t.armed if (time := clocks.move(each)) is not PAST})
        )
        for number, each in values.items():
            after[number] = slots[number].number_of(each)
        zone = clocks.zone() if clocks.places else NO_CLOCKS
        self.renamed = clocks.places
        return State(tuple(after), zone, armed, urgent, tuple(still_timed))

    def word(self, number: int) -> str:
        return WORDS[NUMBER[self.all[number].status]]
