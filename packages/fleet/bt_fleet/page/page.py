"""The page of a fleet: a row for each robot and task, questions in one inbox, halts, and the trees of runs at hand."""

from __future__ import annotations

import logging
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from bt_fleet.coordinator.coordinator import LEASE
from bt_fleet.face import Fleet
from bt_fleet.page import metrics
from bt_fleet.page.following import follow
from bt_fleet.page.growing import Growing
from bt_fleet.store.record import ASSIGNED, DONE, DOUBT, STARTED, SUCCESS, Record
from bt_robots.telemetry.metrics import KIND
from bt_runtime.journal.folder import touched
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import address, real
from bt_runtime.run.view.feed import Feed
from bt_runtime.run.view.listing import ABOUT, about_row, run_row
from bt_runtime.run.view.page import asset
from bt_runtime.run.view.runs import OpenedRuns, answered
from bt_runtime.run.view.server import Server
from bt_runtime.run.view.table import Row, Table
from bt_runtime.types import Json

OFTEN = 0.1  # seconds between two changes of the table
MOST_DONE = 500  # tasks that are done and still shown: the latest
MOST_GROWING = 8  # runs elsewhere that are copied while they go on
FORGOTTEN = 5.0  # seconds after which a question that is not told again counts as withdrawn
MOST_ASKED = 20  # open questions of one robot: the latest
_LOG = logging.getLogger(__name__)


class FleetRows:
    """Brings the rows of a fleet's page, and does what its buttons say."""

    def __init__(
        self, fleet: Fleet, lease: float = LEASE, now: Callable[[], float] = time.time, runs: Sequence[Path] = ()
    ) -> None:  # fmt: skip
        """`runs`: folders of this machine whose journals are opened where robots say that theirs lie there."""
        self.fleet, self.lease, self.now, self.runs = fleet, lease, now, [real(each) for each in runs]
        self.table = Table(now)
        self.opened = OpenedRuns(self.path)
        self.records: dict[str, Record] = {}
        self.beats: dict[str, tuple[float, dict[str, Any]]] = {}
        self.questions: dict[str, tuple[float, dict[str, Any]]] = {}
        self.answers: dict[str, tuple[str, str]] = {}  # question → (who answered it here, answer)
        self._unheard: set[str] = set()  # answered questions whose robot still asks
        self._dirty: set[str] = set()
        self._copies = tempfile.TemporaryDirectory(prefix="btr-fleet-")
        self._growing: dict[str, Growing] = {}  # copies of runs elsewhere, by task, the oldest first
        self._numbers = count()
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._end: Callable[[], None] = lambda: None
        self._thread = threading.Thread(target=self._work, name="fleet-page", daemon=True)

    def start(self) -> FleetRows:
        self._end = follow(self.fleet, self.changed, self.alive, self.told)
        self._thread.start()
        return self

    def close(self) -> None:
        self._over.set()
        for each in self._growing.values():
            each.close()
        self.table.close()
        self.opened.close()
        self._copies.cleanup()
        if self._thread.ident is not None:
            self._thread.join(2)
            self._end()

    # What happens ------------------------------------------------------------------------------

    def changed(self, held: Record) -> None:
        with self._lock:
            self.records[held.task.id] = held
            self._dirty.add(f"task {held.task.id}")

    def alive(self, robot: str, beat: Mapping[str, Any]) -> None:
        with self._lock:
            self.beats[robot] = self.now(), dict(beat)
            self._dirty.add(f"robot {robot}")

    def told(self, robot: str, what: str, body: Mapping[str, Any]) -> None:
        if what != "asks":
            return
        with self._lock:
            mine = [id for id, (_, question) in self.questions.items() if question["robot"] == robot]
            id, open = body["id"], body["open"]
            if id in mine and not open:
                del self.questions[id]
                self._unheard.discard(id)
            elif open and (id in mine or id not in self.questions):
                if id in self.answers:
                    self._unheard.add(id)
                self.questions[id] = self.now(), {**body, "robot": robot}
                if id not in mine and len(mine) >= MOST_ASKED:
                    del self.questions[mine[0]]
            self._dirty.add(f"robot {robot}")

    def _work(self) -> None:
        while not self._over.wait(OFTEN):
            try:
                self.opened.rest()
                self.look()
                self.repeat()
            except Exception:  # the next change is shown again
                _LOG.exception("the page's table was not brought up to date")

    def look(self) -> None:
        """Puts the rows that have changed into the table."""
        now, gone = self.now(), []
        with self._lock:
            for id, (heard, question) in [*self.questions.items()]:
                if now - heard > FORGOTTEN:
                    del self.questions[id]
                    self.answers.pop(id, None)  # when it is asked again, the person has to answer it again
                    self._dirty.add(f"robot {question['robot']}")
            late = {f"robot {name}" for name, (heard, _) in self.beats.items() if now - heard > self.lease}
            dirty, self._dirty = self._dirty | late, set()
            done = sorted((held.since, id) for id, held in self.records.items() if held.state == DONE)
            for _, id in done[:-MOST_DONE]:
                del self.records[id]
                gone.append(f"task {id}")
            rows = {key: row for key in dirty if (row := self._row(key)) is not None}
            rows[ABOUT] = about_row([self.fleet.address.url], left_out=max(0, len(done) - MOST_DONE))
        self.table.put(rows, tuple(gone))

    def _row(self, key: str) -> Row | None:
        sort, _, name = key.partition(" ")
        if sort == "task":
            held = self.records.get(name)
            return self._task(held, key) if held is not None else None
        return self._robot(name, key)

    def _robot(self, name: str, key: str) -> Row:
        heard, beat = self.beats.get(name, (0.0, {}))
        lost = self.now() - heard > self.lease
        asks = [{"id": id, "text": q["text"], "robot": name} for id, (_, q) in self.questions.items()
                if q["robot"] == name]  # fmt: skip
        task = beat.get("running")
        state = "lost" if lost else "halted" if beat.get("halted") else "running" if task else "idle"
        held = self.records.get(str(task))
        said = [f"{beat.get('plan', 0)} planned", *(["drains"] if beat.get("draining") else [])]
        alarm = "stuck" if lost else "asks" if asks else ""
        row = run_row(
            name, state, tree=held.task.tree if held is not None else "", why=str(beat.get("halted") or ""),
            progress=heard, at=f"task {task}" if task else "", said=", ".join(said), alarm=alarm,
            asks=[str(q["text"]) for q in asks], page=self.begun(key), started=2e9,
        )  # fmt: skip
        return {**row, "sort": "robot", "questions": asks}

    def _task(self, held: Record, key: str) -> Row:
        state = {SUCCESS: "SUCCESS", "failure": "FAILURE"}.get(held.verdict or "", held.verdict or held.state)
        state = "running" if held.state == STARTED else state
        lease = f"with {held.robot}, term {held.term}" if held.robot and held.state != DONE else held.robot or ""
        row = run_row(
            held.task.id, state, tree=held.task.tree, why=held.reason, started=held.sent, progress=held.since, at=lease,
            said=held.version[:8], alarm="stuck" if held.state == DOUBT else "", page=self.begun(key),
        )  # fmt: skip
        return {**row, "sort": "task"}

    def metrics(self) -> str:
        """Returns the fleet's counters for Prometheus."""
        with self._lock:
            asks = Counter(str(question["robot"]) for _, question in self.questions.values())
            return metrics.text(dict(self.beats), list(self.records.values()), asks, self.now())

    # What a person does ------------------------------------------------------------------------

    def named(self, key: str) -> tuple[str, str]:
        """Returns the task whose run a row leads to, and its robot; "" where there is none."""
        sort, _, name = key.partition(" ")
        task = str(self.beats.get(name, (0.0, {}))[1].get("running") or "") if sort == "robot" else name
        held = self.records.get(task)
        return task, held.robot or "" if held is not None else ""

    def here(self, key: str) -> Path | None:
        """Returns the journal of a row's run, where it lies on this machine and grows there."""
        task, robot = self.named(key)
        named = self.beats.get(robot, (0.0, {}))[1].get("runs")
        folder = real(named) if named and task else None
        if folder is None or not any(folder.is_relative_to(each) for each in self.runs):
            return None
        found = [path for path in folder.glob(f"{task}-*/*.btr") if real(path).is_relative_to(folder)]
        return max(found, key=touched, default=None)

    def begun(self, key: str) -> bool:
        """True when a row's run has begun: then its journal is here or in the store."""
        held = self.records.get(self.named(key)[0])
        return held is not None and held.term > 0 and held.state != ASSIGNED

    def path(self, key: str) -> Path | None:
        """Returns the journal of a row's run: as it grows here, or as the store gets it while the run goes on."""
        path, task = self.here(key), self.named(key)[0]
        if path is not None or not self.begun(key):
            return path
        growing = self._growing.get(task)
        if growing is not None and growing.live:
            return growing.path
        path = Path(self._copies.name) / f"{task}-{next(self._numbers)}.btr"
        if self.records[task].state != STARTED:
            return self.fleet.journal(task, path)
        self._growing[task] = Growing(self.fleet, task, path)
        if len(self._growing) > MOST_GROWING:
            self._growing.pop(next(iter(self._growing))).close()
        return path

    def feed(self, key: str) -> Feed | None:
        """Returns the events of a run's page. The copy of a run elsewhere that has ended is made anew."""
        growing = self._growing.get(self.named(key)[0])
        if self.here(key) is None and not (growing is not None and growing.live):
            self.opened.leave(key)
        return self.opened.feed(key)

    def command(self, name: str, given: dict[str, Any]) -> dict[str, Json]:
        by, robot = str(given.get("by") or "the page"), given.get("robot")
        if robot is not None and (not isinstance(robot, str) or robot not in self.beats):
            raise BtError(f"there is no robot {robot!s:.60}", "open the page again")
        if name == "halt":
            return {"answered": list[Json](self.fleet.halt("", robot, by))}
        if name == "release":
            return {"answered": list[Json](self.fleet.release(robot, by=by))}
        if name == "answer":
            return self.answer(str(given.get("id")), str(given.get("text", "")), by)
        path = self.path(str(given.get("run", "")))
        if path is None:
            raise BtError("this run has not begun, or its journal is not in the store yet", "open it again")
        return answered(path, name, given)

    def answer(self, id: str, text: str, by: str) -> dict[str, Json]:
        """Answers a question of a run; the first answer counts. It is sent again until the robot asks no more."""
        with self._lock:
            if id not in self.questions or id in self.answers:
                who = self.answers[id][0] if id in self.answers else ""
                raise BtError(f"{who} answered it already" if who else "this question is not open any more", "")
            self.answers[id] = by, text
        try:
            self._send(id)
        except Exception:  # the answer can be given again
            with self._lock:
                self.answers.pop(id, None)
            raise
        return {"by": by}

    def repeat(self) -> None:
        """Sends the answers again to the robots that have asked again since."""
        with self._lock:
            unheard, self._unheard = self._unheard, set()
        for id in unheard:
            self._send(id)

    def _send(self, id: str) -> None:
        with self._lock:
            question, answer = self.questions.get(id), self.answers.get(id)
        if question is not None and answer is not None:
            by, text = answer
            self.fleet.answer(str(question[1]["robot"]), {"id": id, "text": text, "by": by})


def serve(rows: FleetRows, host: str = address.LOOPBACK, port: int = 0, anyone: bool = False) -> Server:
    """Serves the page. Whoever made the rows closes them."""

    def assets(path: str) -> tuple[bytes, str] | None:
        if path == "/metrics":
            return rows.metrics().encode(), KIND
        return asset("/fleet.html" if path == "/" else path)

    return Server(rows.table, rows.command, host=host, port=port, anyone=anyone, assets=assets, streams=rows.feed)
