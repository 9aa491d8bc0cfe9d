"""The record of a task: how it stands, and every change that it can go through. Values only; the store keeps them.

waiting → assigned → started → done; back to waiting when a robot returns it or is lost; in doubt when a lost robot may
have begun what must not be done twice. Nothing leads out of done.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from bt_fleet.server import forms, messages
from bt_fleet.server.names import SOMEBODY
from bt_fleet.store import task as tasks
from bt_fleet.store.task import Task
from bt_runtime.types import Json

WAITING, ASSIGNED, STARTED, DOUBT, DONE = "waiting", "assigned", "started", "in doubt", "done"
# What may be done when a robot is lost that has begun the task, by `on_resume` of the tree's skills.
REPEAT = "repeat"  # another one does it from the start
MOVES = "moves"  # another one goes on with the run, from its journal
STAYS = "stays"  # nobody else: the robot is asked when it is back, or a person
SUCCESS, FAILURE, CANCELLED, EXPIRED = "success", "failure", "cancelled", "expired"
_ACT = re.compile(r"(\d+\.\d+) ([^:]+) (sent|cancelled|settled) it(.*)")
VERDICTS = (SUCCESS, FAILURE, CANCELLED, EXPIRED)


@dataclass(frozen=True)
class Record:
    task: Task
    state: str = WAITING
    term: int = 0  # counts the assignments; what an earlier holder may do is decided by its own term
    robot: str | None = None  # robot that has the task, or had it when it came into doubt
    policy: str = STAYS  # policy that the robot read in the tree
    since: float = 0.0
    sent: float = 0.0
    cancel: bool = False  # somebody wants it to end
    verdict: str | None = None
    reason: str = ""
    outputs: Json = None
    resume: tuple[str, int] | None = None  # (robot, term) of the run to go on with
    refused: tuple[str, ...] = ()  # robots that had it and could not begin
    version: str = ""  # the digest of the tree that its robot runs; "": its own project's
    had: tuple[str, ...] = ()  # each robot that it was given to, with the term: only these may report on it
    history: tuple[str, ...] = ()

    def text(self) -> bytes:
        data = {name: value for name, value in asdict(self).items() if value not in (None, "", (), False)}
        return json.dumps({**data, "task": self.task.plain()}, separators=(",", ":")).encode()

    def _now(self, state: str, now: float, note: str, **more: Any) -> Record:
        line = f"{now:.3f} {' '.join(note.split())}"
        return replace(self, state=state, since=now, history=(*self.history[-39:], line), **more)

    def assigned(self, robot: str, policy: str, now: float, version: str = "") -> Record:
        had = (*self.had, f"{robot}.{self.term + 1}")
        return self._now(ASSIGNED, now, f"assigned to {robot}", robot=robot, policy=policy, term=self.term + 1,
                         reason="", had=had, version=version)  # fmt: skip

    def started(self, now: float) -> Record:
        return self._now(STARTED, now, f"{self.robot} began")

    def returned(self, now: float, why: str, refused: bool = False) -> Record:
        more = (self.robot,) if refused and self.robot else ()
        return self._now(WAITING, now, f"{self.robot} gave it back: {why}", robot=None,
                         refused=tuple(dict.fromkeys((*self.refused, *more))))  # fmt: skip

    def lost(self, now: float, begun: bool) -> Record:
        """The robot is not heard any more. `begun`: it may have begun."""
        note = f"{self.robot} is not heard"
        if self.task.to is not None:
            return (
                self
                if self.state == DOUBT or not begun
                else self._now(DOUBT, now, f"{note}, and nobody else may do it")
            )
        if not begun or self.policy == REPEAT:
            return self._now(WAITING, now, f"{note}, another robot does it", robot=None)
        if self.policy == MOVES and self.robot is not None:
            return self._now(
                WAITING, now, f"{note}, another robot goes on with it", robot=None, resume=(self.robot, self.term)
            )
        return self._now(DOUBT, now, f"{note}, and may have begun what must not be done twice")

    def found(self, now: float, begun: bool) -> Record:
        """The robot is back and has it still."""
        return self._now(STARTED if begun else ASSIGNED, now, f"{self.robot} is back and has it")

    def waits(self, why: str) -> Record:
        """Nobody can do it at present."""
        return self if self.cancel else replace(self, reason=why)

    def doubted(self, now: float, why: str) -> Record:
        return self._now(DOUBT, now, why)

    def cancelled(self, now: float, by: str = SOMEBODY, reason: str = "") -> Record:
        reason = reason[:500] or (self.reason if self.cancel else "")
        return self._now(self.state, now, f"{by} cancelled it{reason and f': {reason}'}", cancel=True, reason=reason)

    def again(self, now: float, by: str) -> Record:
        """A person lets any robot do what was in doubt."""
        return self._now(WAITING, now, f"{by} settled it: again", robot=None)

    def settled(self, verdict: str, now: float, by: str) -> Record:
        return self._now(DONE, now, f"{by} settled it: {verdict}", verdict=verdict, reason=f"settled by {by}")

    def done(self, verdict: str, now: float, reason: str = "", outputs: Json = None, by: str | None = None) -> Record:
        return self._now(DONE, now, f"{verdict}{f' ({by})' if by else ''}", verdict=verdict, reason=reason,
                         outputs=outputs, robot=by or self.robot)  # fmt: skip


def of(text: bytes) -> Record:
    """Reads a record; Malformed for what is none."""
    data: dict[str, Any] = messages.read(forms.RECORD, text)
    known = {name: value for name, value in data.items() if name in Record.__dataclass_fields__}
    for name in ("refused", "had", "history", "resume"):
        if name in known:
            known[name] = tuple(known[name])
    return Record(**{**known, "task": tasks.of(data["task"])})


def acts(held: Record) -> list[tuple[float, str, str]]:
    """Returns what persons did with a task: when, who, and what. What a robot says stands behind its name and a colon,
    or is none of these."""
    found = (_ACT.match(each) for each in held.history)
    return [(float(act[1]), act[2], f"{act[3]} {held.task.id}{act[4]}") for act in found if act is not None]


def folded(record: Record, report: Mapping[str, Any], now: float) -> Record | None:
    """Returns the record after a robot's report; None when it changes nothing. Reports may come twice and late."""
    if record.state == DONE:
        return None
    what, same = report["what"], report.get("term") == record.term and report.get("robot") == record.robot
    if what == "ended":
        return record.done(report["verdict"], now, report.get("reason", ""), report.get("outputs"), report["robot"])
    if not same:
        return None
    if what == "started" and record.state in (ASSIGNED, DOUBT):
        return record.started(now)
    if what == "doubt" and record.state in (ASSIGNED, STARTED):
        return record.doubted(now, f"{record.robot}: {report.get('reason', '')}")
    if what == "fenced" and record.state == STARTED:  # who fenced it may have died before the record said so
        return record.lost(now, begun=True)
    if what == "returned" and record.state in (ASSIGNED, STARTED, DOUBT):
        return record.returned(now, report.get("reason", ""), report.get("refused", False))
    return None
