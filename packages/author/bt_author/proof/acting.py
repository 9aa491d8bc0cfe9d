"""What the outside does in a proof: each start of a skill ends as its contract allows, with any of its outputs; a
person answers in any way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

from bt_author.proof.choices import BAD, BREAKS, OK, RUN, Choices
from bt_author.proof.times import Source
from bt_runtime.agents.facts import ABSENT, by_entry
from bt_runtime.language.expression import ExpressionError
from bt_runtime.language.kinds.data import UNKNOWN
from bt_runtime.language.properties.atom import StartsWatch
from bt_runtime.language.sentence import Sentence
from bt_runtime.language.spec import NodeSpec
from bt_runtime.tree.node import FAILURE, RUNNING, SUCCESS
from bt_runtime.tree.nodes.skill import SkillNode
from bt_runtime.types import Json

NOT = "not "
STATUS = {RUN: RUNNING, OK: SUCCESS, BAD: FAILURE}


class SkillResult(NamedTuple):
    """A possible answer of a skill."""

    status: int
    given: Mapping[str, Json] = {}


class Acting:
    """Stands in the place of the skill of one node. `meant`: for each watch of an atom, whether the last start is one
    that it asks about."""

    STATE = ("met", "meant")
    wakes = True
    feedback = ""
    met = False  # will it bring what it says

    def __init__(self, node: SkillNode, number: int, path: str, explorer: Any) -> None:
        self.node, self.number, self.path, self.doubt = node, number, path, explorer.doubt
        self.source: Source = explorer.source
        self.name, self.entry = node.spec.kind.name, node.entry
        self.instant = bool(node.entry.instant)
        self.result: Any = None
        wired = [(f, node.spec.values[f.name].text.strip()) for f in node.written]
        self.writes = [name for _, name in wired]
        goods = [
            SkillResult(OK, dict(zip((f.name for f, _ in wired), made, strict=True)))
            for made in product(*(explorer.entries.output(node, field, name) for field, name in wired))
        ]
        self.results = [*([] if self.instant else [SkillResult(RUN)]), *goods, SkillResult(BAD)]
        if explorer.cut.breaks:
            self.results.append(SkillResult(BREAKS))
        self.first = {s: next((i for i, r in enumerate(self.results) if r.status == s), 0) for s in (RUN, OK, BAD)}
        self.contract = Contract(self) if self.entry.brings else None
        self.watches: list[StartsWatch] = []  # watched starts that have a condition
        self.meant: tuple[bool, ...] = ()

    @property
    def choices(self) -> Choices:
        found: Choices = self.source.choices
        return found

    def start(self, **params: Json) -> None:
        if self.watches:
            self.meant = tuple(self.fits(watch, params) for watch in self.watches)
        self.met = self.contract is not None and self.contract.begins()
        self.choices.fresh.add(self.number)
        self.choices.note("begin", self.name, self.path)

    def fits(self, watch: StartsWatch, params: dict[str, Json]) -> bool:
        assert watch.given is not None
        if any(params.get(name) is UNKNOWN for name in watch.given.names):
            return bool(self.choices.choose(2))
        try:
            return bool(watch.given.evaluate(params))
        except ExpressionError:
            return False

    def poll(self) -> object:
        choices = self.choices
        status, given = self.results[choices.pick(self)]
        known = {name: value for name, value in given.items() if value is not UNKNOWN} if given else given
        if status == BREAKS:
            choices.note("poll", self.name, self.path, BREAKS, {})
            raise RuntimeError("it breaks")
        self.result = dict(given) or None
        if self.contract is not None and self.met and status == OK:
            self.contract.succeeds()
        if choices.events is not None:
            choices.note("poll", self.name, self.path, status, known)
        return STATUS[status]

    def cancel(self) -> None:
        self.choices.note("cancel", self.name, self.path)

    def said(self, shown: int, at: int) -> int:
        """The status that an atom reads; `at`: the number of its condition, or -1."""
        return shown if at < 0 or (at < len(self.meant) and self.meant[at]) else 0


class Contract:
    """What a skill's manifest says that it needs and brings, where the sentences can be read as entries: as an agent
    reads them. What it brings holds in the tick in which it succeeds; it brings nothing where a need was false at its
    start."""

    def __init__(self, acting: Acting) -> None:
        self.acting, self.scope, spec = acting, acting.node.scope, acting.node.spec
        self.needs, self.brings = list(said(spec, acting.entry.needs)), list(said(spec, acting.entry.brings))

    @property
    def board(self) -> Any:
        return self.scope.board

    def begins(self) -> bool:
        outside = self.board.outside
        if not any(self.outer(fact) in outside for fact in self.brings):
            return False
        return all(self.holds(fact) is not False for fact in self.needs)

    def succeeds(self) -> None:
        board = self.board
        for fact in self.brings:
            name = self.outer(fact)
            if name not in board.outside or name in board.now or self.entry(fact) in self.acting.writes:
                continue  # a node writes it, or this tick has seen another value before
            fits = [value for value in board.outside[name] if self.read(fact, value)]
            if fits:
                choices = self.acting.choices
                board.now[name] = fits[choices.choose(len(fits)) if len(fits) > 1 else 0]
                choices.note("set", name, board.now[name])
                self.acting.doubt(f"that `{self.acting.name}` brings `{fact}` is taken from its manifest")

    def entry(self, fact: str) -> str:
        """Returns the name of the entry that a sentence means, or ""."""
        words = fact.removeprefix(NOT).split()
        names = ("_".join(words[:count]) for count in range(len(words), 0, -1))
        return next((name for name in names if name in self.scope.declared or name in self.scope.shared), "")

    def outer(self, fact: str) -> str:
        """Returns the entry's name on the whole tree's blackboard, or ""."""
        name = self.entry(fact)
        home, at = self.scope.home(name) if name else (None, "")
        return at if home is self.board.root else ""

    def holds(self, fact: str) -> bool | None:
        name = self.entry(fact)
        if not name or name not in self.scope:
            return None
        return self.read(fact, self.scope[name])

    def read(self, fact: str, value: Json) -> bool | None:
        """Returns whether a sentence holds when its entry has this value; None when that cannot be told."""
        if value is UNKNOWN:
            return None
        name = self.entry(fact)
        found = by_entry(fact.removeprefix(NOT), lambda asked: value if asked == name else ABSENT)
        return found if found is None or not fact.startswith(NOT) else not found


def said(spec: NodeSpec, facts: Iterable[str]) -> Iterator[str]:
    """Yields the sentences of a node's skill whose slots the tree fills with plain values."""
    given = {f.name: spec.values.get(f.name, f.default) for f in spec.kind.fields if not f.writes}
    plain = {name: value for name, value in given.items() if value is not None and not hasattr(value, "evaluate")}
    for fact in facts:
        sentence = Sentence(fact)
        if plain.keys() >= {*sentence.slots}:
            yield sentence.say(plain)


def names(spec: NodeSpec) -> Iterator[str]:
    """Yields the names of entries that the sentences of a skill may mean."""
    entry = spec.kind.data["entry"]
    for fact in said(spec, (*entry.needs, *entry.brings)) if entry.brings else ():
        words = fact.removeprefix(NOT).split()
        yield from ("_".join(words[:count]) for count in range(1, len(words) + 1))


class AnyPerson:
    """Answers a question at any time, with yes or with no."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def ask(self, question: str) -> AnyAnswer:
        return AnyAnswer(self.source)


class AnyAnswer:
    STATE = ()

    def __init__(self, source: Source) -> None:
        self.source = source

    def poll(self) -> str | None:
        return (None, "yes", "no")[self.source.choices.choose(3)]

    def cancel(self, reason: str) -> None:
        """No-op."""
