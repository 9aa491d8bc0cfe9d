"""The entries of an explored tree: which stay as they are, which change from outside, with which values, and what is
taken for granted of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from bt_author.proof.acting import Acting
from bt_author.proof.board import LATER, OUTSIDE, ProofBoard
from bt_author.proof.cut import Cut
from bt_author.proof.domain import Domain
from bt_author.proof.options import Options
from bt_author.proof.values import reads
from bt_runtime.language.kinds.data import UNKNOWN
from bt_runtime.language.kinds.kind import Field
from bt_runtime.language.outside import assumed, entries_of, outside
from bt_runtime.language.spec import Port, TreeSpec
from bt_runtime.tree.blackboard import _same
from bt_runtime.tree.nodes.skill import SkillNode
from bt_runtime.types import Json


class Entries:
    """`assumed`: entries that are taken to be written by the tree alone."""

    def __init__(
        self, tree: TreeSpec, cut: Cut, board: ProofBoard, options: Options, doubt: Callable[[str], None]
    ) -> None:  # fmt: skip
        self.tree, self.cut, self.board, self.options, self.doubt = tree, cut, board, options, doubt
        self.kept = board.kept
        self.assumed: dict[str, None] = {}
        self.trusted: dict[str, None] = {}  # assumptions on outputs of skills, in words

    def output(self, node: SkillNode, field: Field, entry: str) -> Sequence[Json]:
        """Returns the values that a skill may give to an entry."""
        name = node.scope.home(entry)[1]
        if not self.kept(name):
            return (UNKNOWN,)
        port = Port(name, field.type, choices=field.choices, minimum=field.minimum, maximum=field.maximum)
        return self._listed(self.cut.tests.domain(port, self.options.values.get(field.name)), field.name)

    def _listed(self, domain: Domain, name: str) -> Sequence[Json]:
        if name in self.options.values:
            self.doubt(f"`{name}` had only the values that were listed")
        if domain.values is None or not (domain.exact or self.options.sample or name in self.options.values):
            return (UNKNOWN,)
        return tuple(domain.values)

    def _port(self, port: Port, rigid: bool) -> Sequence[Json]:
        """Returns the values of an outside entry, or of an input."""
        if port.name in self.options.inputs:
            return (self.options.inputs[port.name],)
        if rigid and port.name in self.cut.tests.fixed:
            self.doubt(f"the input `{port.name}` had its default, {port.default!r}")
            return (port.default,)
        found = self._listed(self.cut.tests.domain(port, self.options.values.get(port.name)), port.name)
        if rigid and found == (UNKNOWN,) and not port.required:
            self.doubt(f"the input `{port.name}` had its default, {port.default!r}")
            return (port.default,)
        return found

    def add(self, nodes: Sequence[Any], acting: Iterable[Acting]) -> None:
        """Models inputs, which are constant, and entries, of which some change from outside."""
        tree, board, given, own = self.tree, self.board, self.options.inputs, self.cut.writes.names
        entries = entries_of(tree)
        free = {port.name for port in outside(tree, own, self.options.values)}
        free -= own & given.keys()  # a given value of an entry that a node writes is its first one
        alone = {port.name for port in assumed(tree, own, self.options.values)}
        used = {home for node in nodes for home in map(node.scope.home, reads(node.spec))}
        used |= {(board.root, name) for atom in self.cut.atoms for name in atom.entries}
        awaited = self._awaited(nodes)
        values = board.root.entries
        for name, port in {**entries, **tree.ports}.items():
            if name in entries and (board.root, name) in used:
                self._assume(port, alone)
            if name in tree.inputs or (name in entries and name not in free and port.required):
                board.inputs[name] = tuple(self._port(port, True)) if self.kept(name) else (UNKNOWN,)
                values[name] = LATER if len(board.inputs[name]) > 1 else board.inputs[name][0]
            elif name in entries and name in free:
                found = tuple(self._port(port, False)) if self.kept(name) else (UNKNOWN,)
                if name in awaited:
                    first = None if port.required else port.default
                    found = tuple(sorted(found, key=lambda value: value is UNKNOWN or not _same(value, first)))
                    board.awaited[name], values[name] = found, found[0]
                else:
                    board.outside[name], values[name] = found, OUTSIDE
            elif name in entries or not port.required:
                values[name] = given.get(name, port.default) if name in entries else port.default
                if not self.kept(name):
                    values[name] = UNKNOWN
        self._trust_outputs(acting, used)

    def _awaited(self, nodes: Sequence[Any]) -> set[str]:
        """Returns the entries of the whole tree whose being written some node waits for."""
        found = set()
        for node in nodes:
            name = node.spec.values.get("updated")
            if name is not None:
                home, at = node.scope.home(str(name))
                found |= {at} if home is self.board.root else set()
        return found

    def _assume(self, port: Port, alone: set[str]) -> None:
        """Notes what is taken for granted of an entry that matters."""
        if port.name in alone:
            self.assumed.setdefault(port.name)
        if port.required and port.name not in self.options.inputs:
            self.doubt(f"`{port.name}` has no default: it is taken to be written before the first tick")

    def _trust_outputs(self, acting: Iterable[Acting], used: set[Any]) -> None:
        """Notes the skills whose outputs matter: a class may change them while it runs, and when it fails."""
        for each in acting:
            homes = [each.node.scope.home(name) for name in each.writes]
            outer = self.board.outside
            matter = {at for home, at in homes if (home, at) in used and not (home is self.board.root and at in outer)}
            if matter and not each.instant:
                entries = ", ".join(f"`{name}`" for name in sorted(matter))
                self.trusted.setdefault(f"`{each.name}` writes {entries} only when it succeeds")
                self.doubt(f"`{each.name}` is taken to write {entries} only when it succeeds")
