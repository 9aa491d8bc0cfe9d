"""What a property reads of an explored tree: its atoms."""

from __future__ import annotations

from typing import Any

from bt_author.proof.acting import Acting
from bt_author.proof.board import MISSING
from bt_author.proof.choices import WORDS, Choices
from bt_author.proof.parts import NUMBER
from bt_runtime.language.expression import ExpressionError
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.kinds.data import UNKNOWN
from bt_runtime.language.properties.atom import NODE, SKILL, TREE, Atom, StartsWatch


class Reader:
    """An atom: it reads entries, and statuses of nodes and skills. `unset`: its truth while an entry is not there."""

    def __init__(self, explorer: Any, atom: Atom, unset: bool) -> None:
        self.explorer, self.atom, self.unset = explorer, atom, unset
        self.paths = {path: explorer.nodes.get(path) for path in atom.paths}
        self.skills = {key: self._nodes(watch) for key, watch in atom.watches.items()}
        self.still: dict[str, int] = {}  # node paths and skills that are not explored → what they show meanwhile
        self.status = 0

    @property
    def read(self) -> set[int]:
        """The numbers of the nodes whose status it reads."""
        numbers = {number for number in self.paths.values() if number is not None}
        return numbers | {number for found in self.skills.values() for number, *_ in found}

    def _nodes(self, watch: StartsWatch) -> list[tuple[int, Any, int]]:
        """Returns the nodes of a skill, with what acts there, and the number of its condition, or -1."""
        found = []
        for number, acting in self.explorer.skills.get(watch.skill, ()):
            at = -1
            if watch.given is not None and isinstance(acting, Acting):
                at = len(acting.watches)
                acting.watches.append(watch)
            found.append((number, acting, at))
        return found

    def holds(self, t: Choices, status: int) -> bool:
        board = self.explorer.board
        for name in self.atom.entries:
            value = board.read(*board.root.home(name))
            if value is MISSING and name not in self.atom.test.asked:
                return self.unset
            if value is UNKNOWN:
                return bool(t.choose(2))
        self.status = status
        try:
            return bool(self.atom.test.evaluate(self))
        except ExpressionError as error:
            raise BtError(f"`{self.atom.text}`: {error.message}", error.hint) from None

    def __getitem__(self, name: str) -> Any:
        if name == TREE:
            return WORDS[self.status]
        if name == NODE:
            return {path: WORDS[self._shown(path, number)] for path, number in self.paths.items()}
        if name == SKILL:
            return {key: self._said(key) for key in self.skills}
        return self.explorer.board.root[name]

    def __contains__(self, name: object) -> bool:
        return name in self.explorer.board.root

    def _shown(self, path: str, number: int | None) -> int:
        return self.still.get(path, 0) if number is None else NUMBER[self.explorer.all[number].status]

    def _said(self, key: str) -> str:
        """Returns running when any start is running, else success when any succeeded, else failure when any failed."""
        skill = self.atom.watches[key].skill
        shown = {self.still.get(key, 0)}
        for number, acting, at in self.skills[key]:
            status = NUMBER[self.explorer.all[number].status]
            shown.add(acting.said(status, at) if isinstance(acting, Acting) else acting.said(skill))
        return next((WORDS[status] for status in (1, 2, 3) if status in shown), WORDS[0])
