"""Answers Open-RMF's task API: a request's category names a tree, its description holds the inputs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Protocol

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.fleet import record
from bt_runtime.fleet.record import Record
from bt_runtime.fleet.rmf.messages import Kind, faults
from bt_runtime.project import address
from bt_runtime.types import Json

MOST_BODY = 200_000
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


class Desk(Protocol):
    """What the API needs of a fleet; `Fleet` has it."""

    def send(
        self, tree: str, inputs: Mapping[str, Json] | None = None, *, id: str | None = None, **more: Any
    ) -> Any: ...
    def show(self, task: str) -> Record: ...
    def ls(self) -> list[Record]: ...
    def cancel(self, task: str, reason: str = "") -> Record: ...


class Api:
    """The API of one fleet. `group`: what Open-RMF calls it."""

    def __init__(self, desk: Desk, group: str = "btr") -> None:
        self.desk, self.group = desk, group

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
        at = asked.get("unix_millis_earliest_start_time")
        labels = [label.partition("=") for label in asked.get("labels", ())]
        own = next((value for name, _, value in labels if name == "id"), None)
        task, _ = self.desk.send(
            asked["category"], inputs, id=own and _named(own), to=request.get("robot"),
            at=at / 1000 if at is not None else None, priority=int(asked.get("priority", {}).get("value", 0)),
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


class _Handler(BaseHTTPRequestHandler):
    api: ClassVar[Api]
    protocol_version = "HTTP/1.1"
    timeout = 15

    def log_message(self, format: str, *args: Any) -> None:
        """No-op: standard error belongs to the command."""

    def do_GET(self) -> None:
        try:
            found = self.api.get(self.path.partition("?")[0])
        except BtError as error:
            self._say(404, _failed("not found", error.message))
            return
        self._say(404 if found is None else 200, _failed("not found", self.path) if found is None else found)

    def do_POST(self) -> None:
        length, kind = self.headers.get("Content-Length", ""), _kind(self.path)
        if kind is None or not length.isdecimal() or int(length) > MOST_BODY:
            self.close_connection = True
            self._say(404, _failed("not found", f"{self.path}: post to one of {', '.join(_PATHS)}"))
            return
        try:
            request = json.loads(self.rfile.read(int(length)))
        except ValueError as error:
            self._say(400, _failed("invalid request", f"no JSON: {error}"))
            return
        matches = isinstance(request, dict) and request.get("type") == kind
        answer = self.api.ask(request) if matches else _failed("unknown type", f"`type` is {kind} here")
        self._say(200 if answer["success"] else 400, answer)

    def _say(self, code: int, body: Json) -> None:
        data = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def serve(api: Api, host: str = address.LOOPBACK, port: int = 0, anyone: bool = False) -> ThreadingHTTPServer:
    """Returns the API's server, bound; whoever made it calls `serve_forever` and closes it."""
    address.checked(host, anyone)
    server = ThreadingHTTPServer((host, port), type("Handler", (_Handler,), {"api": api}))
    server.daemon_threads = True
    return server
