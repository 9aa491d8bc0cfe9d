"""A double of rclpy that is made from its signatures: the files in `stubs/` are run, and calls are held to them.

What a method does is said here; one of which nothing is said gives nothing, and one that the stubs do not have is not
there. Nothing runs by itself: `Executor.spin` does all that is due, timers included.

Real rclpy comes by pip for CPython 3.11 on Linux alone; there `real_ros/` beside tries the same. This double stays for
other Pythons and systems, and for what must happen at one exact moment.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
import types
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bt_robots.ros.messages import MessageFault, Messages, plain

STUBS = Path(__file__).parent / "stubs"
ORDER = (
    "rclpy", "rclpy.task", "rclpy.qos", "rclpy.event_handler", "rclpy.node", "rclpy.executors", "rclpy.action",
    "rclpy.lifecycle", "unique_identifier_msgs", "unique_identifier_msgs.msg",
)  # fmt: skip
SUCCEEDED, CANCELED, ABORTED = 4, 5, 6


def _stub(name: str) -> types.ModuleType:
    at = STUBS.joinpath(*name.split("."))
    file = at / "__init__.pyi" if at.is_dir() else at.with_suffix(".pyi")
    module = types.ModuleType(name)
    module.__dict__["__path__"] = []
    sys.modules[name] = module
    exec(compile("from __future__ import annotations\n" + file.read_text(), str(file), "exec"), module.__dict__)
    return module


def does(owner: Any, name: str, behave: Callable[..., Any]) -> None:
    """From now on a call does this, if it is one that the signature allows."""
    signature = inspect.signature(getattr(owner, name))

    @functools.wraps(getattr(owner, name))
    def call(*args: Any, **kwargs: Any) -> Any:
        signature.bind(*args, **kwargs)
        return behave(*args, **kwargs)

    setattr(owner, name, call)


class System:
    """One ROS: its servers, topics and time. `steps`: what an executor has to do."""

    def __init__(self) -> None:
        self.messages = Messages()
        self.steps: list[Callable[[], object]] = []
        self.timers: list[Any] = []
        self.heard: dict[str, list[Callable[[Any], object]]] = {}
        self.sent: list[tuple[str, Any]] = []
        self.actions: dict[str, Callable[[Any], Any]] = {}  # name → what becomes of a goal
        self.services: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {}
        self.log: list[tuple[str, str]] = []
        self.now = 0

    def spin(self) -> None:
        """All that is there to do, once."""
        for timer in [*self.timers]:
            timer.callback()
        steps, self.steps = self.steps, []
        for step in steps:
            step()

    def type(self, name: str) -> Any:
        """A class as ROS makes them: of plain values here, by their fields' names."""
        self.messages.need(name)
        parts = {"srv": ("Request", "Response"), "action": ("Goal", "Result", "Feedback")}.get(name.split("/")[1], ())
        if not parts:
            return self._message(name)
        inside = {part: self._message(f"{name}_{part}") for part in parts}
        return type(name.rpartition("/")[2], (), inside)

    def _message(self, name: str) -> Any:
        def begin(message: Any) -> None:
            message.__dict__.update(vars(_names(plain(self.messages.made(name, {})))))

        return type(name.rpartition("/")[2], (Made,), {"__init__": begin, "ros": name})


class Made(types.SimpleNamespace):
    """A message: its fields, without their types."""

    def get_fields_and_field_types(self) -> dict[str, str]:
        return dict.fromkeys(vars(self), "")


def _names(value: Any) -> Any:
    if isinstance(value, Mapping):
        return Made(**{key: _names(each) for key, each in value.items()})
    return [_names(each) for each in value] if isinstance(value, list) else value


def mapping(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [mapping(each) for each in value]
    return OrderedDict((k, mapping(v)) for k, v in vars(value).items()) if hasattr(value, "__dict__") else value


@dataclasses.dataclass
class Server:
    """What becomes of one goal; a test says when. Made by an action of the system."""

    system: System
    id: list[int]
    goal: Any
    feedback: Callable[[Any], object]
    accepts: bool = True
    cancels: bool = True
    ending: tuple[int, Any] | None = None
    waiting: list[Any] = dataclasses.field(default_factory=list)
    asked: int = 0

    def feed(self, id: list[int] | None = None, **fields: Any) -> None:
        message = _names(
            {"goal_id": {"uuid": id or self.id}, "feedback": {"current_pose": {"pose": {"position": {}}}, **fields}}
        )
        self.system.steps.append(lambda: self.feedback(message))

    def end(self, status: int, **result: Any) -> None:
        self.ending = status, {"error_code": 0, "error_msg": "", **result}
        for future in self.waiting:
            future.set(_names({"status": status, "result": self.ending[1]}))


@contextmanager
def rclpy() -> Iterator[System]:
    """While this lasts, `import rclpy` gives the double."""
    kept = {name: sys.modules.pop(name) for name in (*ORDER, "bt_robots.ros.managed") if name in sys.modules}
    try:
        made = {name: _stub(name) for name in ORDER}
        system = _acted(made)
        with (
            patch("bt_robots.ros.rclpy.type_of", lambda sort, name: system.type(name)),
            patch("bt_robots.ros.rclpy.made", _message),
        ):
            yield system
    finally:
        for name in (*ORDER, "bt_robots.ros.managed"):
            sys.modules.pop(name, None)
        sys.modules.update(kept)


def _acted(made: dict[str, types.ModuleType]) -> System:
    system = System()
    Future = _futures(made["rclpy.task"], system)
    _node(made, system, Future)
    _actions(made["rclpy.action"], system, Future)
    does(made["unique_identifier_msgs.msg"].UUID, "__init__", lambda self, uuid: setattr(self, "uuid", uuid))
    return system


def _message(type: Any, values: Mapping[str, Any]) -> Any:
    message = type()
    try:
        _set(message, values)
    except (AttributeError, TypeError) as error:
        raise MessageFault(f"this is no `{type.__name__}`: {error}", "its fields") from error
    return message


def _set(message: Any, values: Mapping[str, Any], *about: Any) -> None:
    for key, value in values.items():
        if not hasattr(message, key):
            raise AttributeError(f"has no attribute '{key}'")
        now = getattr(message, key)
        if isinstance(value, Mapping):
            _set(now, value)
        elif not isinstance(now, list) and type(now) is not type(value) and (type(now), type(value)) != (float, int):
            raise TypeError(f"{key} must be {type(now).__name__}")
        else:
            setattr(message, key, _names(value))


def _futures(task: types.ModuleType, system: System) -> Any:
    Future = task.Future

    def start(self: Any) -> None:
        self.value, self.error, self.over, self.told = None, None, False, []

    def finish(self: Any, value: Any = None, error: Any = None) -> None:
        if not self.over:
            self.value, self.error, self.over = value, error, True
            for told in self.told:
                system.steps.append(functools.partial(told, self))

    def add(self: Any, callback: Any) -> None:
        self.told.append(callback)
        if self.over:
            system.steps.append(lambda: callback(self))

    Future.__init__, Future.set = start, finish
    does(Future, "add_done_callback", add)
    does(Future, "result", lambda self: self.value)
    does(Future, "exception", lambda self: self.error)
    does(Future, "done", lambda self: self.over)
    does(Future, "cancel", finish)
    return Future


def _node(made: dict[str, types.ModuleType], system: System, Future: Any) -> None:
    node = made["rclpy.node"]
    Node = node.Node

    def begin(self: Any, node_name: str, **about: Any) -> None:
        self.name, self.parameters = node_name, {}

    def declare(self: Any, name: str, value: Any = None) -> Any:
        self.parameters.setdefault(name, types.SimpleNamespace(name=name, value=value))
        return self.parameters[name]

    def timer(self: Any, timer_period_sec: float, callback: Any, *about: Any) -> Any:
        made = node.Timer()
        made.callback, made.period = callback, timer_period_sec
        system.timers.append(made)
        return made

    def publisher(self: Any, msg_type: Any, topic: str, qos_profile: Any, **about: Any) -> Any:
        found = node.Publisher()
        found.topic = topic
        return found

    def subscription(self: Any, msg_type: Any, topic: str, callback: Any, qos_profile: Any, **about: Any) -> Any:
        system.heard.setdefault(topic, []).append(callback)
        found = node.Subscription()
        found.undo = lambda: system.heard[topic].remove(callback)
        return found

    def publish(self: Any, msg: Any) -> None:
        system.sent.append((self.topic, mapping(msg)))
        for told in system.heard.get(self.topic, []):
            system.steps.append(functools.partial(told, msg))

    def client(self: Any, srv_type: Any, srv_name: str, **about: Any) -> Any:
        found = node.Client()
        found.name, found.type = srv_name, srv_type
        return found

    def call(self: Any, request: Any) -> Any:
        future = Future()
        answer = self.type.Response()
        _set(answer, system.services[self.name](mapping(request)))
        system.steps.append(lambda: future.set(answer))
        return future

    does(Node, "__init__", begin)
    does(made["rclpy.lifecycle"].LifecycleNode, "__init__", begin)
    done = made["rclpy.lifecycle"].TransitionCallbackReturn.SUCCESS
    for name in ("configure", "activate", "deactivate", "cleanup", "shutdown"):
        does(made["rclpy.lifecycle"].LifecycleNode, f"on_{name}", lambda self, state: done)
    does(Node, "declare_parameter", declare)
    does(Node, "get_parameter", lambda self, name: self.parameters[name])
    does(Node, "get_name", lambda self: self.name)
    does(Node, "create_timer", timer)
    does(Node, "destroy_timer", lambda self, timer: system.timers.remove(timer) if timer in system.timers else None)
    does(Node, "create_publisher", publisher)
    does(Node, "create_subscription", subscription)
    does(Node, "destroy_subscription", lambda self, subscription: subscription.undo())
    does(Node, "create_client", client)
    does(Node, "get_publishers_info_by_topic", lambda self, topic_name: [])
    does(Node, "get_logger", lambda self: node.Logger())
    does(Node, "get_clock", lambda self: node.Clock())
    does(node.Clock, "now", lambda self: types.SimpleNamespace(nanoseconds=system.now))
    for level in ("debug", "info", "warning", "error"):
        does(node.Logger, level, lambda self, message, level=level: system.log.append((level, message)))
    does(node.Publisher, "publish", publish)
    does(node.Client, "service_is_ready", lambda self: self.name in system.services)
    does(node.Client, "call_async", call)


def _actions(action: types.ModuleType, system: System, Future: Any) -> None:
    def begin(self: Any, node: Any, action_type: Any, action_name: str, **about: Any) -> None:
        self.type, self.name = action_type, action_name

    def send(self: Any, goal: Any, feedback_callback: Any = None, goal_uuid: Any = None) -> Any:
        if not isinstance(goal, self.type.Goal):
            raise TypeError
        server = system.actions[self.name](Server(system, goal_uuid.uuid, goal, feedback_callback))
        handle, future = action.ClientGoalHandle(), Future()
        handle.accepted, handle.goal_id, handle.server = server.accepts, goal_uuid, server
        system.steps.append(lambda: future.set(handle))
        return future

    def result(self: Any) -> Any:
        future = Future()
        self.server.waiting.append(future)
        if self.server.ending is not None:
            self.server.end(self.server.ending[0], **self.server.ending[1])
        return future

    def cancel(self: Any) -> Any:
        future, server = Future(), self.server
        server.asked += 1
        future.set(
            _names({"return_code": 0 if server.cancels else 1, "goals_canceling": [1] if server.cancels else []})
        )
        return future

    does(action.ActionClient, "__init__", begin)
    does(action.ActionClient, "server_is_ready", lambda self: self.name in system.actions)
    does(action.ActionClient, "send_goal_async", send)
    does(action.ClientGoalHandle, "get_result_async", result)
    does(action.ClientGoalHandle, "cancel_goal_async", cancel)
