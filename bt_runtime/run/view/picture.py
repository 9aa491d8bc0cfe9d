"""Sums up a stream of events into the current state. The page does the same in `fold.js`."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from bt_runtime.journal.codec import patched
from bt_runtime.run.view.event import Event
from bt_runtime.types import Json

MOST_TOLD = 400  # events of one agent that are kept
MOST_LINES = 500
MOST_PAST = 240  # values of one entry


@dataclass(slots=True)
class Spot:
    """The state of one node for drawing."""

    id: int
    parent: int
    row: list[Json]  # the node's row in the event `shape`
    children: list[int] = field(default_factory=list)
    status: str = "I"
    feedback: str = ""
    facts: dict[str, Json] = field(default_factory=dict)  # the node's facts from the events `facts` and `source`
    begun: int = 0  # how often
    ended: int = 0
    total: float = 0.0  # seconds, of all that have ended
    last: float = 0.0  # … of the last one
    began: float = 0.0  # moment of the node's last start
    since: float = 0.0  # moment of the last change of its status
    tick: int = 0  # … and in which tick
    acted: int = 0  # the tick in which it last ran, or ended

    def go(self, letter: str, at: float, tick: int) -> None:
        """Applies one change of status."""
        if letter != "I" and self.status != "R":
            self.begun, self.began = self.begun + 1, at
        if letter in "SF":
            self.ended, self.last = self.ended + 1, at - self.began
            self.total += self.last
        self.status, self.since, self.tick = letter, at, tick
        self.acted = tick if letter != "I" else self.acted

    def counts(self) -> list[Json]:
        return [self.begun, self.ended, self.total, self.last, self.began, self.since, self.tick, self.acted]

    def recount(self, counts: list[Json]) -> None:
        self.begun, self.ended, self.total, self.last, self.began, self.since, self.tick, self.acted = counts


class PagePicture:
    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.spots: dict[int, Spot] = {}
        self.told: dict[int, deque[Event]] = {}  # the latest events of each agent
        self.prompts: dict[int, Event] = {}
        self.goals: dict[int, Event] = {}
        self.board: dict[tuple[str, str], Event] = {}
        self.past: dict[tuple[str, str], deque[list[Json]]] = {}  # short values of each entry as [time, tick, value]
        self.sources: dict[int, Event] = {}  # the texts of files, by number
        self.lines: deque[Event] = deque(maxlen=MOST_LINES)  # lines, halts, crashes, grafts
        self.latest: dict[str, Event] = {}  # start, world, spent, hold, over: the last of each
        self.tick = 0
        self.time = 0.0
        for event in events:
            self.take(event)

    def take(self, event: Event) -> None:
        self.time = max(self.time, event.get("t", 0.0))
        match event["k"]:
            case "tick":
                self._tick(event)
            case "shape":
                self._shape(event)
            case "agent":
                self._agent(event)
            case "write":
                self._write(event)
            case "unset":
                self.board.pop((event["scope"], event["name"]), None)
            case "facts":
                self._facts(event)
            case "line" | "halt" | "crash":
                self.lines.append(event)
            case kind:
                self.latest[kind] = event

    def events(self) -> Iterator[Event]:
        """Yields the shortest stream of events that adds up to this state."""
        at = self.time
        if "start" in self.latest:
            yield self.latest["start"]
        order = {s.id: s.children for s in self.spots.values() if s.children}
        yield {"k": "shape", "t": at, "add": [s.row for s in self.in_order()], "gone": [], "order": order}
        shown = [[s.id, s.status, s.feedback] for s in self.spots.values() if s.status != "I" or s.feedback]
        counts = {str(s.id): s.counts() for s in self.spots.values() if s.begun}
        for number, source in self.sources.items():
            yield {**source, "nodes": [s.facts for s in self.spots.values() if s.facts.get("source") == number]}
        yield {"k": "tick", "t": at, "n": self.tick, "s": shown, "c": counts}
        for kept in (self.goals, self.prompts):
            yield from kept.values()
        yield from ({**event, "past": list(self.past.get(key, ()))} for key, event in self.board.items())
        for told in self.told.values():
            yield from told
        yield from self.lines
        yield from (event for kind, event in self.latest.items() if kind != "start")

    def in_order(self) -> Iterator[Spot]:
        """Yields nodes, parents first, children in order."""
        todo = [s.id for s in self.spots.values() if s.parent not in self.spots][::-1]
        while todo:
            spot = self.spots[todo.pop()]
            yield spot
            todo.extend(reversed(spot.children))

    @property
    def top(self) -> Spot | None:
        return next((s for s in self.spots.values() if s.parent not in self.spots), None)

    def below(self, spot: Spot) -> list[Spot]:
        return [self.spots[id] for id in spot.children if id in self.spots]

    def inner(self, spot: Spot) -> Spot:
        """Returns the node inside its guards."""
        while (below := self.below(spot)) and below[0].row[2] == ".":
            spot = below[0]
        return spot

    def path(self, spot: Spot) -> str:
        segments: list[str] = []
        at: Spot | None = spot
        while at is not None:
            if at.row[2] != ".":
                segments.append(str(at.row[2]))
            at = self.spots.get(at.parent)
        return "/" + "/".join(reversed(segments))

    def _tick(self, event: Event) -> None:
        self.tick = event["n"]
        ways = event.get("w", {})
        for id, status, *said in event["s"]:
            spot = self.spots.get(id)
            if spot is None:
                continue
            if str(id) in ways or status != spot.status:
                for letter in ways.get(str(id), status):
                    spot.go(letter, event["t"], event["n"])
            if said:
                spot.feedback = said[0]
        for id, counts in event.get("c", {}).items():
            self.spots[int(id)].recount(counts)

    def _shape(self, event: Event) -> None:
        for id in event.get("gone", ()):
            self.spots.pop(id, None)
            for kept in (self.told, self.prompts, self.goals):
                kept.pop(id, None)
        for row in event.get("add", ()):
            old = self.spots.get(row[0])
            if old is not None:
                old.parent, old.row = row[1], row  # a known node is told anew
            else:
                self.spots[row[0]] = Spot(row[0], row[1], row)
        for parent, children in event.get("order", {}).items():
            spot = self.spots.get(int(parent))
            if spot is not None:
                spot.children = list(children)
        for graft in event.get("grafts", ()):
            self.lines.append({"k": "line", "t": event["t"], "level": "graft", **graft})

    def _write(self, event: Event) -> None:
        key = event["scope"], event["name"]
        if "patch" in event and key in self.board:
            told = {k: v for k, v in event.items() if k != "patch"}
            event = {**told, "value": patched(self.board[key]["value"], event["patch"])}
        past = self.past.setdefault(key, deque(maxlen=MOST_PAST))
        if "past" in event:
            event = dict(event)
            past.extend(event.pop("past"))
        elif type(event["value"]) in (bool, int, float) or (type(event["value"]) is str and len(event["value"]) <= 200):
            if past and past[-1][1] == event["n"]:
                past.pop()  # only the last value of a tick is kept
            past.append([event["t"], event["n"], event["value"]])
        self.board[key] = event

    def _facts(self, event: Event) -> None:
        if "text" in event:
            self.sources[event["source"]] = event
        for row in event["nodes"]:
            if row["id"] in self.spots:
                self.spots[row["id"]].facts = {**row, "source": event["source"]}

    def _agent(self, event: Event) -> None:
        id = event["id"]
        if event["what"] == "prompt":
            self.prompts[id] = event
        elif event["what"] == "goal":
            self.goals[id] = event
        else:
            self.told.setdefault(id, deque(maxlen=MOST_TOLD)).append(event)
