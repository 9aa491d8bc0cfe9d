"""A tree's model: slots, entries and nodes; computes all possible next ticks of a state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from bt_runtime.faults.diagnostic import BtError, nearest
from bt_runtime.language.expression import ExpressionError
from bt_runtime.language.kinds.kind import Field
from bt_runtime.language.properties.atom import Atom, Watch
from bt_runtime.language.spec import NodeSpec, Port, TreeSpec
from bt_runtime.proof.model.domain import Domain, Tests
from bt_runtime.proof.model.node import UNKNOWN_VALUE, ModelNode
from bt_runtime.proof.model.scope import ModelScope
from bt_runtime.proof.model.tick import LATER, RUN, UNKNOWN, UNSET, WORDS, State, Tick
from bt_runtime.proof.zone import Zone
from bt_runtime.types import Json

Bits = int  # which atoms hold, from the lowest bit


class Step(NamedTuple):
    """One possible next tick."""

    choices: tuple[int, ...]
    status: int
    bits: Bits
    state: State
    fresh: frozenset[int] = frozenset()
    over: bool = False  # has the graft ended that is looked at: what comes after is not its doing


class Options(NamedTuple):
    """The options of a model."""

    inputs: Mapping[str, Json] = {}  # values that stay as they are
    values: Mapping[str, Sequence[Json]] = {}  # the values that are tried for an entry or an output
    sample: bool = False  # try some values where not all can be told apart, rather than leave them unknown
    levels: int = 2  # how often a tree may contain itself
    keep: Callable[[NodeSpec], bool] | None = None  # which parts are modelled; of the others only the results are
    gates: frozenset[str] = frozenset()  # paths of parts whose results are steered
    entries: bool = False  # are all entries modelled; otherwise those that a test or a property reads
    agents: bool = True  # are agents charged with all that they may decide
    paths: Mapping[int, str] = {}  # of specs, by identity: where their nodes stand, if not as the spec says
    memo: dict[Any, Any] | None = None  # what is known of parts of trees, for many models of one tree


class Model:
    """Made by `build.model_of`."""

    def __init__(self, tree: TreeSpec, options: Options) -> None:
        self.tree, self.options = tree, options
        self.ticks = 0  # that were computed
        self.slots = 1  # slot 0 is nobody's
        self.names: dict[int, str] = {}  # slot → entry
        self.places: dict[tuple[str, str], int] = {}  # scope path, entry → slot
        self.values: list[Any] = [None, None, None]
        self.numbers: dict[Any, int] = {}
        self.kept: dict[int, bool] = {}  # entries whose values matter
        self.marks: dict[int, list[int]] = {}  # entry → slots that say that it was written
        self.outside: dict[int, tuple[int, ...]] = {}  # entries that somebody outside writes at any time
        self.stirred: dict[int, tuple[int, ...]] = {}  # … whose writing is waited for
        self.inputs: dict[int, tuple[int, ...]] = {}
        self.holders: list[tuple[int, tuple[str, ...]]] = []  # slots of skills that hold things while they run
        self.counts: dict[tuple[str, str], int] = {}  # slots with the starts of skills that may be started so often
        self.breaks = False  # does it matter whether a skill raises
        self.wanted: dict[str, int] = {}  # path of a steered part → the result that it is to return
        self.polled: dict[str, int] = {}  # path of a skill → the number of the result that is tried first
        self.doubts: dict[str, None] = {}  # what was not covered
        self.assumed: dict[str, None] = {}  # entries that are taken to be written by the tree alone
        self.root: ModelNode
        self.nodes: dict[str, ModelNode] = {}  # path → the node that speaks for it
        self.skills: dict[str, list[Any]] = {}  # name → its nodes and the agents that may do it
        self.scope = ModelScope(self, tree)
        self.tests = Tests({})
        self.fixed: dict[str, tuple[int, ...]] = {}
        self.atoms: list[_Reader] = []
        self.graft: ModelNode | None = None  # the part that is looked at, when it is not the whole tree
        self.still: dict[str, int] = {}  # node paths and skills outside the model → slots of what they show meanwhile
        self.clocks: list[Within] = []  # of properties that say `within`
        self.ends: list[ModelNode] = []  # nodes that end when all skills do

    # Making ----------------------------------------------------------------------------------

    def slot(self) -> int:
        self.slots += 1
        return self.slots - 1

    def entry(self, path: str, name: str) -> int:
        at = self.places.get((path, name))
        if at is None:
            at = self.places[path, name] = self.slot()
            self.names[at] = name
            self.kept[at] = True
        return at

    def slots_of(self, path: str, without: frozenset[str]) -> list[int]:
        return [at for (where, name), at in self.places.items() if where == path and name not in without]

    def mark(self, entry: int) -> int:
        at = self.slot()
        self.marks.setdefault(entry, []).append(at)
        return at

    def count(self, impl: str, sentence: str) -> int:
        """Returns the slot that counts a skill's starts in the run."""
        if (impl, sentence) not in self.counts:
            self.counts[impl, sentence] = self.slot()
        return self.counts[impl, sentence]

    def number(self, value: Any) -> int:
        """Returns the number of a value; equal values of one type share a number."""
        key = (value.__class__, value) if value.__class__ in _PLAIN else (value.__class__, repr(value))
        found = self.numbers.get(key)
        if found is None:
            found = self.numbers[key] = len(self.values)
            self.values.append(value)
        return found

    def doubt(self, text: str) -> None:
        self.doubts.setdefault(text)

    def domain(self, field: Field, slot: int) -> tuple[int, ...]:
        """Returns the numbers of the values that a skill may give as this output."""
        if not self.kept.get(slot, True):
            return (UNKNOWN,)
        name = self.names[slot]
        return self._numbers(self.tests.domain(_As(field, name), self.options.values.get(field.name)), field.name)

    def _numbers(self, domain: Domain, name: str) -> tuple[int, ...]:
        if name in self.options.values:
            self.doubt(f"`{name}` had only the values that were listed")
        if domain.values is None or not (domain.exact or self.options.sample or name in self.options.values):
            return (UNKNOWN,)
        return tuple(self.number(value) for value in domain.values)

    def port(self, port: Port, rigid: bool) -> tuple[int, ...]:
        """Returns the numbers of the values of an outside entry, or of an input."""
        if port.name in self.options.inputs:
            return (self.number(self.options.inputs[port.name]),)
        if rigid and port.name in self.tests.fixed:
            self.doubt(f"the input `{port.name}` had its default, {port.default!r}")
            return (self.number(port.default),)
        found = self._numbers(self.tests.domain(port, self.options.values.get(port.name)), port.name)
        if rigid and found == (UNKNOWN,) and not port.required:
            self.doubt(f"the input `{port.name}` had its default, {port.default!r}")
            return (self.number(port.default),)
        return found

    # Running ---------------------------------------------------------------------------------

    def first(self) -> State:
        """The state before the first tick."""
        s = [0] * self.slots
        for slot, numbers in self.inputs.items():
            s[slot] = LATER if len(numbers) > 1 else numbers[0]
        for slot, numbers in self.stirred.items():
            s[slot] = numbers[0]
        for slot in self.outside:
            s[slot] = UNKNOWN
        for slot in (*self.inputs, *self.stirred, *self.outside):
            for mark in self.marks.get(slot, ()):
                s[mark] = 1
        return State(tuple(s), Zone(), (), True)

    def steps(self, state: State) -> Iterator[Step]:
        """Returns all possible next ticks."""
        prefix: list[int] | None = []
        while prefix is not None:
            t = Tick(self, state, prefix)
            yield self.tick(t)
            prefix = t.next()

    def tick(self, t: Tick) -> Step:
        self.ticks += 1
        if self.stirred:
            self.stir(t)
        status = self.root.step(t)
        bits = self.observe(t, status)
        over = self.graft is not None and t.s[self.graft.i] != RUN
        choices = tuple(choice for choice, _ in t.trail)
        return Step(choices, status, bits, t.state(), frozenset(t.fresh), over)

    def stir(self, t: Tick) -> None:
        """Lets entries be written from outside, if something waits for them."""
        for slot, numbers in self.stirred.items():
            at = t.choose(len(numbers) + 1)
            if at:
                t.s[slot] = numbers[at - 1]
                for mark in self.marks.get(slot, ()):
                    t.s[mark] = 1
                number = numbers[at - 1]
                t.note("write", self.names[slot], UNKNOWN_VALUE if number == UNKNOWN else self.values[number])

    def observe(self, t: Tick, status: int) -> Bits:
        bits = 0
        for at, atom in enumerate(self.atoms):
            if atom.holds(t, status):
                bits |= 1 << at
        for at, clock in enumerate(self.clocks, len(self.atoms)):
            if clock.late(t, bits, status):
                bits |= 1 << at
        return bits

    def bit_of(self, text: str) -> int:
        return next(1 << at for at, reader in enumerate(self.atoms) if reader.atom.text == text)

    def replay(self, state: State, choices: Sequence[int]) -> tuple[Step, Tick]:
        """Repeats a tick with these choices, and records what happened in it."""
        t = Tick(self, state, choices, record=True)
        step = self.tick(t)
        return step, t


_PLAIN = (str, int, float, bool, type(None))


class Within:
    """The clock of a `within`: it starts when `from` holds, or at the beginning, and stops when `to` holds."""

    def __init__(self, model: Model, to: int, since: int | None, seconds: float) -> None:
        self.to, self.since, self.seconds = to, since, seconds
        self.clock, self.runs, self.over = model.slot(), model.slot(), model.slot()

    def late(self, t: Tick, bits: Bits, status: int) -> bool:
        s = t.s
        if s[self.runs] and bits & self.to:
            s[self.runs] = 0
            t.stop(self.clock)
        elif s[self.runs] and t.over(self.clock):
            return True
        elif (
            not s[self.runs]
            and not bits & self.to
            and (bits & self.since if self.since is not None else not s[self.over])
        ):
            s[self.runs] = 1
            t.start(self.clock, self.seconds)
        s[self.over] = 1
        return bool(s[self.runs]) and status != RUN


class _As:
    """Connects an output to the entry that it is written to."""

    def __init__(self, field: Field, name: str) -> None:
        self.name, self.type, self.choices = name, field.type, field.choices
        self.minimum, self.maximum = field.minimum, field.maximum


class _Reader:
    """An atom over a model: it reads entries, and statuses of nodes and skills."""

    def __init__(self, model: Model, atom: Atom, unset: bool) -> None:
        self.model, self.atom, self.unset = model, atom, unset  # `unset`: its truth while an entry is not there
        self.slots = [model.scope.slot(name) for name in atom.entries]
        self.paths = {path: self.node(path) for path in atom.paths}
        self.skills = {key: self.nodes_of(watch) for key, watch in atom.watches.items()}
        if not model.options.agents:  # of a tree that runs, some parts stand still
            for name in (*(path for path, node in self.paths.items() if node is None), *self.skills):
                model.still.setdefault(name, model.slot())
        self.status = 0
        self.t: Tick

    def node(self, path: str) -> ModelNode | None:
        return self.model.nodes.get(path)

    def nodes_of(self, watch: Watch) -> list[tuple[int, int]]:
        """Returns the status slots of a skill, each with the slot that marks matching starts, or 0."""
        found: list[tuple[int, int]] = []
        for node in self.model.skills.get(watch.skill, ()):
            if hasattr(node, "doing"):
                found.append((node.doing[watch.skill], 0))
            else:
                found.append((node.i, node.watch(watch) if watch.given is not None else 0))
        return found

    def holds(self, t: Tick, status: int) -> bool:
        for slot in self.slots:
            number = t.read(slot)
            if number == UNSET and self.model.names[slot] not in self.atom.test.asked:
                return self.unset
            if number == UNKNOWN:
                return bool(t.choose(2))
        self.t, self.status = t, status
        try:
            return bool(self.atom.test.evaluate(self))
        except ExpressionError as error:
            raise BtError(f"`{self.atom.text}`: {error.message}", error.hint) from None

    def __getitem__(self, name: str) -> Any:
        t = self.t
        if name == "tree":
            return WORDS[self.status]
        if name == "node":
            still = self.model.still
            return {path: WORDS[t.s[n.i if n is not None else still.get(path, 0)]] for path, n in self.paths.items()}
        if name == "skill":
            return {key: self.said(t, key, nodes) for key, nodes in self.skills.items()}
        number = t.read(self.model.scope.slot(name))
        if number == UNSET:
            raise KeyError(name)
        return self.model.values[number]

    def said(self, t: Tick, key: str, nodes: list[tuple[int, int]]) -> str:
        """Returns running when any start is running, else success when any succeeded, else failure when any failed."""
        shown = {t.s[slot] for slot, meant in nodes if not meant or t.s[meant]}
        shown.add(t.s[self.model.still.get(key, 0)])
        for status in (1, 2, 3):
            if status in shown:
                return WORDS[status]
        return WORDS[0]


def unknown_names(model: Model, atoms: Sequence[Atom]) -> Iterator[BtError]:
    """Returns the names in atoms that the tree does not have: such an atom could never hold."""
    entries = sorted({name for (path, name) in model.places if not path} | set(model.tree.ports))
    for atom in atoms:
        for path in atom.paths:
            if path not in model.nodes:
                yield _unknown(atom, path, f"no node is at {path}", sorted(model.nodes), "nodes")
        for watch in atom.watches.values():
            if watch.skill not in model.skills:
                known = sorted(
                    {kind.name for kind in model.tree.registry if kind.family == "skill"} | set(model.skills)
                )
                if watch.skill not in known:
                    yield _unknown(atom, watch.skill, f"no skill is named `{watch.skill}`", known, "skills")
        for name in atom.entries:
            if name not in entries:
                yield _unknown(atom, name, f"no entry is named `{name}`", entries, "entries")


def _unknown(atom: Atom, name: str, why: str, known: list[str], what: str) -> BtError:
    close = nearest(name, known)
    return BtError(
        f"`{atom.text}`: {why}", f"did you mean `{close}`?" if close else f"{what}: {', '.join(known) or 'none'}"
    )


__all__ = ["RUN", "UNKNOWN_VALUE", "Model", "Options", "Step", "unknown_names"]
