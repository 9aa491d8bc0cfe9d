"""The interface that skills need of ROS, provided by `rclpy` or by zenoh alone. No call blocks. Messages are plain
mappings. A transport stores what it receives, in any thread, and rings `news`; the tick reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, cast

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.language.kinds.kind import Kind
    from bt_runtime.tree.context import Context

Message = Mapping[str, Json]
News = Callable[[], object]  # called from any thread when there is something new
# of a goal: sent; accepted; rejected; and how it has ended. `lost`: nobody knows any more
State = Literal["sent", "accepted", "rejected", "succeeded", "aborted", "canceled", "lost"]
OPEN = ("sent", "accepted")


class Qos(NamedTuple):
    """What a publisher offers, or a subscription asks for."""

    reliable: bool = True  # False: best effort, as sensors send
    latched: bool = False  # the last message is kept for who comes later (transient local)
    depth: int = 10  # messages that wait to be read


USUAL, LATCHED, SENSOR = Qos(), Qos(latched=True, depth=1), Qos(reliable=False, depth=5)


class Answer(NamedTuple):
    """The answer of a service; without a value, the reason why there is none."""

    value: dict[str, Json] | None
    reason: str = ""


class Goal:
    """The known state of one goal. A transport derives from it and writes; the tick reads."""

    state: State = "sent"
    feedback: dict[str, Json] | None = None  # the latest
    result: dict[str, Json] | None = None
    reason: str = ""  # why it was rejected or lost
    asked = 0  # how often it was to be cancelled
    refused = 0  # … and was not
    unanswered = False  # lost before its server has said whether it accepts it: it may be at work all the same

    @property
    def open(self) -> bool:
        return self.state in OPEN

    def cancel(self) -> None:
        """Asks the server to stop the goal: now, or once it has accepted it. May be called again."""
        raise NotImplementedError

    def again(self) -> None:
        """Called when the server is back after an outage: asks it for the state of the goal."""

    def drop(self) -> None:
        """Forgets the goal: later messages about it are ignored."""

    def give_up(self) -> None:
        """Stops waiting for the goal, which the server may still carry out. The cancel request stays pending until
        the server acknowledges it, or reports that the goal has ended or is unknown. A server that comes back is
        asked at once.

        A transport that does not override this asks once."""
        if self.open:
            self.cancel()
        self.drop()


class ServiceClient(Protocol):
    def ready(self) -> bool:
        """True when a server with a matching type is reachable."""

    def outage(self) -> str:
        """The reason why the server is not ready; empty when it is merely absent."""

    def call(self, request: Message, told: Callable[[Answer], object], seconds: float) -> Callable[[], object]:
        """Calls `told` once, in any thread; returns a function that forgets the call."""


class ActionClient(Protocol):
    rings: bool  # `news` is also called when its server comes or goes

    def ready(self) -> bool: ...
    def outage(self) -> str: ...
    def send(self, goal: Message, news: News) -> Goal: ...


class Transport(Protocol):
    """A connection to ROS. It makes one client for each name and type, kept until `close`. An unknown type raises at
    once."""

    def action(self, name: str, type: str) -> ActionClient: ...
    def service(self, name: str, type: str) -> ServiceClient: ...
    def publisher(self, topic: str, type: str, qos: Qos = USUAL) -> Callable[[Message], object]: ...

    def subscribe(
        self, topic: str, type: str, told: Callable[[dict[str, Any]], object], qos: Qos = USUAL
    ) -> Callable[[], object]:
        """Calls `told` with each message, in any thread; returns a function that ends that. With a
        latched `qos` also with the last message sent before."""

    def close(self) -> None: ...


def transport_of(kind: Kind, context: Context) -> Transport:
    """Returns the run's transport, for a skill of this kind."""
    found = context.services.given.get("ros")
    if found is None:
        hint = "`btr run TREE --ros zenoh`, or `Run(tree, services={'ros': Zenoh()})`"
        raise BtError(f"`{kind.name}` speaks to ROS, and this run has none", hint)
    return cast(Transport, found)
