"""What skills need of ROS, whoever brings it: `rclpy`, or zenoh alone. Nothing here waits.

Messages are plain mappings. What a transport has heard, in whatever thread, it keeps, and rings `news`; the tick looks
at it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, cast

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.language.kinds.kind import Kind
    from bt_runtime.tree.context import Context

Message = Mapping[str, Json]
News = Callable[[], object]  # from any thread: there is something new to look at
# of a goal: sent; accepted; rejected; and how it has ended. `lost`: nobody knows any more
State = Literal["sent", "accepted", "rejected", "succeeded", "aborted", "canceled", "lost"]
OPEN = ("sent", "accepted")


class Answer(NamedTuple):
    """Of a service; without a value there is none, for this reason."""

    value: dict[str, Json] | None
    reason: str = ""


class Goal:
    """One goal, as far as it is known. A transport derives from it and writes; the tick reads."""

    state: State = "sent"
    feedback: dict[str, Json] | None = None  # the latest
    result: dict[str, Json] | None = None
    reason: str = ""  # why it was rejected or lost
    asked = 0  # how often it was to be cancelled
    refused = 0  # … and was not

    @property
    def open(self) -> bool:
        return self.state in OPEN

    def cancel(self) -> None:
        """Asks the server to stop it: now, or as soon as it has accepted it. May be said again."""
        raise NotImplementedError

    def again(self) -> None:
        """Its server was gone, and somebody is there again: how does it stand?"""

    def drop(self) -> None:
        """Nobody looks at it any more: what is still heard of it is forgotten."""


class ServiceClient(Protocol):
    def ready(self) -> bool:
        """Is there a server that understands us?"""

    def trouble(self) -> str:
        """Why not, when that is more than that nobody is there."""

    def call(self, request: Message, told: Callable[[Answer], object], seconds: float) -> Callable[[], object]:
        """`told` is called once, in any thread; what is given back forgets it."""


class ActionClient(Protocol):
    rings: bool  # is `news` told as well when its server comes or goes

    def ready(self) -> bool: ...
    def trouble(self) -> str: ...
    def send(self, goal: Message, news: News) -> Goal: ...


class Transport(Protocol):
    """One of each name and type is made, and kept until `close`. A type that is not known is a fault at once."""

    def action(self, name: str, type: str) -> ActionClient: ...
    def service(self, name: str, type: str) -> ServiceClient: ...
    def publisher(self, topic: str, type: str, latched: bool = False) -> Callable[[Message], object]: ...

    def subscribe(
        self, topic: str, type: str, told: Callable[[dict[str, Any]], object], latched: bool = False
    ) -> Callable[[], object]:
        """`told` is called with each message, in any thread; what is given back ends that. Latched: with the last one
        that was sent before, too."""

    def close(self) -> None: ...


def transport_of(kind: Kind, context: Context) -> Transport:
    """The run's, for a skill of it."""
    found = context.services.given.get("ros")
    if found is None:
        hint = "`btr run TREE --ros zenoh`, or `Run(tree, services={'ros': Zenoh()})`"
        raise BtError(f"`{kind.name}` speaks to ROS, and this run has none", hint)
    return cast(Transport, found)
