"""Servers of ROS actions and services over zenoh, for tests: what a goal says is what becomes of it.

    python -m packages.robots.tests.ros.double --listen tcp/127.0.0.1:PORT   serves /navigate_to_pose until it is killed

The text `behavior_tree` of a goal says by words how it goes: `reject`, `abort`, `steps=3` (that many feedbacks, then
done), `hold` (until it is cancelled), `slow` (a cancelled goal takes 300 ms to end), `stubborn` (it refuses to be
cancelled, once), `die` (the process is gone as soon as it has accepted).

It stays because rmw_zenoh_cpp has no wheel: nothing real that serves an action over zenoh comes by pip.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from bt_robots.ros import wire
from bt_robots.ros.transport import LATCHED
from bt_robots.ros.zenoh import Zenoh

Reply = Callable[[dict[str, Any]], None]
TYPE = "nav2_msgs/action/NavigateToPose"
SLOW = 0.3  # seconds that a cancelled goal takes
SUCCEEDED, CANCELED, ABORTED = 4, 5, 6


def serve(ros: Zenoh, name: str, type: str, handle: Callable[[dict[str, Any], Reply], None]) -> None:
    """A service; its handler replies at once, or when it likes."""
    type = ros.need(type)
    token, _ = ros.endpoint("SS", name, type)
    key = ros.key(name, type)

    def asked(query: Any) -> None:
        about = wire.attached(query.attachment.to_bytes())

        def reply(value: dict[str, Any]) -> None:
            data = ros.messages.pack(f"{type}_Response", value)
            back = wire.Attached(about.number, time.time_ns(), about.gid)
            query.reply(key, data, attachment=back.packed())
            query.drop()

        handle(ros.messages.unpack(f"{type}_Request", query.payload.to_bytes()), reply)

    ros.kept = [*getattr(ros, "kept", []), ros.session.declare_queryable(key, asked, complete=True), token]


class ActionServer:
    """`work` is called with each goal that was accepted, in a thread of its own."""

    def __init__(self, ros: Zenoh, name: str, type: str, work: Callable[[Task], None] | None = None) -> None:
        self.tasks: dict[bytes, Task] = {}
        self.lock = threading.RLock()
        self.work = work or scripted
        ros.messages.need(type)
        at = f"{name}/_action"
        self.feed = ros.publisher(f"{at}/feedback", f"{type}_FeedbackMessage")
        self.status = ros.publisher(f"{at}/status", "action_msgs/msg/GoalStatusArray", LATCHED)
        serve(ros, f"{at}/get_result", f"{type}_GetResult", self.result)
        serve(ros, f"{at}/cancel_goal", "action_msgs/srv/CancelGoal", self.cancel)
        serve(ros, f"{at}/send_goal", f"{type}_SendGoal", self.goal)

    def goal(self, request: dict[str, Any], reply: Reply) -> None:
        task = Task(self, bytes(request["goal_id"]["uuid"]), request["goal"])
        accepted = "reject" not in task.words
        if accepted:
            with self.lock:
                self.tasks[task.id] = task
        reply({"accepted": accepted})
        if "die" in task.words:
            os._exit(1)
        if accepted:
            threading.Thread(target=self.work, args=(task,), daemon=True).start()

    def result(self, request: dict[str, Any], reply: Reply) -> None:
        task = self.tasks.get(bytes(request["goal_id"]["uuid"]))
        if task is None:
            reply({"status": 0})
        else:
            task.tell(reply)

    def cancel(self, request: dict[str, Any], reply: Reply) -> None:
        task = self.tasks.get(bytes(request["goal_info"]["goal_id"]["uuid"]))
        if task is None or task.ending is not None or task.refuses():
            reply({"return_code": 2 if task is None else 3 if task.ending is not None else 1})
            return
        reply({"return_code": 0, "goals_canceling": [{"goal_id": {"uuid": [*task.id]}}]})
        task.cancelled.set()


class Task:
    def __init__(self, server: ActionServer, id: bytes, goal: dict[str, Any]) -> None:
        self.server, self.id, self.goal = server, id, goal
        self.words = str(goal.get("behavior_tree", "")).split()
        self.cancelled = threading.Event()
        self.wanted = threading.Event()  # somebody has heard that it was accepted, and waits for its result
        self.refusals = self.words.count("stubborn")
        self.status = 2
        self.ending: dict[str, Any] | None = None
        self.waiting: list[Reply] = []

    def refuses(self) -> bool:
        self.refusals -= 1
        return self.refusals >= 0

    def feedback(self, **fields: Any) -> None:
        self.server.feed({"goal_id": {"uuid": [*self.id]}, "feedback": fields})

    def tell(self, reply: Reply) -> None:
        self.wanted.set()
        with self.server.lock:
            if self.ending is None:
                self.waiting.append(reply)
                return
        reply(self.ending)

    def end(self, status: int, **result: Any) -> None:
        with self.server.lock:
            self.ending = {"status": status, "result": result}
        self.server.status({"status_list": [{"goal_info": {"goal_id": {"uuid": [*self.id]}}, "status": status}]})
        for reply in self.waiting:
            reply(self.ending)


def scripted(task: Task) -> None:
    """What the goal's words say."""
    steps = next((int(word[6:]) for word in task.words if word.startswith("steps=")), 0)
    if steps:
        task.wanted.wait(60)  # who has not heard yet that it was accepted may miss what it feeds back
    for left in range(steps, 0, -1):
        task.feedback(distance_remaining=float(left), current_pose={"pose": {"position": {"x": -float(left)}}})
    if "abort" in task.words:
        task.end(ABORTED, error_code=103, error_msg="no way")
    elif "hold" in task.words:
        task.cancelled.wait()
        time.sleep(SLOW if "slow" in task.words else 0)
        task.end(CANCELED)
    else:
        task.end(SUCCEEDED)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--listen", action="append", default=[])
    parser.add_argument("--connect", action="append", default=[])
    parser.add_argument("--router", action="store_true", help="serve nothing: only let others meet")
    args = parser.parse_args()
    if args.router:
        import zenoh

        config = zenoh.Config()
        config.insert_json5("mode", '"router"')
        config.insert_json5("scouting/multicast/enabled", "false")
        config.insert_json5("listen/endpoints", str(args.listen).replace("'", '"'))
        kept: Any = zenoh.open(config)
    else:
        kept = Zenoh(*args.connect, listen=args.listen, client=bool(args.connect), domain=0, node="nav2")
        ActionServer(kept, "/navigate_to_pose", TYPE)
    print("ready", flush=True)
    sys.stdin.read()  # until whoever started it is gone


if __name__ == "__main__":
    main()
