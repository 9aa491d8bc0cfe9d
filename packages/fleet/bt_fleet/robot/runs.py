"""Runs of a robot's tasks as child processes: a worker that waits is handed a task. It takes the next one too
while each succeeds and leaves nothing behind; else another worker does."""

from __future__ import annotations

import asyncio
import json
import math
import os
import signal
import subprocess
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bt_fleet.coordinator.bid import Known
from bt_fleet.robot.held import Held, Own
from bt_fleet.robot.plan import Place
from bt_fleet.robot.runner import Outcome, Refused
from bt_fleet.store import record
from bt_fleet.store.replica import restored
from bt_fleet.store.task import Task, placed
from bt_runtime.journal.folder import last_begun
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import child

if TYPE_CHECKING:
    from bt_fleet.versions.versions import Versions

_WORKER = "bt_fleet.cli.worker"
_GUESS = 60.0  # seconds that a task of an unknown tree is expected to take
ANEW = 3.0  # seconds after which a tree that could not be run here is looked at again: somebody may have mended it
_TRIES = 3  # times that a run which was killed is gone on with
_INTERRUPTED = 130
_MOST = 200  # tasks of one worker: what leaks in a process stays small


class Worker:
    """One process. It answers questions, and runs tasks of one version, one after the other."""

    def __init__(self, folder: Path, fleet: Mapping[str, str] | None = None) -> None:
        self.version, self.tasks = "", 0  # (version imported, number of tasks run)
        self._log = (folder / "worker.log").open("ab")
        words = [*child.python(_WORKER)]
        self.process = child.start(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log,
                                   start_new_session=True, env=child.environment(**(fleet or {})))  # fmt: skip
        self._lock = asyncio.Lock()

    async def ask(
        self, question: Mapping[str, Any], copy: Callable[[], Awaitable[str]] | None = None
    ) -> dict[str, Any] | None:
        """Returns the answer; None when the process ended without one. `copy` is called whenever the process asks that
        the store take its journal."""
        async with self._lock:
            assert self.process.stdout is not None
            while self._tell(question):
                line = await _line(self.process.stdout.fileno())
                answer: dict[str, Any] | None = json.loads(line) if line else None
                if answer is None or copy is None or "copy" not in answer:
                    return answer
                question = {"copied": answer["copy"], "why": await copy()}
            return None

    def _tell(self, question: Mapping[str, Any]) -> bool:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(question).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            return False
        return True

    def signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            self.process.send_signal(number)

    def close(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        child.end(self.process, patience=0.2, group=True)
        self._log.close()


async def _line(descriptor: int) -> bytes:
    """Reads one line from a pipe without a thread."""
    loop, done, pieces = asyncio.get_running_loop(), asyncio.Event(), bytearray()
    os.set_blocking(descriptor, False)

    def readable() -> None:
        piece = os.read(descriptor, 65536)
        pieces.extend(piece)
        if not piece or piece.endswith(b"\n"):
            done.set()

    loop.add_reader(descriptor, readable)
    try:
        await done.wait()
    finally:
        loop.remove_reader(descriptor)
    return bytes(pieces)


def _why(answer: Mapping[str, Any], folder: Path) -> str:
    """Says in words why a run has failed: the node and its reason, else the last words of the command."""
    said = answer["result"] or {}
    reason, path = said.get("reason") or said.get("why") or "", said.get("path") or ""
    if reason or path:
        return f"{path}: {reason}" if path and reason else reason or f"{path} failed"
    return answer.get("said") or f"it ended with exit status {answer['exit']}: see {folder}/worker.log"


async def _nowhere(own: Own) -> str:
    return ""


class Runs:
    """The robot's runner: journals in `folder`, one subfolder for each term of a task."""

    def __init__(
        self, folder: Path, held: Held, places: Mapping[str, Place] | None = None,
        fleet: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.folder, self.held, self.places = folder, held, places or {}
        self.versions: Versions | None = None  # the fleet's versions of trees, for tasks that name one
        self.fleet = fleet  # variables by which a run finds the fleet, for shared entries and locks
        self.copied: Callable[[Own], Awaitable[str]] = _nowhere  # the agent's: has the store the run's journal?
        self._spare: Worker | None = None
        self._warm: Worker | None = None  # a worker that has run a task and may run the next of its version
        self._known: dict[str, dict[str, Any]] = {}
        self._refused: dict[str, float] = {}  # tree → moment at which it was last refused here
        self._at_work: dict[str, Worker] = {}
        self._stopping: set[str] = set()
        folder.mkdir(parents=True, exist_ok=True)

    def spare(self) -> Worker:
        if self._spare is None or self._spare.process.poll() is not None:
            self._spare = Worker(self.folder, self.fleet)
        return self._spare

    async def known(self, task: Task) -> Known:
        tree = await self.tree(task)
        if tree not in self._known or time.monotonic() - self._refused.get(tree, math.inf) > ANEW:
            answer = await self.spare().ask({"known": tree})
            if answer is None:
                raise BtError("its worker process ended", f"see {self.folder}/worker.log")
            self._known[tree] = answer
            self._refused.pop(tree, None)
            if "cannot" in answer:
                self._refused[tree] = time.monotonic()
        found = self._known[tree]
        if "cannot" in found:
            raise BtError(found["cannot"], "btr validate tells more, in the folder of the robot")
        if odd := sorted(set(task.inputs) - set(found["inputs"])):
            raise BtError(f"{task.tree} has no input `{odd[0]}`", "the tree's `inputs:` names them")
        named = [
            self.places[value] for value in task.inputs.values() if isinstance(value, str) and value in self.places
        ]
        takes = self.held.expected(task.tree, found["takes"] or _GUESS)
        return Known(round(takes, 3), found["policy"], *((named[0], named[-1]) if named else ()))

    async def tree(self, task: Task) -> str:
        """Returns what the task's tree is called here: the file of its version, or as the project calls it."""
        if not task.digest:
            return placed(task.tree)
        if self.versions is None:
            raise BtError(f"takes no versions of {task.tree}", "btr fleet join --signed-by KEY")
        return str(await self.versions.path(task.tree, task.digest))

    def path(self, own: Own) -> Path:
        return self.folder / f"{own.task.id}-{own.term}"

    async def run(self, own: Own, again: bool) -> Outcome:
        place = self.path(own)
        self._stopping.discard(own.task.id)
        for _ in range(_TRIES):
            place.mkdir(exist_ok=True)
            words = ["runs", "resume", "last"]
            if self.journal(own) is None:
                words = ["run", await self.tree(own.task), *own.task.words()[1:], "--plain"]
            outcome: Outcome | None = Outcome(None, "stopped")
            if own.task.id not in self._stopping:  # it may have been told so while the tree was looked for
                outcome = await self._once(own, [*words, "--json", "--runs", str(place)])
            if outcome is None and own.task.id in self._stopping:
                outcome = Outcome(None, "stopped")
            if outcome is not None:
                return outcome
        return Outcome(record.FAILURE, f"its process was killed {_TRIES} times")

    def _taken(self, version: str) -> Worker:
        """Returns the worker for the next task: the warm one of this version, else one that has run none."""
        worker, self._warm = self._warm, None
        if worker is not None and worker.version == version and worker.process.poll() is None:
            return worker
        if worker is not None:
            worker.close()
        worker, self._spare = self.spare(), None
        worker.version = version
        return worker

    async def _once(self, own: Own, words: list[str]) -> Outcome | None:
        worker, answer = self._taken(own.task.digest or ""), None
        self._at_work[own.task.id] = worker
        try:
            moves = own.policy == record.MOVES
            question = {"words": words, "folder": str(self.path(own)), "copies": moves}
            answer = await worker.ask(question, (lambda: self.copied(own)) if moves else None)
        finally:
            del self._at_work[own.task.id]
            worker.tasks += 1
            ends = answer is None or answer.get("ends", True) or own.task.id in self._stopping
            if ends or worker.tasks >= _MOST:
                worker.close()
                self.spare()
            else:
                self._warm = worker
        if answer is not None and "stale" in answer:
            return await self._once(own, words)
        if answer is None or answer["exit"] is None:
            return None
        said = answer["result"] or {}
        if answer["exit"] == _INTERRUPTED or said.get("status") == "INTERRUPTED":
            return Outcome(None, said.get("reason", ""))
        if answer["exit"] == 0:
            return Outcome(record.SUCCESS, said.get("reason") or said.get("why") or "", said.get("outputs"))
        return Outcome(record.FAILURE, _why(answer, self.folder), said.get("outputs"))

    def stop(self, task: str) -> None:
        self._stopping.add(task)
        if (worker := self._at_work.get(task)) is not None:
            worker.signal(signal.SIGTERM)

    def journal(self, own: Own) -> Path | None:
        return last_begun(self.path(own))

    async def move_in(self, own: Own, pieces: list[bytes]) -> None:
        self.path(own).mkdir(exist_ok=True)
        with suppress(BtError):  # nothing whole has come: it begins anew
            moved = restored(pieces, self.path(own) / "moved.part")
            answer = await self.spare().ask({"moved": str(moved), "tree": await self.tree(own.task)})
            if answer is None or answer["why"]:
                raise Refused(answer["why"] if answer else "its worker process ended")
            moved.rename(moved.with_name("moved.btr"))

    async def close(self) -> None:
        for worker in (*self._at_work.values(), self._spare, self._warm):
            if worker is not None:
                worker.close()
