"""Turns a run, live or recorded, into events of the page, tick by tick."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bt_runtime.events import NAMES
from bt_runtime.journal.codec import WORKING_MEMORY, patch
from bt_runtime.run.view.event import Event
from bt_runtime.run.view.plain import MOST_TEXT, clipped, plain, weight
from bt_runtime.run.view.scene import bounded
from bt_runtime.types import Json

MOST_BOARD = 4_000_000  # characters of all values that are shown at once
TOO_MUCH = "… too much to show beside the others"
_TOLD = frozenset(NAMES.values()) - {"goal", "prompt"}
_OWN = ("path", "id", "what", "k", "t")  # fields that the page gives a meaning
MOST_SOURCE = 400_000  # characters of one file
MOST_WAY = 200  # statuses of one node in one tick
_GIST = 120  # characters of a goal beside its node


class Teller:
    """Converts journal notes, given as (kind, body), to events, without access to the run."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}  # path → the node behind its guards
        self.paths: dict[int, str] = {}
        self.rows: dict[int, list[Json]] = {}  # rows of nodes as last sent to the page
        self.statuses: dict[int, str] = {}
        self.goals: dict[int, str] = {}
        self.board: dict[tuple[str, str], Json] = {}
        self.sizes: dict[tuple[str, str], int] = {}  # size of each value on the board
        self.picture: Json = None  # the world's picture as last sent
        self.sources: dict[tuple[str, str], int] = {}  # a file and its text → the number under which it was told
        self.writers: dict[tuple[str, str], dict[int, None]] = {}  # entry → the nodes that may write it
        self.writes: dict[int, list[tuple[str, str]]] = {}  # … and the other way round
        self.early: list[tuple[str, dict[str, Any]]] = []  # this tick's events of nodes that the page does not know yet
        self.number = 0  # the tick's number
        self.time = 0.0
        self.out: list[Event] = []

    def tick(
        self, number: int, at: float, entries: Iterable[tuple[str, Mapping[str, Any]]],
        statuses: Iterable[tuple[int, str]] = (), feedback: Iterable[tuple[int, str]] = (),
    ) -> list[Event]:  # fmt: skip
        """Returns the events of a tick or a part of it: shape first, then notes, then changed statuses."""
        self.time, self.out = max(self.time, at), []
        told = list(entries)
        gone = self._shape(told)
        self._facts(told)
        early, self.early, self.number = self.early if number == self.number else [], [], number
        ways = self._ways(statuses)
        writes: dict[tuple[str, str], tuple[str, Mapping[str, Any]]] = {}  # the last of each entry
        for kind, body in (*early, *told):
            if kind == "unset":
                writes.update(((str(body["scope"]), name), (kind, {})) for name in body["names"])
            elif kind in ("blackboard", "write"):
                writes[str(body["scope"]), str(body["name"])] = kind, body
            else:
                self._entry(kind, dict(body))
        for key, (kind, body) in writes.items():
            if kind == "unset":
                self._unset(key)
            else:
                self._write(*key, body["value"], self._by(key, kind, body, ways))
        for left in gone:
            if left not in self.rows:
                self.paths.pop(left, None)
        anew = {str(n): way[-MOST_WAY:] for n, way in ways.items() if len(way) > 1 or way == self.statuses[n]}
        changed = self._changes(ways, feedback)
        if number and (changed or self.out):
            self._say("tick", n=number, s=changed, **({"w": anew} if anew else {}))
        return self.out

    def _ways(self, statuses: Iterable[tuple[int, str]]) -> dict[int, str]:
        """Maps each node to the statuses that it had in this tick; the node that changed last comes last."""
        ways: dict[int, str] = {}
        for number, letter in statuses:
            if number in self.statuses:
                ways[number] = ways.pop(number, "") + letter.upper()
        return ways

    def _say(self, k: str, **what: Json) -> None:
        self.out.append({"k": k, "t": self.time, **what})

    # The tree --------------------------------------------------------------------------------

    def _shape(self, told: Iterable[tuple[str, Mapping[str, Any]]]) -> list[int]:
        """Merges all changes of shape into one event; a removed node keeps its path until the tick's end."""
        add: list[Json] = []
        gone: list[int] = []
        order: dict[int, Json] = {}
        grafts: list[Json] = []
        for kind, body in told:
            if kind == "graft":
                text = clipped(f"{body['how']}\n{body['yaml']}".strip(), 4000)
                grafts.append({"path": str(body["path"]), "text": text})
            elif kind == "shape":
                left = [number for number in body["gone"] if number in self.rows]
                self._leave(left)
                gone += left
                add += [row for each in body["add"] if (row := self._stand(list(each))) is not None]
                order.update((int(parent), self._below(int(parent), below)) for parent, below in body["order"].items())
        if add or gone or order or grafts:
            first = not self.statuses and not grafts
            self._say("shape", add=add, gone=gone, order=order, **({} if first else {"grafts": grafts}))
        self.statuses.update((row[0], "I") for row in add)
        return gone

    def _stand(self, row: list[Json]) -> list[Json] | None:
        """Adds a node's row; None for a known one. A parent always precedes; damaged journals cannot form a cycle."""
        number, parent, segment = row[:3]
        if number in self.rows:
            return None
        if parent >= number:
            row[1] = parent = -1
        above = self.paths.get(parent, "")
        path = above if segment == "." else f"{above}/{segment}"
        self.numbers[path], self.paths[number], self.rows[number] = number, path, row
        return row

    def _below(self, parent: int, below: Iterable[int]) -> list[Json]:
        return [number for number in dict.fromkeys(below) if number in self.rows and self.rows[number][1] == parent]

    def _leave(self, gone: Iterable[int]) -> None:
        for number in gone:
            for kept in (self.rows, self.statuses, self.goals):
                kept.pop(number, None)
            path = self.paths[number]
            if self.numbers.get(path) == number:
                del self.numbers[path]
            for key in self.writes.pop(number, ()):
                self.writers[key].pop(number, None)

    def _facts(self, told: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
        """Emits the facts of new nodes; the first of them carries the source text."""
        for kind, body in told:
            if kind != "facts":
                continue
            nodes = [row for row in body["nodes"] if row["id"] in self.rows]
            for row in nodes:
                keys = [(scope, name) for way in row.get("writes", {}).values() for scope, name in way]
                keys += [
                    (self.paths[row["id"]], port[0]) for port in row.get("ports", ())
                ]  # a subtree writes its inputs
                self.writes[row["id"]] = keys
                for key in keys:
                    self.writers.setdefault(key, {})[row["id"]] = None
            source = str(body["file"]), clipped(str(body["text"]), MOST_SOURCE)
            new = source not in self.sources
            if nodes:
                number = self.sources.setdefault(source, len(self.sources))
                read = {"file": source[0], "text": source[1]} if new else {}
                self._say("facts", source=number, nodes=nodes, **read)

    def _changes(self, ways: Mapping[int, str], feedback: Iterable[tuple[int, str]]) -> list[Json]:
        """Returns `[number, status]` for each changed node, with its message if that is new."""
        found = {number: letters[-1] for number, letters in ways.items()}
        self.statuses.update(found)
        said = {number: clipped(text, 400) for number, text in feedback if number in self.statuses}
        return [
            [number, self.statuses[number], *([said[number]] if number in said else ())] for number in {**found, **said}
        ]

    # What was told ---------------------------------------------------------------------------

    def _entry(self, kind: str, body: dict[str, Any]) -> None:
        if kind == "log":
            text = clipped(str(body["text"]), 4000)
            self._say("line", path=str(body["path"]), level=str(body["level"]), text=text)
        elif kind == "crash":
            path, said = str(body["path"]), clipped(str(body["message"]), 2000)
            trace = {"traceback": clipped(str(body["traceback"]))} if body.get("traceback") else {}
            self._say("crash", path=path, id=self.numbers.get(path, -1), message=said, **trace)
        elif kind == "halted":
            ids = [number for number in body["nodes"] if number in self.paths]
            path = self.paths[ids[0]] if ids else ""
            self._say("halt", path=path, by=str(body["by"]), why=str(body["reason"]), ids=ids)
        elif kind == "spent":
            self._say("spent", **{name: int(count) for name, count in body.items()})
        elif kind == "seen" and (seen := bounded(body["picture"])) not in (None, self.picture):
            self.picture = seen
            self._say("world", picture=self.picture)
        elif kind in _TOLD or kind in ("goal", "prompt"):
            self._agent(kind, body)

    def _agent(self, kind: str, body: dict[str, Any]) -> None:
        number = self.numbers.get(str(body.get("path", "")))
        if number is None:
            self.early.append((kind, body))  # the next part of this tick may have its node
            return
        if body.get("goal") and (kind == "goal" or (number not in self.goals and kind == "end")):
            self._goal(number, str(body["goal"]))
        if kind == "prompt":
            parts = {part: clipped(str(text)) for part, text in body.items() if part not in _OWN}
            self._say("agent", id=number, what="prompt", **parts)
        elif kind != "goal":
            told = {name: plain(value, MOST_TEXT) for name, value in body.items() if name not in _OWN}
            self.out.append({**told, "k": "agent", "t": self.time, "id": number, "what": kind})

    def _goal(self, number: int, goal: str) -> None:
        if self.goals.get(number) != goal:
            self.goals[number] = goal
            self._say("agent", id=number, what="goal", goal=clipped(goal, 2000))

    # The blackboard --------------------------------------------------------------------------

    def _by(self, key: tuple[str, str], kind: str, body: Mapping[str, Any], ways: Mapping[int, str]) -> Json:
        """The writer of an entry: a node that may write it and changed or runs in this tick, else a word. It is
        derived from the nodes' declared writes, because recording each writer would slow the tick."""
        if kind == "write":
            return str(body.get("by") or "outside")
        if not self.number:
            return "start"
        able = self.writers.get(key, {})
        changed = [number for number in ways if number in able]
        running = [number for number in able if self.statuses.get(number) == "R"] if not changed else []
        return changed[-1] if changed else running[0] if len(running) == 1 else ""

    def _unset(self, key: tuple[str, str]) -> None:
        self.sizes.pop(key, None)
        if self.board.pop(key, self) is not self:
            self._say("unset", scope=key[0], name=key[1])

    def _write(self, scope: str, name: str, value: Any, by: Json) -> None:
        if name == "goal" and isinstance(value, str):
            self._about(self.numbers.get(scope), clipped(value, _GIST))
        key = scope, name
        shown = self._fitting(key, plain(value))
        before = self.board.get(key)
        if key in self.board and before == shown:
            return
        self.board[key] = shown
        change = patch(before, shown) if name == WORKING_MEMORY else None
        self._say(
            "write",
            scope=scope,
            name=name,
            n=self.number,
            by=by,
            **({"value": shown} if change is None else {"patch": change}),
        )

    def _about(self, number: int | None, goal: str) -> None:
        """Labels a subtree's node with the goal that the subtree was given."""
        row = self.rows.get(-1 if number is None else number)
        if row is not None and row[3] == "tree" and row[6] != goal:
            row = self.rows[row[0]] = [*row[:6], goal]
            self._say("shape", add=[row], gone=[], order={})

    def _fitting(self, key: tuple[str, str], shown: Json) -> Json:
        """Bounds the total size of all values, besides the bound of each; a value beyond it is replaced by a note."""
        size = weight(shown)
        if sum(self.sizes.values()) - self.sizes.get(key, 0) + size > MOST_BOARD:
            shown, size = TOO_MUCH, len(TOO_MUCH)
        self.sizes[key] = size
        return shown
