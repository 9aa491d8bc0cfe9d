"""Working memory: where things were seen in this run, and other facts noticed about the world. It never guesses. It
is one immutable value on a board, so a snapshot costs nothing and two of them can be compared."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from bt_runtime.memory.notice import Fact, Held, Here, Holding, Looked, Notice, PlacedThing, Seen, Thing, name_of
from bt_runtime.memory.observation import read
from bt_runtime.types import Json

How = Literal["seen", "held", "placed"]
KEY = "working_memory"
RECALL = "recall location of {thing}"
_ASKED = re.compile(r"recall (?:the )?location of (.*\S)\s*", re.IGNORECASE)
_NUMBERED = re.compile(r"(.*?[^\s\d(])\s*\(?(\d{1,9})\)?")


class Board(Protocol):
    """The part of a blackboard that this module uses."""

    def get(self, key: str, /) -> Json: ...
    def __setitem__(self, key: str, value: Json, /) -> None: ...


class Sighting(NamedTuple):
    room: str
    near: str
    how: How
    seq: int
    by: str = ""  # the node that saw it
    stale: bool = False  # looked for there later, and not found


class Known(NamedTuple):
    """A state of the memory. Never changed; `told` gives the next one."""

    things: Mapping[Thing, Sighting] = {}
    facts: Mapping[tuple[str, str], tuple[Json, int, str]] = {}  # (subject, attribute) → value, seq, by
    here: Here = Here()
    seq: int = 0

    @property
    def immutable(self) -> bool:
        """The value is immutable, so holders need no copy."""
        return True

    def to_json(self) -> Json:
        return {
            "things": [[*thing, *sighting] for thing, sighting in self.things.items()],
            "facts": [[*key, *value] for key, value in self.facts.items()],
            "here": list(self.here),
            "seq": self.seq,
        }

    @classmethod
    def from_json(cls, data: Json) -> Known:
        return cls(
            {Thing(*row[:2]): Sighting(*row[2:]) for row in data["things"]},
            {(row[0], row[1]): (row[2], row[3], row[4]) for row in data["facts"]},
            Here(*data["here"]),
            data["seq"],
        )


def told(known: Known, notices: Iterable[Notice], seq: int, by: str = "") -> Known:
    """Returns the memory updated with these facts. Later facts replace earlier ones, in whatever order they arrive."""
    things, facts = dict(known.things), dict(known.facts)
    for notice in notices:
        if isinstance(notice, Fact):
            if facts.get((notice.subject, notice.attribute), (None, -1, ""))[1] <= seq:
                facts[notice.subject, notice.attribute] = (notice.value, seq, by)
        else:
            _apply(things, notice, seq, by)
    return known._replace(things=things, facts=facts, seq=max(known.seq, seq))


def _apply(things: dict[Thing, Sighting], notice: Notice, seq: int, by: str) -> None:
    match notice:
        case Seen(thing, room, near):
            _see(things, thing, Sighting(room, near, "seen", seq, by))
        case PlacedThing(thing, room, near):
            _write(things, thing, Sighting(room, near, "placed", seq, by))
        case Held(thing):
            _write(things, thing, Sighting("", "", "held", seq, by))
        case Holding(held):
            for thing in held:
                _write(things, thing, Sighting("", "", "held", seq, by))
            for thing, old in list(things.items()):
                if old.how == "held" and thing not in held:  # let go without a word: nobody knows where
                    _write(things, thing, Sighting(old.room, old.near, "seen", seq, by, stale=True))
        case Looked(near, there):
            for thing, old in list(things.items()):
                if old.near == near and old.how != "held" and thing not in there and old.seq <= seq:
                    things[thing] = old._replace(stale=True, seq=seq, by=by)


def _write(things: dict[Thing, Sighting], thing: Thing, sighting: Sighting) -> None:
    old = things.get(thing)
    if old is None or old.seq <= sighting.seq:
        things[thing] = sighting


def _see(things: dict[Thing, Sighting], thing: Thing, new: Sighting) -> None:
    old = things.get(thing)
    if old is not None and old.seq <= new.seq:
        if old.how == "held":
            return  # what is in the hand is seen wherever one goes
        coarser = old.near and not new.near and new.room in ("", old.room)
        if coarser and not old.stale:
            return
        if not new.room and new.near == old.near:
            new = new._replace(room=old.room)
    _write(things, thing, new)


class WorkingMemory:
    """The memory of one run, kept on its board. `on=False` is the ablation: nothing is noticed, nothing recalled."""

    def __init__(self, board: Board, *, on: bool = True, noticer: Noticer = read) -> None:
        self._board, self._noticer, self.on = board, noticer, on
        board[KEY] = Known()

    def snapshot(self) -> Known:
        known: Known = self._board.get(KEY)
        return known

    def restore(self, known: Known) -> None:
        self._board[KEY] = known

    def observe(self, action: str, text: str, *, by: str = "") -> None:
        """Notes the facts of an observation: an agent did `action` and read `text`."""
        if self.on:
            known = self.snapshot()
            notices, here = self._noticer(action, text, known.here, known.things)
            self.restore(known._replace(here=here))
            self.notice(notices, by=by)

    def notice(self, notices: Iterable[Notice], *, seq: int | None = None, by: str = "") -> None:
        """Takes in facts that the world itself states."""
        if self.on:
            known = self.snapshot()
            self.restore(told(known, notices, known.seq + 1 if seq is None else seq, by))

    def skills(self, kinds: Iterable[str]) -> list[str]:
        """The sentences that an agent may choose, one for each kind of movable thing."""
        return [RECALL.format(thing=kind) for kind in kinds] if self.on else []

    def answer(self, sentence: str) -> str | None:
        """The answer to a recall; None when the sentence is no recall, or recalling is switched off."""
        asked = _ASKED.fullmatch(sentence.strip())
        return recall(self.snapshot(), asked[1]) if asked and self.on else None

    def fact(self, subject: str, attribute: str) -> Json:
        found = self.snapshot().facts.get((subject, attribute))
        return found[0] if found else None


Noticer = Callable[[str, str, Here, Mapping[Thing, Sighting]], tuple[Sequence[Notice], Here]]


def recall(known: Known, asked: str) -> str:
    """Returns a sentence for each thing that was asked for, in the order first seen: `apple` for every apple, `apple 2`
    for that one."""
    found = _of(known, asked.strip())
    if not found:
        return f"You have not seen {asked.strip()} before."
    return " ".join(_sentence(thing, sighting) for thing, sighting in found)


def _of(known: Known, asked: str) -> list[tuple[Thing, Sighting]]:
    same = asked.casefold()
    found = [(t, s) for t, s in known.things.items() if t.kind.casefold() == same]
    numbered = _NUMBERED.fullmatch(asked)
    if not found and numbered:
        same, number = numbered[1].casefold(), int(numbered[2])
        found = [(t, s) for t, s in known.things.items() if t.kind.casefold() == same and t.number == number]
    return found


def _sentence(thing: Thing, sighting: Sighting) -> str:
    name = name_of(thing)
    if sighting.how == "held":
        return f"You hold {name}."
    where = (f" near {sighting.near}" if sighting.near else "") + (f" in {sighting.room}" if sighting.room else "")
    gone = ", but not when you looked there again" if sighting.stale and where else ""
    return f"You saw {name}{where}{gone}." if where else f"You saw {name}, but you do not know where it is now."
