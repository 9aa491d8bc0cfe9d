"""Many runs on one page: a table of journals, kept current while somebody looks, and the stream of each opened run."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from bt_runtime.journal import folder
from bt_runtime.journal.compare import differences
from bt_runtime.journal.glance import Glance
from bt_runtime.journal.layout import SUFFIX
from bt_runtime.journal.reading import Recording
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.run.replay.why import why_recorded
from bt_runtime.run.view.branches import branches
from bt_runtime.run.view.feed import Feed
from bt_runtime.run.view.listing import ABOUT, STUCK, about_row, alarm_of, run_row
from bt_runtime.run.view.recorded import JournalFollowing, JournalReader, events_of
from bt_runtime.run.view.table import Row, Table
from bt_runtime.types import Json

MOST_RUNS = 1000  # journals in the list: the latest
OFTEN = 0.5  # seconds between two looks, at least
SHARE = 0.07  # share of a core that looking again may take
BATCH = 20  # changed runs after which the page is told
MOST_OPEN = 8  # runs whose pages are served at a time
IDLE = 10.0  # seconds after which a live run's page that nobody has open is no longer followed


class Runs:
    """The journals of folders, and single journals. A thread looks at them only while a viewer reads the table.

    It rests in between, so that it takes at most `SHARE` of a core however many runs there are."""

    def __init__(
        self, places: Sequence[Path], *, panel: Collection[str] = (), stuck: float = STUCK,
        now: Callable[[], float] = time.time,
    ) -> None:  # fmt: skip
        self.places, self.panel, self.stuck, self.now = places, tuple(panel), stuck, now
        self.table = Table(now)
        self.glances: dict[Path, Glance] = {}
        self.keys: dict[Path, str] = {}
        self.numbers = count(1)
        for place in places:
            if not place.is_dir():
                self.keys.setdefault(place, str(next(self.numbers)))  # known before anybody looks
        self.left_out = 0
        self.over = threading.Event()
        self.opened = OpenedRuns(self.path)
        self._thread = threading.Thread(target=self._watch, name="bt-view-runs", daemon=True)

    def start(self) -> Runs:
        self._thread.start()
        return self

    def close(self) -> None:
        self.over.set()
        self.table.close()
        self.opened.close()
        if self._thread.ident is not None:
            self._thread.join(2)

    # Looking ---------------------------------------------------------------------------------

    def _watch(self) -> None:
        while not self.over.is_set():
            self.opened.rest()
            if not self.table.watched(IDLE):
                continue
            began = time.monotonic()
            self.look(rest=bool(self.glances))
            self.over.wait(max(0.0, began + OFTEN - time.monotonic()))

    def look(self, rest: bool = False) -> None:
        """Looks at each journal once. Journals that did not change are not opened."""
        since = time.thread_time()
        there = self._there()
        gone = [path for path in self.glances if path not in there]
        for path in gone:
            del self.glances[path]
        self.table.put({}, tuple(self.keys.pop(path) for path in gone))
        rows: dict[str, Row] = {ABOUT: self._about()}
        for path in there:
            one = self.glances.setdefault(path, Glance(path, self.panel))
            key = self.keys.setdefault(path, str(next(self.numbers)))
            if one.look() or one.running:
                rows[key] = self._row(one)
            if self.over.is_set():
                return
            if len(rows) >= BATCH:
                self.table.put(rows)
                rows = {}
                since = self._rest(since) if rest else since
        self.table.put(rows)
        if rest:
            self._rest(since)

    def _rest(self, since: float) -> float:
        """Waits until what was spent since then is at most `SHARE` of a core."""
        self.over.wait((time.thread_time() - since) / SHARE)
        return time.thread_time()

    def _there(self) -> dict[Path, None]:
        """The journals to show: all that were named, and the latest of each folder."""
        named = [place for place in self.places if not place.is_dir()]
        found = [path for place in self.places for path in _journals(place)]
        room = max(0, MOST_RUNS - len(named))
        if len(found) > room:
            found = sorted(found, key=folder.touched)
        self.left_out = max(0, len(found) - room)
        return dict.fromkeys([*named, *found[self.left_out :]])

    def _about(self) -> Row:
        places = [str(place.resolve()) for place in self.places]
        return about_row(places, panel=self.panel, stuck=self.stuck, left_out=self.left_out)

    def _row(self, one: Glance) -> Row:
        alarm = alarm_of(
            one.state, quiet=self.now() - one.progress, stuck=self.stuck, asking=one.running and bool(one.questions)
        )
        return run_row(
            one.name, one.state, file=str(one.path), tree=one.tree, why=one.why, tick=one.tick, started=one.started,
            progress=one.progress, at=one.at, said=one.said, decisions=one.decisions, actions=one.actions, met=one.met,
            alarm=alarm, fault=one.fault, asks=[*one.questions.values()], entries=one.entries,
        )  # fmt: skip

    # For the pages of single runs ------------------------------------------------------------

    def path(self, key: str) -> Path | None:
        return next((path for path, its in [*self.keys.items()] if its == key), None)

    def feed(self, key: str) -> Feed | None:
        return self.opened.feed(key)

    def command(self, name: str, given: dict[str, Any]) -> dict[str, Any]:
        """Answers a request of the list, of two runs side by side, or of the page of a run."""
        if name == "compare":
            return self.compare(given.get("run"), given.get("other"))
        path = self.path(str(given.get("run", "")))
        if path is None:
            raise BtError("this run is not in the list any more", "open the list again")
        if name == "branches":
            return self.branches(path)
        return answered(path, name, given)

    def branches(self, path: Path) -> dict[str, Json]:
        """Returns the forks of a run in the list, also before anybody has opened the list itself."""
        for each in self._there():
            self.keys.setdefault(each, str(next(self.numbers)))
            if each not in self.glances:
                self.glances.setdefault(each, Glance(each, self.panel)).look()
        return branches(self.glances[path], dict(self.glances), self.keys)

    def compare(self, one: Json, other: Json) -> dict[str, Json]:
        """Returns where two runs part: lines, and the tick of each line that has one. What a run that goes on has not
        reached yet is no difference."""
        paths = [self.path(key) if isinstance(key, str) else None for key in (one, other)]
        a, b = (Recording(path) if path is not None else None for path in paths)
        if a is None or b is None:
            raise BtError("one of these runs is not in the list any more", "choose two of the list")
        live = [run.last_tick - 1 for run in (a, b) if folder.is_live(run.path)]  # the last tick may not be whole
        found = differences(a, b, min(live, default=math.inf))
        lines = [{"text": text[:1000], "tick": tick} for text, tick in found]
        return {"runs": [a.name, b.name], "lines": lines, "live": bool(live)}


def answered(path: Path, name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Answers a request of the page about a recorded run."""
    if name != "why":
        raise BtError("this run is a recording", "the only command for it is `why`")
    where, at = given.get("path"), given.get("at")
    if not isinstance(where, str) or type(at) not in (int, type(None)):
        raise BtError("`why` needs a path", 'such as {"path": "/patrol/dock", "at": 12}')
    return {"sentences": why_recorded(path, where, at).sentences}


def _journals(place: Path) -> Iterator[Path]:
    return (p for p in place.glob(f"*{SUFFIX}") if p.is_file()) if place.is_dir() else iter(())


class OpenedRuns:
    """The streams of the runs whose pages are open. A stream is made when it is first asked for."""

    def __init__(self, path: Callable[[str], Path | None]) -> None:
        self.path = path
        self.feeds: dict[str, tuple[Feed, JournalFollowing | None]] = {}  # the latest asked for is the last
        self.idle: dict[str, float] = {}  # since when nobody reads
        self.lock = threading.Lock()

    def feed(self, key: str) -> Feed | None:
        """Returns the stream of a run; None for an unknown key. Raises BtError when the journal cannot be read."""
        path = self.path(key)
        if path is None:
            return None
        with self.lock:
            found = self.feeds.pop(key, None)
            self.feeds[key] = found if found is not None else _stream(path)
            self.idle.pop(key, None)
            for old in [k for k, (feed, _) in self.feeds.items() if not feed.readers and k != key]:
                if len(self.feeds) > MOST_OPEN:
                    self._end(old)
            return self.feeds[key][0]

    def leave(self, key: str) -> None:
        """Forgets the stream of a run that nobody reads: the next one is made anew."""
        with self.lock:
            if key in self.feeds and not self.feeds[key][0].readers:
                self._end(key)

    def rest(self) -> None:
        """Ends following runs whose pages were closed a while ago."""
        with self.lock:
            now = time.monotonic()
            for key, (feed, following) in [*self.feeds.items()]:
                if feed.readers or following is None:
                    self.idle.pop(key, None)
                elif now - self.idle.setdefault(key, now) > IDLE:
                    self._end(key)

    def close(self) -> None:
        with self.lock:
            for key in [*self.feeds]:
                self._end(key)

    def _end(self, key: str) -> None:
        feed, following = self.feeds.pop(key)
        self.idle.pop(key, None)
        feed.close()
        if following is not None:
            following.close()


def _stream(path: Path) -> tuple[Feed, JournalFollowing | None]:
    feed = Feed(most=None)
    if path.suffix == SUFFIX and (reader := JournalReader(path)).live:
        return feed, JournalFollowing(reader, feed)
    feed.put(*events_of(path))
    feed.close()
    return feed, None
