"""Random orders for a vehicle's program behind a real broker: each message is held against what the vehicle did.

`make fleet ONLY=vehicle` does 300 orders. Kills are SIGKILLs of the whole program; a drop is an end of the broker."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("paho.mqtt.client", reason="needs the fleet extra")

from bt_fleet.server.server import free_port
from packages.fleet.tests.control import MOSQUITTO, Control, broker, vehicle
from packages.fleet.tests.yard import act, instant, make, order, truth

ROUNDS = int(os.environ.get("VEHICLE_ROUNDS", "4"))
ORDERS = 5  # in a round
LATE = 2.0  # seconds for which a message may be behind what has happened: a slow disk, a busy machine
BLOCKING = ("NONE", "SOFT", "HARD")
ENDED = ("FINISHED", "FAILED")


class Watch:
    """One vehicle and its master control. `check` is called with each message as it comes."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.random = random.Random(seed)
        self.folder, self.project = folder, make(folder / "agv")
        self.port = free_port("127.0.0.1")
        self.stack, self.brokers = ExitStack(), ExitStack()
        self.brokers.enter_context(broker(folder, self.port))
        self.process: Any = None
        self.count: Counter[str] = Counter()
        self.bases: dict[str, list[str]] = {}  # of each order: its released nodes, from the first on
        self.parts: dict[tuple[str, int], list[str]] = {}  # the same, of each update
        self.acts: dict[str, list[str]] = {}
        self.past: dict[str, int] = {}  # of each order: how many nodes were told to be passed
        self.finished: set[str] = set()  # actions that were told to be so
        self.cancelled: set[str] = set()
        self.kills: list[float] = []
        self.may_pause = False
        self.x = 0.0  # where the order begins
        self.start()
        self.control = Control(self.port, check=self.check)
        self.control.until(lambda c: c.states)

    def start(self) -> None:
        self.process = self.stack.enter_context(vehicle(self.project, self.port, YARD_POLLS="3"))

    # What is told, beside what is so ----------------------------------------------------------

    def check(self, what: str, body: Any) -> None:
        if what != "state":
            return
        when = datetime.fromisoformat(body["timestamp"]).timestamp()
        events = truth(self.project)
        at = [each["id"] for each in events if each["what"] == "at"]
        done = {each["id"] for each in events if each["what"] == "done"}
        self._nodes(body, at)
        for action in body["actionStates"]:
            id, status = action["actionId"], action["actionStatus"]
            if not id.startswith("x"):
                continue
            assert (status != "FINISHED" or id in done) and (status != "RUNNING" or id in done | _begun(events)), action
            assert id not in self.finished or status == "FINISHED", ("taken back", action)
            self.finished |= {id} if status == "FINISHED" else set()
        moving = _moving(events, when - LATE, when + 0.2)
        assert body["driving"] in moving, ("driving", body["driving"], events[-6:])
        if body["paused"]:
            assert self.may_pause, "nobody has paused it"
            assert False in moving, ("paused while it drives", events[-6:])
        for action in body["actionStates"]:
            if action["actionType"] == "cancelOrder" and action["actionStatus"] == "FINISHED":
                assert not body["nodeStates"]

    def _nodes(self, body: Any, at: list[str]) -> None:
        base = self.parts.get((body["orderId"], body["orderUpdateId"]))
        if base is None or body["orderId"] in self.cancelled:
            return
        ahead = [node["nodeId"] for node in body["nodeStates"] if node["released"]]
        told = base.index(body["lastNodeId"]) + 1 if body["lastNodeId"] in base else 0
        assert set(base[:told]) <= set(at), ("told as passed", body["lastNodeId"], at)
        assert ahead == base[told:], ("not what is ahead", body)
        assert told >= self.past.get(body["orderId"], 0), ("taken back", told, body)
        self.past[body["orderId"]] = told

    # What the control does --------------------------------------------------------------------

    def sent(self, body: Any, holds: Any) -> None:
        """Sends until the vehicle's state shows it: a message may be lost with the vehicle or the broker."""
        for _ in range(60):
            self.control.send(body)
            try:
                self.control.until(holds, 1.5)
            except AssertionError:
                continue
            return
        raise AssertionError(f"never taken: {body}; {self.control.state}")

    def order(self, number: int) -> None:
        """One order with its updates and misfortunes, to its end."""
        r, id, update = self.random, f"o{number}", 0
        body = self.part(id, update, r.randint(2, 4))
        self.sent(body, lambda c: c.state.get("orderId") == id)
        for _ in range(r.randint(2, 6)):
            time.sleep(r.random() * 0.2)
            what = r.choice(("kill", "pause", "pause", "update", "update", "repeat", "drop", "look", "cancel", "look"))
            self.count[what] += 1
            if what == "kill":
                self.kill()
            elif what == "pause":
                self.pause(f"{id}p{self.count[what]}")
            elif what == "update" and update < 3:
                update += 1
                body = self.part(id, update, r.randint(1, 3))
                self.sent(body, lambda c, u=update: c.state["orderUpdateId"] == u and c.state["orderId"] == id)
            elif what == "repeat":
                self.control.send(body)
            elif what == "drop":
                self.brokers.close()
                self.brokers.enter_context(broker(self.folder, self.port))
            elif what == "cancel" and r.random() < 0.4:
                self.cancel(id)
                break
        if id not in self.cancelled:
            body = self.part(id, update + 1, 1, last=True)  # an order with a horizon is never done
            self.sent(body, lambda c: c.state["orderUpdateId"] == update + 1 and c.state["orderId"] == id)
            ended = self.acts[id]
            self.sent(instant("stateRequest", f"{id}end"), lambda c: self.over(c, id, ended))
            assert self.reached(id) == self.bases[id], (self.reached(id), self.bases[id])

    def over(self, control: Control, id: str, actions: list[str]) -> bool:
        left = any(node["released"] for node in control.state["nodeStates"])
        return (control.state["orderId"] == id and not left and all(control.action(each) in ENDED for each in actions)
                and control.state["lastNodeId"] == self.bases[id][-1])  # fmt: skip

    def part(self, id: str, update: int, count: int, last: bool = False) -> Any:
        """Returns an order, or its update, and notes what it asks for. The last one has no horizon."""
        r, before = self.random, self.bases.get(id, [])
        begin = 2 * max(0, len(before) - 1)
        names = [*before[-1:], *(f"{id}u{update}n{n}" for n in range(count))]
        base = len(names) if last or r.random() < 0.5 else r.randint(1, len(names))
        actions = {
            name: [
                act(f"x{name}-{n}{how}", how, "lift") for n, how in enumerate(r.choices(BLOCKING, k=r.randint(0, 2)))
            ]
            for name in names[1 if before else 0 :]
        }
        self.acts.setdefault(id, []).extend(each["actionId"] for n in names[:base] for each in actions.get(n, ()))
        self.bases[id] = self.parts[id, update] = [*before[:-1], *names[:base]]
        if not update:
            self.x = self.control.state["agvPosition"]["x"]
        return order(*names, id=id, update=update, begin=begin, base=base, x=self.x, **actions)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.kills.append(time.time())
        count = len(self.control.states)
        self.start()
        try:
            self.control.until(lambda c: len(c.states) > count)
        except AssertionError as error:
            log = (self.project / "vehicle.log").read_text()[-2000:]
            raise AssertionError(f"{error}\nended: {self.process.poll()}\n{log}") from error

    def pause(self, id: str) -> None:
        self.may_pause = True
        self.sent(instant("startPause", id), lambda c: c.action(id) == "FINISHED")
        begun = len(truth(self.project, "start"))
        if self.random.random() < 0.3:
            self.kill()
        time.sleep(self.random.random() * 0.2)
        assert len(truth(self.project, "start")) == begun, "it drives in a pause"
        self.sent(instant("stopPause", f"{id}s"), lambda c: c.action(f"{id}s") == "FINISHED")
        self.may_pause = False

    def cancel(self, id: str) -> None:
        self.cancelled.add(id)
        c = f"{id}c"
        self.sent(instant("cancelOrder", c), lambda control: control.action(c) in ENDED)
        events = truth(self.project)
        assert _moving(events, time.time(), time.time()) == {False} or self.control.action(c) == "FAILED"
        time.sleep(0.3)
        assert truth(self.project, "start", "do") == [e["id"] for e in events if e["what"] in ("start", "do")]

    def reached(self, id: str) -> list[str]:
        """Returns the nodes of this order in the order in which they were reached first."""
        return [*dict.fromkeys(node for node in truth(self.project, "at") if node.startswith(f"{id}u"))]

    def close(self) -> None:
        self.control.close()
        self.stack.close()
        self.brokers.close()


def _beside(events: list[Any]) -> list[Any]:
    """Returns the moments at which something went on beside a HARD action, or the wheels turned beside a SOFT one."""
    running: set[str] = set()
    wrong: list[Any] = []
    for each in events:
        if each["what"] == "do":
            running.add(each["id"])
        elif each["what"] in ("done", "dropped", "boot"):
            running = set() if each["what"] == "boot" else running - {each["id"]}
        kinds = [id[-4:] for id in running]
        if ("HARD" in kinds and len(kinds) > 1) or (each["moving"] and {"HARD", "SOFT"} & {*kinds}):
            wrong.append((each, running))
    return wrong


def _begun(events: list[Any]) -> set[str]:
    return {each["id"] for each in events if each["what"] == "do"}


def _moving(events: list[Any], since: float, until: float) -> set[bool]:
    """Returns whether the wheels have turned in this time: what held at its beginning, and each change."""
    before = [each["moving"] for each in events if each["t"] <= since]
    return {*before[-1:], *(each["moving"] for each in events if since < each["t"] <= until)} or {False}


@pytest.mark.skipif(MOSQUITTO is None, reason="mosquitto is not installed: apt-get install mosquitto")
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_no_message_says_what_is_not_so(seed: int, tmp_path: Path) -> None:
    """Through kills, pauses, updates, repeated messages, cancels and ends of the broker: no node is skipped, none is
    reached twice but for a kill in between, no action is done twice, and each message says what is so."""
    watch = Watch(seed, tmp_path)
    try:
        for number in range(ORDERS):
            watch.order(number)
        assert watch.control.wrong == []
        done = Counter(truth(watch.project, "done"))
        assert [id for id, count in done.items() if count > 1] == []
        assert _beside(truth(watch.project)) == []
        reached = Counter(truth(watch.project, "at"))
        again = sum(count - 1 for count in reached.values())
        assert again <= len(watch.kills), (reached, watch.kills)
        for id, base in watch.bases.items():
            assert watch.reached(id) == base[: len(watch.reached(id))], id
    finally:
        watch.close()
        if "VEHICLE_LOG" in os.environ:
            with Path(os.environ["VEHICLE_LOG"]).open("a") as log:
                states = len(watch.control.states)
                print(
                    json.dumps(
                        {
                            "seed": seed,
                            "orders": len(watch.bases),
                            "states": states,
                            "wrong": len(watch.control.wrong),
                            **watch.count,
                            "kills": len(watch.kills),
                            "cancelled": len(watch.cancelled),
                        }
                    ),
                    file=log,
                )
