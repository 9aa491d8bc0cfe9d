"""Answers Open-RMF's task API: a request's category names a tree, its description holds the inputs."""

from __future__ import annotations

import hashlib
import logging
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from bt_fleet.server import messages
from bt_fleet.standards.rmf.messages import Kind, faults
from bt_fleet.store import record
from bt_fleet.store.record import Record
from bt_fleet.store.task import placed
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import address, disk
from bt_runtime.run.view.server import MOST_BODY, Server
from bt_runtime.types import Json

SHORTEST = 16  # characters of a token
_LOG = logging.getLogger(__name__)
_STATUS = {
    record.WAITING: "queued", record.ASSIGNED: "standby", record.STARTED: "underway", record.DOUBT: "blocked",
    record.SUCCESS: "completed", record.FAILURE: "failed", record.CANCELLED: "canceled", record.EXPIRED: "failed",
}  # fmt: skip
_PATHS: dict[str, Kind] = {
    "/tasks/dispatch_task": "dispatch_task_request", "/tasks/robot_task": "robot_task_request",
    "/tasks/cancel_task": "cancel_task_request",
}  # fmt: skip
# Requests of Open-RMF that a tree has no counterpart for; halts and forks are those of `btr fleet` and `btr`.
REFUSED = tuple(f"{what}_request" for what in (
    "interrupt_task", "resume_task", "rewind_task", "skip_phase", "undo_skip_phase", "kill_task", "activity_discovery",
    "task_discovery", "estimate_robot_task"))  # fmt: skip
Answer = dict[str, Json]


class RmfDesk(Protocol):
    """What the API needs of a fleet; `Fleet` has it."""

    def send(
        self, tree: str, inputs: Mapping[str, Json] | None = None, *, id: str | None = None, **more: Any
    ) -> Any: ...
    def show(self, task: str) -> Record: ...
    def ls(self) -> list[Record]: ...
    def cancel(self, task: str, reason: str = "") -> Record: ...


class Api:
    """The API of one fleet. `group`: what Open-RMF calls it."""

    def __init__(self, desk: RmfDesk, group: str = "btr") -> None:
        self.desk, self.group = desk, group

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, Json]:
        """Answers a request of HTTP: a status, and JSON. Never raises."""
        try:
            if method == "GET":
                found = self.get(path)
                return (404, _failed("not found", path[:200])) if found is None else (200, found)
            answer = self._posted(path, messages.parsed(body, "request", MOST_BODY))
            return (200 if answer["success"] else 404 if _kind(path) is None else 400), answer
        except BtError as error:
            code, what = (404, "not found") if method == "GET" else (400, "invalid request")
            return code, _failed(what, error.message)
        except Exception as error:  # the fleet's server does not answer: whoever asked is told
            _LOG.warning("%s %s: %r", method, path[:200], error)
            return 503, _failed("no answer", f"the fleet does not answer: {str(error) or type(error).__name__}")

    def _posted(self, path: str, request: Json) -> Answer:
        kind = _kind(path)
        if kind is None:
            return _failed("not found", f"{path[:200]}: post to one of {', '.join(_PATHS)}")
        if not isinstance(request, dict) or request.get("type") != kind:
            return _failed("unknown type", f"`type` is {kind} here")
        return self.ask(request)

    def ask(self, request: Json) -> Answer:
        """Answers a request by its `type`. What is wrong is an answer too, never an exception."""
        said = request.get("type") if isinstance(request, dict) else None
        if said in REFUSED:
            return _failed("not supported", f"`{said}`: a task here is a tree, which is cancelled or runs to its end")
        kind = next((each for each in _PATHS.values() if each == said), None)
        if kind is None:
            return _failed("unknown type", f"`type` is one of {', '.join(_PATHS.values())}")
        wrong = faults(kind, request)
        if wrong:
            return _failed("invalid request", wrong[0])
        assert isinstance(request, dict)
        try:
            if kind == "cancel_task_request":
                self.desk.cancel(request["task_id"], " ".join(request.get("labels", ())))
                return {"success": True}
            return {"success": True, "state": self.state(self._sent(request))}
        except BtError as error:
            return _failed("refused", error.message)

    def _sent(self, request: Mapping[str, Any]) -> Record:
        asked = request["request"]
        inputs = asked["description"]
        if asked["category"] == "compose" or (isinstance(inputs, dict) and "phases" in inputs):
            raise BtError("`phases` are not read", "name a tree as `category`; its steps are its phases")
        if not isinstance(inputs, dict):
            raise BtError("`description` is a mapping of the tree's inputs", 'such as {"shelf": "b1"}')
        if request.get("fleet", self.group) != self.group:
            raise BtError(
                f"this fleet is `{self.group}`, not `{request['fleet']}`", "leave `fleet` out, or name this one"
            )
        tree, at = placed(asked["category"]), asked.get("unix_millis_earliest_start_time")
        labels = [label.partition("=") for label in asked.get("labels", ())]
        own = next((value for name, _, value in labels if name == "id"), None)
        task, _ = self.desk.send(
            tree, inputs, id=own and _named(own), to=request.get("robot"),
            at=at / 1000 if at is not None else None, priority=asked.get("priority", {}).get("value", 0),
        )  # fmt: skip
        return self.desk.show(task)

    def state(self, held: Record) -> Answer:
        """Returns a task's state in Open-RMF's words."""
        task = held.task
        booking: Answer = {"id": task.id, "unix_millis_request_time": int(held.sent * 1000), "labels": []}
        if task.at is not None:
            booking["unix_millis_earliest_start_time"] = int(task.at * 1000)
        if task.priority:
            booking["priority"] = {"type": "binary", "value": task.priority}
        failed = held.verdict == record.EXPIRED
        dispatch = "failed_to_assign" if failed else "queued" if held.robot is None else "dispatched"
        state: Answer = {
            "booking": booking, "category": task.tree, "detail": dict(task.inputs),
            "status": _STATUS[held.verdict or held.state], "dispatch": {"status": dispatch},
        }  # fmt: skip
        if held.robot is not None:
            state["assigned_to"] = {"group": self.group, "name": held.robot}
        if held.verdict is not None:
            state["unix_millis_finish_time"] = int(held.since * 1000)
        elif held.state == record.STARTED:
            state["unix_millis_start_time"] = int(held.since * 1000)
        if held.cancel:
            state["cancellation"] = {"unix_millis_request_time": int(held.since * 1000), "labels": []}
        return state

    def get(self, path: str) -> Json:
        """Answers `/tasks` and `/tasks/ID/state`; None for another path."""
        parts = path.strip("/").split("/")
        if parts == ["tasks"]:
            return [self.state(held) for held in self.desk.ls()]
        if len(parts) == 3 and (parts[0], parts[2]) == ("tasks", "state"):
            return self.state(self.desk.show(parts[1]))
        return None


def _kind(path: str) -> str | None:
    """Returns the type of request that is posted to a path, also of those that are refused; None for another path."""
    refused = path.removeprefix("/tasks/") + "_request"
    return _PATHS.get(path) or (refused if refused in REFUSED and path.startswith("/tasks/") else None)


def _named(text: str) -> str:
    """Returns a task's id for an id of theirs, which may hold what ours cannot."""
    return f"rmf-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _failed(category: str, detail: str) -> Answer:
    return {"success": False, "errors": [{"code": 400, "category": category, "detail": detail}]}


def serve(api: Api, host: str = address.LOOPBACK, port: int = 0, anyone: bool = False, token: str = "") -> Server:
    """Serves the API behind the same doors as a page: a token, the Host and Origin headers, bounded requests."""
    return Server(None, host=host, port=port, anyone=anyone, api=api.answer, token=token)


def token(file: Path) -> str:
    """Returns the token that a file holds, so that it outlasts a restart; makes the file where there is none."""
    if not file.exists():
        disk.write(file, [f"{secrets.token_urlsafe(18)}\n"], mode=0o600)
    found = disk.read_text(file).strip()
    if len(found) < SHORTEST or not found.isascii():
        raise BtError(f"{file} holds no token", f"remove it for a new one; a token has {SHORTEST} characters or more")
    return found
