"""The skills that manifests name by `impl: ros/…`. They use a transport: the run's service `ros`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from py_trees.common import Status

from bt_robots.ros.action import Action
from bt_robots.ros.fields import MessageForm, Paths, expression, inputs_of, outputs_of
from bt_robots.ros.implementations import WAIT
from bt_robots.ros.tf import frames_of
from bt_robots.ros.transport import LATCHED, SENSOR, USUAL, Answer, Qos, transport_of
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.skills.skill import Skill
from bt_runtime.tree.clock import RunClock
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.language.kinds.kind import Kind
    from bt_runtime.tree.context import Context

# The last message of a topic, and its age.

NAMED = {"sensor": SENSOR, "latched": LATCHED, "usual": USUAL}


def qos_of(options: Mapping[str, Any]) -> Qos:
    """Returns the quality of service that a manifest names, by a word or by its parts; `latched: true` is kept for who
    comes later in any case."""
    asked = options.get("qos", "latched" if options.get("latched") else "usual")
    if isinstance(asked, str):
        found = NAMED[asked]
    else:
        reliable = asked.get("reliability", "reliable") == "reliable"
        found = Qos(reliable, asked.get("durability") == "transient_local", asked.get("depth", USUAL.depth))
    return found._replace(latched=True) if options.get("latched") else found


class Latest:
    """The latest message: received in any thread, read by the tick. Its age counts from its arrival, by the run's
    clock."""

    def __init__(self, clock: RunClock, news: Callable[[], object]) -> None:
        self.clock, self.news = clock, news
        self._kept: tuple[dict[str, Any] | None, float, int] = (None, 0.0, 0)

    def hear(self, message: dict[str, Any]) -> None:
        self._kept = (message, self.clock.now(), self._kept[2] + 1)
        self.news()

    def look(self) -> tuple[dict[str, Any] | None, float, int]:
        """Returns the message, its age and its number; None before the first message."""
        message, at, count = self._kept
        return message, max(self.clock.now() - at, 0.0), count


RUNNING, SUCCESS, FAILURE = Status.RUNNING, Status.SUCCESS, Status.FAILURE
_PARAMETER = {1: "bool_value", 2: "integer_value", 3: "double_value", 4: "string_value", 6: "bool_array_value",
              7: "integer_array_value", 8: "double_array_value", 9: "string_array_value"}  # fmt: skip
_OF = {bool: 1, int: 2, float: 3, str: 4}


class Service(Skill):
    """One service call; a field of the answer may decide about success."""

    def __init__(self, kind: Kind, context: Context) -> None:
        options: Mapping[str, Any] = kind.data["entry"].options
        self.name, self.context = options["service"], context
        self.client = transport_of(kind, context).service(self.name, options["type"])
        self.form = MessageForm(options.get("request"), inputs_of(kind))
        self.outputs = Paths(options.get("response"), outputs_of(kind))
        self.succeeds = expression(options.get("succeeds"))
        self.wait = options.get("wait", WAIT)

    def start(self, **params: Any) -> None:
        self.message = self.form.filled(params)
        self.result, self.feedback = None, ""
        self.begin()

    def begin(self) -> None:
        self.answer: Answer | None = None
        self.forget: Callable[[], object] | None = None
        self.until = self.context.clock.now() + self.wait
        self.try_to_call()

    def try_to_call(self) -> None:
        if self.client.ready():
            self.forget = self.client.call(self.message, self.told, max(self.wait, 0.1))

    def told(self, answer: Answer) -> None:
        self.answer = answer
        self.context.wake()

    def poll(self) -> Status:
        if self.forget is None:
            self.try_to_call()
        answer = self.answer
        if answer is None:
            return self.waits()
        if answer.value is None:
            self.feedback = f"{self.name}: {answer.reason}"
            return FAILURE
        return self.judged(answer.value)

    def waits(self) -> Status:
        outage = self.client.outage() if self.forget is None else ""
        if outage or self.context.clock.now() >= self.until:
            nobody = f"there is no server of {self.name}" if self.forget is None else f"{self.name} has not answered"
            self.feedback = outage or nobody
            self.cancel()
            return FAILURE
        self.feedback = f"waits for {self.name}" if self.forget is None else ""
        return RUNNING

    def judged(self, value: dict[str, Json]) -> Status:
        self.result = self.outputs.read(value) or None
        done = self.succeeds is None or bool(self.succeeds.evaluate(value))
        if not done:
            self.feedback = str(value.get("message", "")) or f"{self.name} says that it was not done"
        return SUCCESS if done else FAILURE

    def cancel(self) -> None:
        if self.forget is not None:
            self.forget()


class Parameter(Service):
    """Reads or sets a node's parameter, by the services that every node has."""

    def __init__(self, kind: Kind, context: Context) -> None:
        options: Mapping[str, Any] = kind.data["entry"].options
        self.parameter, self.context = str(options["parameter"]), context
        self.wait = options.get("wait", WAIT)
        self.value = MessageForm({"value": options["value"]}, []) if "value" in options else None
        verb = "get" if self.value is None else "set"
        self.name = f"{options['node'].rstrip('/')}/{verb}_parameters"
        type = f"rcl_interfaces/srv/{verb.title()}Parameters"
        self.client = transport_of(kind, context).service(self.name, type)
        self.output = next(iter(outputs_of(kind)), "")

    def start(self, **params: Any) -> None:
        self.result, self.feedback = None, ""
        self.message: Any = {"names": [self.parameter]}
        if self.value is not None:
            value = self.value.filled(params)["value"]
            self.message = {"parameters": [{"name": self.parameter, "value": parameter_value(value)}]}
        self.begin()

    def judged(self, value: dict[str, Json]) -> Status:
        if self.value is not None:
            answer = value["results"][0] if value["results"] else {"successful": False, "reason": "no answer"}
            self.feedback = "" if answer["successful"] else f"{self.parameter} was not set: {answer['reason']}"
            return SUCCESS if answer["successful"] else FAILURE
        found = value["values"][0] if value["values"] else {"type": 0}
        if found["type"] not in _PARAMETER:
            self.feedback = f"{self.name.rpartition('/')[0]} has no parameter {self.parameter}"
            return FAILURE
        self.result = {self.output: found[_PARAMETER[found["type"]]]} if self.output else None
        return SUCCESS


def parameter_value(value: Json) -> dict[str, Json]:
    """Formats a value as rcl_interfaces/ParameterValue."""
    listed = isinstance(value, list)
    sort = _OF.get(type(value[0]) if listed and value else type(value), 0)
    if not sort or (listed and not all(type(each) is type(value[0]) for each in value)):
        hint = "true or false, a number, a text, or a list of one of these"
        raise BtError(f"a parameter cannot be {value!r:.40}", hint)
    sort += 5 if listed else 0
    return {"type": sort, _PARAMETER[sort]: value}


class Subscribe(Skill):
    """A subscription that never ends; its outputs change with each message, and `age` with time."""

    def __init__(self, kind: Kind, context: Context) -> None:
        options: Mapping[str, Any] = kind.data["entry"].options
        self.heard = latest(kind, context)
        self.outputs = Paths(options.get("fields"), outputs_of(kind))
        self.names = outputs_of(kind)

    def start(self) -> None:
        self.result = None
        self.count = 0

    def poll(self) -> Status:
        message, age, count = self.heard.look()
        if message is not None:
            found = self.outputs.read(message) if count != self.count else dict(self.result or {})
            self.count = count
            self.result = {**found, **told(self.names, message, age)}
        return RUNNING


def told(names: list[str], message: Mapping[str, Json], age: float) -> dict[str, Json]:
    """Returns the outputs of a message that the node uses."""
    both: dict[str, Json] = {"message": dict(message), "age": age}
    return {name: value for name, value in both.items() if name in names and name not in message}


def latest(kind: Kind, context: Context) -> Latest:
    options: Mapping[str, Any] = kind.data["entry"].options
    heard = Latest(context.clock, context.news)
    ros = transport_of(kind, context)
    ros.subscribe(options["topic"], options["type"], heard.hear, qos_of(options))
    return heard


def topic(kind: Kind, context: Context) -> Callable[[], Any]:
    """Tests the last message: it must be recent enough, and its condition must hold."""
    options: Mapping[str, Any] = kind.data["entry"].options
    heard, names = latest(kind, context), outputs_of(kind)
    outputs, holds = Paths(options.get("fields"), names), expression(options.get("holds"))
    within = options.get("within")

    def look(**params: Any) -> Any:
        message, age, _ = heard.look()
        if message is None or (within is not None and age > within):
            return False
        found = {**outputs.read(message), **told(names, message, age)}
        status = SUCCESS if holds is None or holds.evaluate({**params, **message}) else FAILURE
        return (status, found) if names else status  # a skill without outputs answers by its status alone

    return look


def publish(kind: Kind, context: Context) -> Callable[..., bool]:
    options: Mapping[str, Any] = kind.data["entry"].options
    form = MessageForm(options.get("message"), inputs_of(kind))
    ros = transport_of(kind, context)
    send = ros.publisher(options["topic"], options["type"], qos_of(options))

    def say(**params: Any) -> bool:
        send(form.filled(params))
        return True

    return say


def transform(kind: Kind, context: Context) -> Callable[..., Any]:
    options: Mapping[str, Any] = kind.data["entry"].options
    ros = transport_of(kind, context)
    frames = frames_of(ros, context.services.given, context.clock)
    form = MessageForm({"frame": str(options["frame"]), "child": str(options["child"])}, [])
    within, names = options.get("within"), outputs_of(kind)

    def look(**params: Any) -> Any:
        asked = form.filled(params)
        found = frames.look(str(asked["frame"]), str(asked["child"]))
        if found is None or (within is not None and found["age"] > within):
            return False
        return (SUCCESS, {name: found[name] for name in names if name in found}) if names else SUCCESS

    return look


action, service, parameter, subscribe = Action, Service, Parameter, Subscribe
