"""A live run and its page: `with View(run) as view: print(view.url); run.spin()`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from types import MappingProxyType

from bt_runtime.events import Answered, Asked, Debugged
from bt_runtime.language.closing import Closing
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.ports import an, type_name
from bt_runtime.language.project.address import LOOPBACK
from bt_runtime.run.debug.commands import LOOKING, do, latest, status, travel_of
from bt_runtime.run.debug.debugger import debugger_of, debugging
from bt_runtime.run.person import Person
from bt_runtime.run.replay.stepping import stepping
from bt_runtime.run.replay.why import why_recorded
from bt_runtime.run.run import Run
from bt_runtime.run.view.feed import Feed
from bt_runtime.run.view.plain import clipped
from bt_runtime.run.view.server import Server
from bt_runtime.run.view.watch import RunWatch
from bt_runtime.tree.describe.gist import worded
from bt_runtime.types import Json

MOST_ASKED = 4_000  # characters of a question
SHARED = LOOKING | {"pause", "resume", "continue", "step", "answer"}  # commands of a page that other machines can reach
_NONE: Mapping[str, Json] = MappingProxyType({})


class View(Closing):
    """Serves the page until it is closed. Its buttons use the run's debugger, which pauses between two ticks."""

    def __init__(
        self, run: Run, *, host: str = LOOPBACK, port: int = 0, anyone: bool = False, paused: bool = False
    ) -> None:
        self.run = run
        self.feed, self.anyone = Feed(), anyone
        self.server = Server(self.feed, self.command, host=host, port=port, anyone=anyone)
        self.watch = RunWatch(run, self.feed)
        self.extra: dict[str, Callable[[Mapping[str, Json]], Json]] = {}  # commands of the caller, such as an editor's
        self.written: dict[tuple[str, str], tuple[Json, Json]] = {}  # entries: the value before, and the one from here
        person = getattr(
            run.parts.context.services.person, "inner", run.parts.context.services.person
        )  # behind a journal's
        self.person: Person | None = person if isinstance(person, Person) else None
        self.forks: list[View] = []  # the pages of runs that were forked here
        self._back = ExitStack()
        self._back.enter_context(stepping(run))
        self._undo: list[Callable[[], object]] = [run.listen(self._debugged, Debugged)]
        if self.person is not None:
            self._undo.append(run.listen(self._asks, Asked, Answered))
            self._asks()
        if paused:
            debugger_of(run).step()
            self._hold()

    @property
    def url(self) -> str:
        return self.server.url

    def command(self, name: str, given: Mapping[str, Json] = _NONE) -> Json:
        """Carries out a button press or a text entry from the page."""
        if name in self.extra and not self.anyone:
            return self.extra[name](given)
        if self.watch.ended:
            raise BtError("the run has ended", "start it again; `btr view` shows its journal")
        if name == "halt":
            self.run.halt("stopped from the page", "view", for_good=True)
            return {}
        if self.anyone and name not in SHARED:
            raise BtError(
                "this page is open to other machines, and only looks, answers, pauses, steps and halts",
                "for the rest open it on its own machine, without `--anyone`",
            )
        if name == "answer":
            self.answer(given)
            return {}
        if name in ("write", "unwrite"):
            self._write(given) if name == "write" else self._unwrite(given)
            return {}
        debugger = debugger_of(self.run)
        debugger.look()
        if name == "fork":
            return self.fork(given)
        if name == "why" and type(given.get("at")) is int and given["at"] != self.run.parts.engine.count:
            return self.why(str(given.get("path", "")), given["at"])
        if latest(debugger) is not debugger and name not in LOOKING:
            raise BtError(
                f"its fork {latest(debugger).run.parts.name} goes on, and this run waits for it", "end the fork first"
            )
        answer = do(debugger, "continue" if name == "resume" else name, {k: v for k, v in given.items() if k != "at"})
        if name not in LOOKING:
            self._hold()
        return answer

    def why(self, path: str, at: int) -> Json:
        """Explains a node as it was after an earlier tick."""
        journal = self.run.parts.journal
        if journal is None or journal.path is None:
            raise BtError("without a journal only the present is explained", "go to the latest tick")
        journal.settled()
        return {"sentences": why_recorded(journal.path, path, at).sentences}

    def fork(self, given: Mapping[str, Json]) -> Json:
        """Pauses the run, and goes on from an earlier tick as a run of its own, with a page of its own."""
        tick = given.get("tick")
        if type(tick) is not int:
            raise BtError("a fork begins at a tick", '{"do": "fork", "tick": 12}')
        debugger = debugger_of(self.run)
        if not debugger.paused:
            debugger.pause()
        travel = travel_of(debugger)
        travel.to(tick)
        said = travel.begin(given.get("anyway") is True)
        assert travel.fork is not None
        made = View(travel.fork.run)
        made.extra = dict(self.extra)
        self.forks.append(made)
        return {"url": made.url, "said": said}

    def _write(self, given: Mapping[str, Json]) -> None:
        """Writes an entry, and keeps the value before it so that it can be taken back."""
        key = (str(given.get("scope", "")), str(given.get("name", "")))
        before = write(self.run, given)
        self.written[key] = (self.written[key][0] if key in self.written else before, given.get("value"))
        self._tell_written()

    def _unwrite(self, given: Mapping[str, Json]) -> None:
        """Writes the value that stood there before somebody wrote on the page."""
        key = (str(given.get("scope", "")), str(given.get("name", "")))
        if key not in self.written:
            raise BtError(f"`{key[1]:.40}` was not written here", "look at the list of changes")
        write(self.run, {"scope": key[0], "name": key[1], "value": self.written[key][0]})
        del self.written[key]
        self._tell_written()

    def _tell_written(self) -> None:
        """Sends the entries that were written on the page."""
        rows = [
            {
                "scope": scope,
                "name": name,
                "text": f"{name} was {worded(before, 60)}, and {worded(value, 60)} was written",
            }
            for (scope, name), (before, value) in self.written.items()
        ]
        self.feed.put({"k": "written", "t": self.watch._now(), "rows": rows})

    def _debugged(self, event: Debugged) -> None:
        self._hold(event.text if event.what == "paused" else "")

    def _hold(self, why: str = "") -> None:
        """Sends the debugger's state to the page."""
        state = status(debugger_of(self.run))
        pause = debugger_of(self.run).pause_of
        told = {"on": state["paused"], "at": state["at"], "why": why, "then": pause.then}
        if pause.limit < math.inf:  # counted anew with every command
            told["limit"] = pause.limit
        edited = {each.number for each in debugger_of(self.run).replaced}
        changes = [{**each, "edited": True} if each["number"] in edited else each for each in state["changes"]]
        lists = {"points": state["breakpoints"], "changes": changes}
        self.feed.put({"k": "hold", "t": self.watch._now(), **told, **lists})

    def answer(self, said: Mapping[str, Json]) -> None:
        """Answers an open question."""
        number, text = said.get("id"), said.get("text")
        if self.person is None or type(number) is not int or not isinstance(text, str):
            raise BtError("an answer names a question that stands open, and says something", '{"id": 1, "text": "yes"}')
        self.person.answer(number, " ".join(text.split()))

    def _asks(self, event: Asked | Answered | None = None) -> None:
        """Sends all open questions whenever one opens or closes."""
        replies = [*self.person.open.values()] if self.person is not None else []
        open = [{"id": reply.number, "text": clipped(reply.question, MOST_ASKED)} for reply in replies]
        self.feed.put({"k": "asks", "t": self.watch._now(), "open": open})

    def finish(self) -> None:
        """Shows the run's end; the page stays open."""
        while self._undo:
            self._undo.pop()()
        debugger = debugging(self.run)
        if debugger is not None:
            debugger.pause_of.end()
        self._back.close()
        self.watch.end(self.run.status, self.run.parts.runner.stopped)
        self.watch.detach()

    def close(self) -> None:
        self.finish()
        for fork in self.forks:
            fork.close()
        self.server.close()


def write(run: Run, about: Mapping[str, Json]) -> Json:
    """Writes an entry for a person: in its declared type or, without one, in the type of its present value. Returns
    the value before."""
    board = run.parts.context.blackboard
    path, name = str(about.get("scope", "")), str(about.get("name", ""))
    scope = board.scopes.get(path)
    if scope is None or name not in scope.entries:
        where = f"of {path}" if path else "of the run"
        raise BtError(f"there is no entry `{name}` {where} any more", "look at the blackboard as it now stands")
    if "value" not in about:
        raise BtError("no value was given", 'a write looks like {"do": "write", "scope": "", "name": "n", "value": 3}')
    value, now = about["value"], scope.entries[name]
    declared = name in (scope.own if path else run.parts.tree.spec.ports)
    if not declared and now is not None and not _alike(now, value):
        raise BtError(
            f"`{name}` is {an(type_name(now))}, not {an(type_name(value))}: {value!r:.80}",
            f"write {an(type_name(now))}, or declare the entry `any`",
        )
    board.write(scope, {name: value}, "page")
    return now


def _alike(now: Json, value: Json) -> bool:
    number = isinstance(now, int | float) and not isinstance(now, bool)
    return type_name(now) == type_name(value) or (
        number and isinstance(value, int | float) and not isinstance(value, bool)
    )
