"""Implements actions by their parts, three services and two topics, for transports without an action client."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any, Protocol
from uuid import uuid4

from bt_robots.ros.transport import LATCHED, USUAL, Answer, Goal, Message, News, Qos, ServiceClient, State

CALL = 10.0  # seconds in which a server says whether it accepts a goal, or a wish to cancel one
WORK = 365 * 86_400.0  # seconds of a goal at most: it ends when its server says so, or is gone
HEED = 3.0  # seconds in which an owed cancel is acknowledged
AGAIN = 1.0  # seconds until an owed cancel is sent again that was refused or not answered
OVER = (2, 3)  # return codes of action_msgs/CancelGoal: the goal is unknown, the goal has ended
ENDED: dict[int, State] = {4: "succeeded", 5: "canceled", 6: "aborted"}  # terminal states of action_msgs/GoalStatus


class Watched(ServiceClient, Protocol):
    changed: set[Callable[[], object]]  # called when servers come or go


class Parts(Protocol):
    """The parts of a transport that this module needs."""

    closed: bool

    def service(self, name: str, type: str) -> Watched: ...
    def subscribe(
        self, topic: str, type: str, told: Callable[[dict[str, Any]], object], qos: Qos = USUAL
    ) -> Callable[[], object]: ...


class Actions:
    """A client of one action."""

    rings = True

    def __init__(self, parts: Parts, name: str, type: str) -> None:
        self.parts = parts
        at = f"{name.rstrip('/')}/_action"
        self.sending = parts.service(f"{at}/send_goal", f"{type}_SendGoal")
        self.results = parts.service(f"{at}/get_result", f"{type}_GetResult")
        self.cancelling = parts.service(f"{at}/cancel_goal", "action_msgs/srv/CancelGoal")
        self.goals: weakref.WeakValueDictionary[bytes, PartsGoal] = weakref.WeakValueDictionary()
        self.owed: dict[bytes, PartsGoal] = {}  # goals that were given up and whose cancel nobody has acknowledged
        parts.subscribe(f"{at}/feedback", f"{type}_FeedbackMessage", self._fed)
        parts.subscribe(f"{at}/status", "action_msgs/msg/GoalStatusArray", self._told, LATCHED)
        for each in (self.sending, self.results, self.cancelling):
            each.changed.add(self._moved)

    def ready(self) -> bool:
        return self.sending.ready() and self.results.ready() and self.cancelling.ready()

    def outage(self) -> str:
        return self.sending.outage() or self.results.outage()

    def send(self, goal: Message, news: News) -> Goal:
        made = PartsGoal(self, news)
        self.goals[made.id] = made
        made.send(goal)
        return made

    def _fed(self, message: dict[str, Any]) -> None:
        goal = self.goals.get(bytes(message["goal_id"]["uuid"]))
        if goal is not None and goal.open:
            goal.feedback = message["feedback"]
            goal.news()

    def _told(self, message: dict[str, Any]) -> None:
        for each in message["status_list"]:
            goal = self.goals.get(bytes(each["goal_info"]["goal_id"]["uuid"]))
            if goal is not None and each["status"] in ENDED:
                goal.ask()

    def _moved(self) -> None:
        """Called when a server has come or gone: sends delayed cancels, repeats open requests, and wakes the tick."""
        self.pay()
        for goal in [*self.goals.values()]:
            if self.ready():
                goal.ask()
            goal.news()

    def pay(self) -> None:
        """Sends each owed cancel, when there is a server to hear it."""
        if self.parts.closed:
            self.owed.clear()
        elif self.ready():
            for goal in [*self.owed.values()]:
                goal.cancel_owed()

    def pay_later(self) -> None:
        timer = threading.Timer(AGAIN, self.pay)
        timer.daemon = True
        timer.start()


class PartsGoal(Goal):
    def __init__(self, client: Actions, news: News) -> None:
        self.client, self.news = client, news
        self.id = uuid4().bytes
        self.lock = threading.RLock()
        self.asking = False  # how it has ended
        self.wanted = False  # the goal is to be cancelled once it is accepted
        self.paying = False  # an owed cancel is under way

    @property
    def named(self) -> dict[str, Any]:
        return {"uuid": [*self.id]}

    def send(self, goal: Message) -> None:
        self.client.sending.call({"goal_id": self.named, "goal": goal}, self._answered, CALL)

    def _answered(self, answer: Answer) -> None:
        with self.lock:
            if self.state != "sent":
                return
            if answer.value is None:
                self.unanswered = True
                self._end("lost", f"the server has not said whether it accepts the goal: {answer.reason}")
            elif not answer.value["accepted"]:
                self._end("rejected", "the server has rejected the goal")
            else:
                self.state = "accepted"
                self.ask()
                if self.wanted:
                    self._cancel()
        self.news()

    def ask(self) -> None:
        """Asks for the result. A request without a reachable server is repeated once a server is back."""
        with self.lock:
            if self.asking or self.state != "accepted":
                return
            self.asking = True
        self.client.results.call({"goal_id": self.named}, self._ended, WORK)

    def _ended(self, answer: Answer) -> None:
        with self.lock:
            self.asking = False
            if self.state != "accepted":
                return
            if answer.value is not None:
                state = ENDED.get(answer.value["status"], "lost")
                self.result = answer.value["result"] if state != "lost" else None
                self._end(state, "" if state != "lost" else "the server knows nothing of the goal: was it restarted?")
        self.news()

    def _end(self, state: State, reason: str) -> None:
        self.reason = reason
        self.state = state

    def cancel(self) -> None:
        with self.lock:
            self.wanted = True
            if self.state == "accepted":
                self._cancel()

    def _cancel(self) -> None:
        self.asked += 1
        wish = {"goal_info": {"goal_id": self.named}}
        self.client.cancelling.call(wish, self._cancelled, CALL)

    def _cancelled(self, answer: Answer) -> None:
        if answer.value is None or not answer.value["goals_canceling"]:
            self.refused += 1
        self.news()

    def drop(self) -> None:
        self.client.goals.pop(self.id, None)

    def give_up(self) -> None:
        self.drop()
        self.wanted = True
        self.client.owed[self.id] = self
        self.client.pay()

    def cancel_owed(self) -> None:
        with self.lock:
            if self.paying:
                return
            self.paying = True
        self.asked += 1
        self.client.cancelling.call({"goal_info": {"goal_id": self.named}}, self._acknowledged, HEED)

    def _acknowledged(self, answer: Answer) -> None:
        self.paying = False
        if answer.value is not None and (answer.value["goals_canceling"] or answer.value["return_code"] in OVER):
            self.client.owed.pop(self.id, None)
        else:
            self.client.pay_later()
