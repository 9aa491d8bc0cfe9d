"""Watches properties in a run: after each tick it computes what must still happen, and whether that is possible."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from py_trees.behaviour import Behaviour

from bt_runtime.language.expression import ExpressionError
from bt_runtime.language.expression.call import show
from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.language.properties.atom import NODE, SKILL, TREE, Atom, StartsWatch
from bt_runtime.language.properties.property import LATE, Property
from bt_runtime.run.monitoring.automaton import Left, breaking
from bt_runtime.run.monitoring.standing import Standing
from bt_runtime.run.monitoring.within import Within
from bt_runtime.tree.describe.gist import kind_of
from bt_runtime.tree.node import INVALID, RUNNING, path_of

if TYPE_CHECKING:
    from bt_runtime.run.run import Run

KEPT = 10_000  # ticks whose atoms are remembered, for stories that repeat


class Sight:
    """The values that atoms can read after a tick; collected once per tick."""

    def __init__(
        self,
        run: Run,
        given: Mapping[tuple[Behaviour, StartsWatch], bool] | None = None,
        standing: Standing | None = None,
    ) -> None:
        self.run = run
        self.standing = standing or Standing(run)
        self.given = given if given is not None else {}

    @cached_property
    def nodes(self) -> list[Behaviour]:
        return list(self.standing.nodes())

    @cached_property
    def statuses(self) -> dict[str, str]:
        return {self.standing.path(n): status_of(n) for n in reversed(self.nodes)}  # a guard speaks for the node inside

    @cached_property
    def skills(self) -> dict[str, list[Any]]:
        """Returns the nodes of each skill, and the agents' actions with it."""
        found: dict[str, list[Any]] = {}
        for node in self.nodes:
            found.setdefault(kind_of(node), []).append(node)
            actions = getattr(node, "actions", None)
            for name, deed in getattr(actions, "deeds", {}).items():
                found.setdefault(name, []).append(deed.node)
        return found

    def entry(self, name: str) -> bool:
        return name in self.standing.scope

    def scope(self, atom: Atom) -> Mapping[str, Any]:
        return _Scope(self, atom)

    def said(self, watch: StartsWatch) -> str:
        shown = {status_of(n) for n in self.skills.get(watch.skill, ()) if self.meant(n, watch)}
        return next((word for word in ("running", "success", "failure") if word in shown), "idle")

    def meant(self, node: Any, watch: StartsWatch) -> bool:
        """True when the node's last start matches what an atom asks; computed once for each start."""
        if watch.given is None:
            return True
        key = (node, watch)
        fresh = getattr(node, "activity", None) is not None or key not in self.given
        if fresh and node.status is not INVALID and isinstance(self.given, dict):
            try:
                self.given[key] = bool(watch.given.evaluate(node.params()))
            except (BtError, ExpressionError):
                self.given[key] = False
        return self.given.get(key, False)


class _Scope(Mapping[str, Any]):
    def __init__(self, sight: Sight, atom: Atom) -> None:
        self.sight, self.atom = sight, atom

    def __getitem__(self, name: str) -> Any:
        sight = self.sight
        if name == NODE:
            return {path: sight.statuses.get(path, "idle") for path in self.atom.paths}
        if name == SKILL:
            return {key: sight.said(watch) for key, watch in self.atom.watches.items()}
        if name == TREE:
            return _word(sight.standing.status)
        return sight.standing.scope[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.atom.test.names)

    def __len__(self) -> int:
        return len(self.atom.test.names)


def status_of(node: Any) -> str:
    return _word(node.status)


def _word(status: Any) -> str:
    return "idle" if status is INVALID else str(status.name).lower()


class PropertyMonitor:
    """Watches one property in one run. `broken` describes how it was broken."""

    def __init__(self, property: Property) -> None:
        self.property = property
        self.atoms = property.atoms
        self.automaton = breaking(property)
        self.late = self.automaton.bits[LATE]
        self.left: frozenset[Left] = frozenset((self.automaton.start,))
        self.history: list[tuple[frozenset[Left], int]] = []  # (demands before the tick, atoms that held in it)
        self.clock = Within(1, 2 if len(self.atoms) > 1 else 0, property.seconds or 0.0)  # the deadline of a `within`
        self.unread = {name for atom in self.atoms for name in atom.entries}  # entries that were never there
        self.unseen = {path for atom in self.atoms for path in atom.paths}  # … and nodes
        self.given: dict[tuple[Behaviour, StartsWatch], bool] = {}

    def look(self, sight: Sight, over: bool) -> str:
        """Checks after a tick; returns how the property is broken, or "". `over`: no other tick will come."""
        sight.given = self.given
        self.unread -= {name for name in self.unread if sight.entry(name)}
        self.unseen -= sight.statuses.keys() if self.unseen else set()
        bits = self.bits(sight, over)
        self.history.append((self.left, bits))
        if len(self.history) > KEPT:
            del self.history[: KEPT // 2]
        self.left = frozenset(after for left in self.left for after, _ in self.automaton.after(left, bits))
        if any(not left for left in self.left):
            return self.where(sight)
        if over and any(self.automaton.accepts_for_ever(left, bits) for left in self.left):
            return f"the tree has ended, and {self.lacks}"
        return ""

    def bits(self, sight: Sight, over: bool) -> int:
        bits = sum(1 << at for at, atom in enumerate(self.atoms) if self.holds(atom, sight))
        clocked = self.property.seconds is not None
        return (
            bits | self.late if clocked and self.clock.late(sight.run.parts.context.clock.now(), bits, over) else bits
        )

    def holds(self, atom: Atom, sight: Sight) -> bool:
        if not all(sight.entry(name) for name in atom.entries if name not in atom.test.asked):
            return self.property.word == "always"  # an entry is unset: neither broken nor kept
        try:
            return bool(atom.test.evaluate(sight.scope(atom)))
        except ExpressionError as error:
            raise BtError(f"{self.property!r}: {error.message}", error.hint) from None

    @property
    def lacks(self) -> str:
        given = self.property.given
        text = given.get("eventually") or given.get("to")
        return f"`{text}` has not come" if text else "what was to come has not come"

    def repeats(self, ticks: int) -> str:
        """Returns how the property is broken if the latest ticks repeat for ever, or ""."""
        cycle = [bits for _, bits in self.history[-ticks:]]
        if any(self.automaton.repeats(left, cycle) for left in self.history[-ticks][0]):
            return f"the latest {ticks} ticks may repeat for ever, and {self.lacks}"
        return ""

    def where(self, sight: Sight) -> str:
        """Returns the values that the property has read."""
        board = sight.standing.scope
        entries = dict.fromkeys(name for atom in self.atoms for name in atom.entries)
        values = [f"{name} = {show(board[name])}" for name in entries if name in board]
        values += [f"{path} is {sight.statuses.get(path, 'idle')}" for atom in self.atoms for path in atom.paths]
        values += [f"{watch.skill} is {sight.said(watch)}" for atom in self.atoms for watch in atom.watches.values()]
        return f"where {', '.join(dict.fromkeys(values)) or 'nothing is read'}"

    def known(self, run: Run, entries: set[str]) -> None:
        """Raises for an entry or a node that was never there: such a property cannot be broken."""
        for name in sorted(self.unread):
            known = sorted({*run.blackboard, *run.parts.tree.spec.ports, *entries})
            if name not in known:
                raise self._unknown(name, f"no entry is named `{name}`", known, "entries")
        for path in sorted(self.unseen):
            raise self._unknown(path, f"no node is at {path}", sorted({path_of(n) for n in run.nodes()}), "nodes")

    def _unknown(self, name: str, why: str, known: list[str], what: str) -> BtError:
        text = next(atom.text for atom in self.atoms if name in atom.test.text)
        return BtError(f"`{text}`: {why}", did_you_mean(name, known, f"{what}: {', '.join(known)}"))


__all__ = ["RUNNING", "PropertyMonitor", "Sight", "status_of"]
