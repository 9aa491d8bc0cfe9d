"""ROS 2 on a node of rclpy: `Rclpy(node)`. The caller owns the node and its executor; nothing here spins or waits.

What a future brings comes in the executor's thread; it is kept, and the tick looks at it.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from bt_robots.ros.goals import AGAIN, ENDED, OVER
from bt_robots.ros.rosidl import made, plain, type_of
from bt_robots.ros.transport import USUAL, Answer, Goal, Message, News, Qos
from bt_runtime.events import Line, Notice
from bt_runtime.run.run import Run

if TYPE_CHECKING:
    from rclpy.action import ClientGoalHandle
    from rclpy.event_handler import SubscriptionEventCallbacks
    from rclpy.node import Node, Timer
    from rclpy.qos import QoSProfile
    from rclpy.task import Future
LOOK = 1.0  # seconds between two looks at which servers an action has


class Rclpy:
    def __init__(self, node: Node, callback_group: Any = None) -> None:
        self.node, self.group = node, callback_group
        self._made: dict[tuple[str, str, str], Any] = {}
        self._ends: list[Callable[[], object]] = []

    def action(self, name: str, type: str) -> RclpyActions:
        made: RclpyActions = self._once(
            ("action", name, type), lambda: RclpyActions(self, name, type_of("action", type))
        )
        return made

    def service(self, name: str, type: str) -> RclpyService:
        made: RclpyService = self._once(
            ("service", name, type), lambda: RclpyService(self, name, type_of("service", type))
        )
        return made

    def publisher(self, topic: str, type: str, qos: Qos = USUAL) -> Callable[[Message], object]:
        made: _Publisher = self._once(
            ("publisher", topic, type), lambda: _Publisher(self, topic, type_of("message", type), qos)
        )
        return made.send

    def subscribe(
        self, topic: str, type: str, told: Callable[[dict[str, Any]], object], qos: Qos = USUAL
    ) -> Callable[[], object]:
        heard = self.node.create_subscription(
            type_of("message", type), topic, lambda message: told(plain(message)), profile(qos),
            callback_group=self.group, event_callbacks=self._events(topic, qos),
        )  # fmt: skip

        def end() -> None:
            if end in self._ends:
                self._ends.remove(end)
                self.node.destroy_subscription(heard)

        self._ends.append(end)
        return end

    def _events(self, topic: str, qos: Qos) -> SubscriptionEventCallbacks:
        """Says once in the node's log that a publisher is not heard, because it offers less than is asked for."""
        from rclpy.event_handler import SubscriptionEventCallbacks

        told: list[object] = []

        def incompatible(event: Any) -> None:
            if not told:
                told.append(event)
                way = "`qos: sensor` hears a publisher of best effort" if qos.reliable else "`latched: false` hears it"
                self.node.get_logger().warning(f"{topic}: there is a publisher that is not heard: {way}")

        return SubscriptionEventCallbacks(incompatible_qos=incompatible)

    def _once(self, which: tuple[str, str, str], make: Callable[[], Any]) -> Any:
        if which not in self._made:
            self._made[which] = make()
        return self._made[which]

    def close(self) -> None:
        """Removes what was created on the node; the node itself belongs to the caller."""
        for end in [*self._ends]:
            end()
        while self._made:
            self._made.popitem()[1].close()


def profile(qos: Qos) -> QoSProfile:
    from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

    return QoSProfile(
        depth=qos.depth,
        reliability=ReliabilityPolicy.RELIABLE if qos.reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if qos.latched else DurabilityPolicy.VOLATILE,
    )


class RclpyService:
    def __init__(self, to: Rclpy, name: str, type: Any) -> None:
        self.to, self.type = to, type
        self.client = to.node.create_client(type, name, callback_group=to.group)

    def ready(self) -> bool:
        return bool(self.client.service_is_ready())

    def outage(self) -> str:
        return ""  # rclpy does not say that a server has another version

    def call(self, request: Message, told: Callable[[Answer], object], seconds: float) -> Callable[[], object]:
        """Calls the service without a timeout; a caller that forgets the call frees rclpy's record of it."""
        future = self.client.call_async(made(self.type.Request, request))

        def forget() -> None:
            future.cancel()
            self.client.remove_pending_request(future)

        future.add_done_callback(lambda done: None if _dropped(done) else told(_answer(done)))
        return forget

    def close(self) -> None:
        self.to.node.destroy_client(self.client)


def _dropped(future: Future) -> bool:
    return future.exception() is None and future.result() is None


def _answer(future: Future) -> Answer:
    error = future.exception()
    return Answer(None, str(error)) if error is not None else Answer(plain(future.result()))


class _Publisher:
    def __init__(self, to: Rclpy, topic: str, type: Any, qos: Qos) -> None:
        self.to, self.type = to, type
        self.publisher = to.node.create_publisher(type, topic, profile(qos), callback_group=to.group)

    def send(self, message: Message) -> None:
        self.publisher.publish(made(self.type, message))

    def close(self) -> None:
        self.to.node.destroy_publisher(self.publisher)


class RclpyActions:
    rings = False  # rclpy is asked whether a server is there

    def __init__(self, to: Rclpy, name: str, type: Any) -> None:
        from rclpy.action import ActionClient

        self.to, self.type = to, type
        self.owed: list[RclpyGoal] = []  # given up, and nobody has acknowledged that they are to be cancelled
        self.timer: Timer | None = None  # while there are any
        self.client = ActionClient(to.node, type, name, callback_group=to.group)
        self.status = f"{name.rstrip('/')}/_action/status"  # every server of the action publishes it
        self.working: weakref.WeakSet[RclpyGoal] = weakref.WeakSet()
        self.servers: frozenset[bytes] = frozenset()
        self.look_at = 0.0

    def ready(self) -> bool:
        self.look()
        return self.client.server_is_ready()

    def look(self) -> None:
        """Asks how goals stand when another server has come: one that was killed stays listed for a while, and its
        successor knows nothing of them."""
        now = time.monotonic()
        if now < self.look_at or not self.working:
            return
        self.look_at = now + LOOK
        there = frozenset(bytes(each.endpoint_gid) for each in self.to.node.get_publishers_info_by_topic(self.status))
        new, self.servers = there - self.servers, self.servers | there
        if new:
            for goal in [*self.working]:
                goal.again()

    def outage(self) -> str:
        return ""

    def send(self, goal: Message, news: News) -> Goal:
        return RclpyGoal(self, made(self.type.Goal, goal), news)

    def owe(self, goal: RclpyGoal) -> None:
        self.owed.append(goal)
        self.timer = self.timer or self.to.node.create_timer(AGAIN, self.pay)
        self.pay()

    def pay(self) -> None:
        """Sends each owed cancel, when there is a server to hear it; rclpy does not tell when one comes back."""
        if not self.owed:
            self._rest()
        elif self.ready():
            for goal in [*self.owed]:
                goal.cancel_owed()

    def paid(self, goal: RclpyGoal) -> None:
        if goal in self.owed:
            self.owed.remove(goal)

    def _rest(self) -> None:
        timer, self.timer = self.timer, None
        if timer is not None:
            timer.cancel()
            self.to.node.destroy_timer(timer)

    def close(self) -> None:
        self._rest()
        self.client.destroy()


class RclpyGoal(Goal):
    """A goal of rclpy's own client. Results for another goal, or after this one was dropped, are ignored."""

    def __init__(self, actions: RclpyActions, goal: Any, news: News) -> None:
        from unique_identifier_msgs.msg import UUID

        self.actions, self.id, self.news = actions, uuid4().bytes, news
        self.handle: ClientGoalHandle | None = None
        self.wanted = self.dropped = False
        sent = actions.client.send_goal_async(goal, feedback_callback=self._fed, goal_uuid=UUID(uuid=list(self.id)))
        sent.add_done_callback(self._answered)

    def _fed(self, message: Any) -> None:
        if bytes(message.goal_id.uuid) == self.id and self.open and not self.dropped:
            self.feedback = plain(message.feedback)
            self.news()

    def _answered(self, future: Future) -> None:
        handle = future.result() if future.exception() is None else None
        if handle is None:
            self._end("lost", f"the server has not said whether it accepts the goal: {future.exception()}")
        elif not handle.accepted:
            self._end("rejected", "the server has rejected the goal")
        else:
            self.handle, self.state = handle, "accepted"
            self.actions.working.add(self)
            self.again()
            if self.wanted:
                self._cancel()
            self.news()

    def again(self) -> None:
        if self.handle is not None and self.open:
            self.handle.get_result_async().add_done_callback(self._ended)

    def _ended(self, future: Future) -> None:
        answer = future.result() if future.exception() is None else None
        if answer is None or not self.open:
            return
        state = ENDED.get(answer.status, "lost")
        if state != "lost":
            self.result = plain(answer.result)
        self._end(state, "" if state != "lost" else "the server knows nothing of the goal: was it restarted?")

    def _end(self, state: Any, reason: str) -> None:
        self.reason = reason
        self.state = state
        self.actions.working.discard(self)
        if not self.dropped:
            self.news()

    def cancel(self) -> None:
        self.wanted = True
        if self.state == "accepted":
            self._cancel()

    def _cancel(self) -> None:
        assert self.handle is not None
        self.asked += 1
        self.handle.cancel_goal_async().add_done_callback(self._cancelled)

    def _cancelled(self, future: Future) -> None:
        answer = future.result() if future.exception() is None else None
        if answer is None or not answer.goals_canceling:
            self.refused += 1
        self.news()

    def drop(self) -> None:
        self.dropped = True
        self.actions.working.discard(self)

    def give_up(self) -> None:
        self.drop()
        self.wanted = True  # one that is accepted later is cancelled then
        if self.handle is not None:
            self.actions.owe(self)

    def cancel_owed(self) -> None:
        assert self.handle is not None
        self.asked += 1
        self.handle.cancel_goal_async().add_done_callback(self._acknowledged)

    def _acknowledged(self, future: Future) -> None:
        answer = future.result() if future.exception() is None else None
        if answer is not None and (answer.goals_canceling or answer.return_code in OVER):
            self.actions.paid(self)


# A run on a node -------------------------------------------------------------------------------


class NodeClock:
    """The node's time as the clock of a run; with `use_sim_time` it is the simulator's."""

    def __init__(self, node: Node) -> None:
        self.clock = node.get_clock()

    def now(self) -> float:
        return float(self.clock.now().nanoseconds) / 1e9


def rosout(run: Run, node: Node) -> Callable[[], None]:
    """Sends every line of the run's log to the node's log, and so to `/rosout`."""
    logger = node.get_logger()

    def say(line: Line) -> None:
        tell = {"debug": logger.debug, "warning": logger.warning, "error": logger.error}.get(line.level, logger.info)
        tell(f"{line.path}: {line.text}" if line.path else line.text)

    return run.listen(say, Line, Notice)


class Ticker:
    """Ticks a run by a timer of the node, whose executor the caller spins. `ended` is called with the root's result."""

    def __init__(self, run: Run, node: Node, hz: float = 10.0, ended: Callable[[Any], object] | None = None) -> None:
        self.run, self.node, self.ended = run, node, ended
        self.timer: Timer | None = node.create_timer(1.0 / hz, self.tick)

    def tick(self) -> None:
        if self.timer is None:
            return
        tick = self.run.tick()
        if not tick.running:
            self.stop()
            if self.ended is not None:
                self.ended(tick.status)

    def stop(self) -> None:
        timer, self.timer = self.timer, None
        if timer is not None:
            timer.cancel()
            self.node.destroy_timer(timer)
