"""`impl: ros/action`: a goal of an action server, from start to end. No tick waits for it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from py_trees.common import Status

from bt_robots.ros.fields import MessageForm, Paths, inputs_of, outputs_of
from bt_robots.ros.implementations import GRACE, STOPPING, WAIT
from bt_robots.ros.transport import Goal, transport_of
from bt_runtime.language.expression import ExpressionError, Template
from bt_runtime.skills.skill import Skill

if TYPE_CHECKING:
    from bt_runtime.language.kinds.kind import Kind
    from bt_runtime.tree.context import Context

RUNNING, SUCCESS, FAILURE = Status.RUNNING, Status.SUCCESS, Status.FAILURE
OWED = "its goal is cancelled as soon as it is back"
AGAIN = 1.0  # seconds until a server that would not cancel is asked once more


class Action(Skill):
    """A goal: waits for its server, sends it, follows it, and cancels it when the tree moves on."""

    def __init__(self, kind: Kind, context: Context) -> None:
        options: Mapping[str, Any] = kind.data["entry"].options
        self.name, self.context = options["action"], context
        self.client = transport_of(kind, context).action(self.name, options["type"])
        self.form = MessageForm(options.get("goal"), inputs_of(kind))
        self.results = Paths(options.get("result"), outputs_of(kind))
        self.feeds = Paths(options.get("feedback"), outputs_of(kind))
        self.tells = Template(str(options["tells"])) if "tells" in options else None
        self.wait, self.grace = options.get("wait", WAIT), options.get("grace", GRACE)
        self.patience = options.get("stopping", STOPPING)
        self.goal: Goal | None = None
        self.wakes = False  # does whatever comes next ring

    def start(self, **params: Any) -> None:
        self.goal, self.result, self.feedback = None, None, ""
        self.message = self.form.filled(params)
        self.seen: Any = None  # the feedback that was looked at last
        self.until = self.context.clock.now() + self.wait
        self.try_to_send()

    def try_to_send(self) -> None:
        if self.client.ready():
            self.goal = self.client.send(self.message, self.told)
            self.until = None

    def told(self) -> None:
        """Called by the transport: a result ends the job, feedback becomes news."""
        goal = self.goal
        if goal is None or not goal.open:
            self.context.wake()
        else:
            self.context.news()

    def poll(self) -> Status:
        if self.goal is None:
            self.try_to_send()
        goal = self.goal
        if goal is None:
            self.wakes = False
            return self.waits(f"waits for {self.name}")
        ended = not goal.open  # asked first: what was fed back before the end is seen with it
        if goal.feedback is not self.seen:
            self.look(goal)
        if ended:
            return self.over(goal)
        gone = not self.client.ready()
        self.wakes = not gone and self.client.rings
        if gone and self.until is None:
            self.until = self.context.clock.now() + self.grace
        if not gone:
            if self.until is not None:
                self.until = None
                goal.again()
            return RUNNING
        return self.waits(f"the server of {self.name} is gone")

    def waits(self, why: str) -> Status:
        outage = self.client.outage()
        if outage or (self.until is not None and self.context.clock.now() >= self.until):
            self.feedback = outage or f"there is no server of {self.name}"
            if self.goal is not None:
                self.feedback = f"the server of {self.name} went away while it worked: {OWED}"
                self.goal.give_up()
            return FAILURE
        self.feedback = why
        return RUNNING

    def look(self, goal: Goal) -> None:
        self.seen = goal.feedback
        self.result = {**(self.result or {}), **self.feeds.read(goal.feedback)} or None
        if self.tells is not None and goal.feedback is not None:
            try:
                self.feedback = str(self.tells.evaluate(goal.feedback))
            except ExpressionError as error:
                self.feedback = error.message

    def over(self, goal: Goal) -> Status:
        if goal.unanswered:
            goal.give_up()
        else:
            goal.drop()
        found = self.results.read(goal.result)
        self.result = {**(self.result or {}), **found} or None
        if goal.state != "succeeded":
            self.feedback = goal.reason or f"{self.name}: {goal.state}"
            return FAILURE
        return SUCCESS

    def cancel(self) -> None:
        self.stop_by = time.monotonic() + self.patience  # wall clock: a simulated clock may stand still
        self.ask_by = time.monotonic() + AGAIN
        self.heard = 0  # refusals
        if self.goal is not None and self.goal.open:
            self.goal.cancel()

    def stopping(self) -> bool:
        """True until the server reports that the goal has ended, for a limited time. A refused cancel does not end the
        goal."""
        goal, now = self.goal, time.monotonic()
        if goal is None or not goal.open:
            self.goal = None
            return False
        if now >= self.stop_by or not self.client.ready():
            goal.give_up()
            self.goal = None
            return False
        if goal.refused > self.heard and now >= self.ask_by:
            self.heard, self.ask_by = goal.refused, now + AGAIN
            goal.cancel()
        return True
