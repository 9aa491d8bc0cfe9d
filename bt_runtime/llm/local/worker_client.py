"""The tick process's side of the connection to a worker: a thread that sends, receives, and replaces a dead or hung
worker."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bt_runtime.language.faults.diagnostic import BtError, TooLong
from bt_runtime.llm.job import Answer
from bt_runtime.llm.local import spelling, wire
from bt_runtime.llm.local.process import Process
from bt_runtime.llm.settings import WorkerSettings
from bt_runtime.types import Question, Spent

_STARTING = 60.0  # seconds that a worker may take to its first sign of life, on however busy a machine
_STARTS = 2  # a worker that dies before it is ready twice in a row is given up


@dataclass(slots=True, eq=False)
class Ask:
    id: int
    question: Question
    job: Answer[Any]
    sent: bool = False
    tries: int = 0


@dataclass(slots=True, eq=False)
class Count:
    """A text to be counted. `tell` gets the number of its tokens, or why there is none."""

    text: str
    tell: Callable[[int | BtError], None]
    sent: bool = False
    tries: int = 0


class WorkerClient:
    """Owns the worker's thread. Only `post`, `cancel`, `ask_count` and `close` may be called from other threads."""

    def __init__(self, settings: WorkerSettings) -> None:
        self.settings = settings
        self.facts: dict[str, Any] = {}
        self.failed: BtError | None = None
        self.opened = threading.Event()  # ready or failed
        self.figures = dict.fromkeys(("asked", "answered", "failed", "cancelled", "restarts"), 0)
        self.spent = Spent()
        self._counts: dict[int, Count] = {}
        self._posted: deque[tuple[str, Any]] = deque()
        self._jobs: dict[int, Ask] = {}
        self._suspects: deque[int] = deque()  # were under way when a worker died: asked again one by one
        self._closing = False
        self._starts = 0
        self._ear, self._bell = socket.socketpair()
        self._ear.setblocking(False)
        self._bell.setblocking(False)
        self._process = Process(settings)
        self._thread = threading.Thread(target=self._run, name="btr-model", daemon=True)
        self._thread.start()

    # any thread

    def post(self, ask: Ask) -> None:
        self._post("ask", ask)
        if self.failed:
            self._refuse()  # the thread may have looked for the last time already

    def cancel(self, id: int) -> None:
        self._post("cancel", id)

    def ask_count(self, id: int, text: str, tell: Callable[[int | BtError], None]) -> None:
        self._post("count", (id, Count(text, tell)))
        if self.failed:
            self._refuse()

    def close(self) -> None:
        self._closing = True
        self._ring()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=10)

    @property
    def pid(self) -> int:
        return self._process.popen.pid

    def _post(self, kind: str, what: Any) -> None:
        self._posted.append((kind, what))
        self._ring()

    def _ring(self) -> None:
        with contextlib.suppress(OSError):  # the bell rings already, or the worker is gone
            self._bell.send(b"!")

    @property
    def moment(self) -> dict[str, int]:
        """Returns the number of jobs in the worker now, and of those under way when a worker died."""
        asks = [*self._jobs.values()]
        return {"under_way": sum(ask.sent for ask in asks), "suspects": sum(ask.tries > ask.sent for ask in asks)}

    # the thread

    def _run(self) -> None:
        try:
            while not self._closing:
                self._turn()
        except wire.Malformed as fault:
            self._give_up(
                BtError(
                    f"the worker of {self.settings.model} has sent what it may not: {fault}",
                    "nothing of it was used; the model file may be hostile: take it from where it was made",
                )
            )
        except Exception as fault:  # no fault may leave a job waiting for ever
            self._give_up(
                BtError(f"the line to the model broke: {fault!r}", "open it again; `btr doctor` looks at the model")
            )
        finally:
            self._give_up(BtError("the model was closed", "open it again, or ask before its run is closed"))
            self._process.kill()
            self._process.end()
            self._ear.close()
            self._bell.close()

    def _turn(self) -> None:
        process = self._process
        with selectors.DefaultSelector() as selector:
            selector.register(self._ear, selectors.EVENT_READ)
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if process.out else 0)
            selector.register(process.sock, events)
            ready = {key.fileobj: mask for key, mask in selector.select(self._patience_left())}
        if self._ear in ready:
            self._ear.recv(4096)
        self._take_posted()
        alive = self._exchange(ready.get(process.sock, 0))
        if not alive:
            self._replace("died")
        elif self._patience_left() == 0.0:
            process.kill()
            self._replace(f"gave no sign of life for {self.settings.patience:g} s")
        self._send_jobs()

    def _patience_left(self) -> float | None:
        """Seconds until the worker counts as hung; None while nothing is asked of it."""
        under_way = [ask.sent for ask in self._jobs.values()] + [count.sent for count in self._counts.values()]
        if self._process.ready and not any(under_way):
            self._process.heard = time.monotonic()
            return None
        patience = self.settings.patience if self._process.ready else max(self.settings.patience, _STARTING)
        return max(0.0, self._process.heard + patience - time.monotonic())

    def _exchange(self, mask: int) -> bool:
        """Sends and receives bytes. Returns False when the worker has closed the connection."""
        process = self._process
        try:
            if mask & selectors.EVENT_WRITE:
                del process.out[: process.sock.send(process.out)]
            if mask & selectors.EVENT_READ:
                data = process.sock.recv(1 << 18)
                if not data:
                    return False
                process.heard = time.monotonic()
                for message in process.inbox.add(data):
                    self._hear(message)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return True

    def _hear(self, message: wire.Message) -> None:
        kind, rest = spelling.heard(message)
        if kind == "answer":
            id, value, spent = rest
            ask = self._jobs.get(id)
            if ask is not None:
                answer = spelling.answer_of(value, message.numbers, ask.question)
                self._finish(id, spelling.spent_of(spent), value=answer)
        elif kind == "error":
            id, why, hint, spent, measure = rest
            error = TooLong(why, hint, *measure) if measure else BtError(why, hint)
            self._finish(id, spelling.spent_of(spent), error=error)
        elif kind == "counted":
            count = self._counts.pop(rest[0], None)
            if count is not None:
                count.tell(rest[1])
        elif kind == "note":
            self.facts = {**self.facts, "notes": [*self.facts.get("notes", ()), *rest]}
        elif kind == "ready":
            (self.facts,) = rest
            self._process.ready, self._starts = True, 0
            self.opened.set()
        elif kind == "failed":
            self._give_up(BtError(*rest))

    def _finish(self, id: int, spent: Spent, value: Any = None, error: BtError | None = None) -> None:
        ask = self._jobs.pop(id, None)
        if ask is None:
            return  # a late answer to a cancelled job
        self.figures["failed" if error else "answered"] += 1
        self.spent = self.spent.plus(spent)
        ask.job.finish(value, error, spent)

    def _take_posted(self) -> None:
        while self._posted:
            kind, what = self._posted.popleft()
            if kind == "count":
                self._counts[what[0]] = what[1]
                continue
            if kind == "cancel":
                ask = self._jobs.pop(what, None)
                if ask is not None:
                    self.figures["cancelled"] += 1
                    if ask.sent:
                        self._process.out += wire.frame("cancel", what)
                continue
            self.figures["asked"] += 1
            if not what.job.done:
                self._jobs[what.id] = what
            else:
                self.figures["cancelled"] += 1

    def _send_jobs(self) -> None:
        """Sends all waiting jobs. Jobs that were running when a worker died are sent alone, so that another crash shows
        which of them causes it."""
        if not self._process.ready:
            return
        for id, count in self._counts.items():
            if not count.sent:
                count.sent, count.tries = True, count.tries + 1
                self._process.out += wire.frame("count", id, count.text)
        self._suspects = deque(id for id in self._suspects if id in self._jobs)
        if self._suspects:
            wanted = [] if any(a.sent for a in self._jobs.values()) else [self._jobs[self._suspects[0]]]
        else:
            wanted = [ask for ask in self._jobs.values() if not ask.sent]
        for ask in wanted:
            ask.sent = True
            ask.tries += 1
            self._process.out += wire.frame("ask", ask.id, spelling.question_as(ask.question))

    def _replace(self, why: str) -> None:
        """Starts a new worker and repeats the running jobs."""
        if self._closing or self.failed:
            return
        process, was_ready = self._process, self._process.ready
        how, words = process.end(), process.words
        fault = BtError(
            f"the worker of {self.settings.model} {why} ({how})" + (f"; its last words:\n{words}" if words else ""),
            "the model file may be damaged, or memory short: `btr doctor` checks both",
        )
        self._starts += not was_ready
        for ask in list(self._jobs.values()):
            if ask.sent and ask.tries >= 2:
                self._finish(ask.id, Spent(), error=fault)
            elif ask.sent:
                ask.sent = False
                if ask.id not in self._suspects:
                    self._suspects.append(ask.id)
        for id, count in list(self._counts.items()):
            count.sent = False
            if count.tries >= 2:
                self._counts.pop(id).tell(fault)
        if self._starts >= _STARTS:
            self._give_up(fault)
            return
        self.figures["restarts"] += 1
        self._process = Process(self.settings)

    def _give_up(self, fault: BtError) -> None:
        """Fails every present and later job with this reason, because no worker can answer."""
        self.failed = self.failed or fault
        for id in list(self._jobs):
            self._finish(id, Spent(), error=fault)
        for id in list(self._counts):
            self._counts.pop(id).tell(self.failed)
        self._refuse()
        self.opened.set()
        self._closing = True

    def _refuse(self) -> None:
        """Refuses jobs that were posted too late. Callable from any thread."""
        with contextlib.suppress(IndexError):
            while True:
                kind, what = self._posted.popleft()
                if kind == "ask":
                    self.figures["asked"] += 1
                    self.figures["failed"] += 1
                    what.job.finish(error=self.failed)
                elif kind == "count" and self.failed is not None:
                    what[1].tell(self.failed)
