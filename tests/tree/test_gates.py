"""Gates stand before ticks, before the starts of actions and before the steps of single nodes; any number may."""

from __future__ import annotations

from typing import Any

import bt_runtime as bt
from bt_runtime.clock import Manual
from bt_runtime.events import Grown, Tick
from bt_runtime.plugins import Action, Activity, Gate, refused
from bt_runtime.tree.clock import Alarm
from bt_runtime.tree.gates import Call, Start

SUCCESS, FAILURE, RUNNING = bt.Status.SUCCESS, bt.Status.FAILURE, bt.Status.RUNNING


@bt.skill
class Drive(bt.Skill):
    started = 0

    def start(self, place: str) -> None:
        Drive.started += 1

    def poll(self) -> bt.Status:
        return SUCCESS


@bt.skill(condition=True)
def ready() -> bool:
    return True


def run_of(root: str) -> bt.Run:
    tree = bt.load(f"version: 1\ntree: t\nroot:\n  {root}\n", skills=[Drive, ready])
    return bt.Run(tree, clock=Manual(), slow=None)


class Named(Gate):
    """Tells what it is asked for; refuses or holds when it is told to."""

    def __init__(self, name: str, heard: list[str], refuses: bool = False) -> None:
        self.name, self.heard, self.refuses = name, heard, refuses
        self.until: float | None = None

    def hold(self) -> float | None:
        return self.until

    def ticked(self, tick: Tick) -> Tick:
        self.heard.append(f"{self.name} {tick.number}")
        return tick

    def start(self, action: Action, start: Start) -> Activity:
        self.heard.append(f"{self.name}: {action.sentence} {action.params}")
        return refused("not now") if self.refuses else start()

    def instant(self, call: Call) -> Call:
        def asked(**params: Any) -> object:
            self.heard.append(f"{self.name} asks")
            return call(**params)

        return asked


def test_each_gate_is_asked_before_a_start_in_the_order_of_coming_until_it_is_removed() -> None:
    heard: list[str] = []
    with run_of("repeat: {times: 2, child: {drive: dock}}") as run:
        remove = run.parts.context.gates.add(Named("a", heard))
        run.parts.context.gates.add(Named("b", heard))
        run.tick()
        assert heard[:2] == ["a: drive dock {'place': 'dock'}", "b: drive dock {'place': 'dock'}"]
        remove()
        del heard[:]
        run.spin()
        assert [said for said in heard if ":" in said] == ["b: drive dock {'place': 'dock'}"]


def test_a_gate_that_comes_between_two_ticks_is_asked_at_the_next_start() -> None:
    heard: list[str] = []
    with run_of("repeat: {times: -1, child: {sequence: [{drive: dock}, {wait: 1}]}}") as run:
        run.tick()
        remove = run.parts.context.gates.add(Named("a", heard))
        run.parts.context.clock.advance(1)  # type: ignore[attr-defined]
        run.tick()
        run.tick()
        assert sum(":" in said for said in heard) == 1
        remove()
        run.parts.context.clock.advance(1)  # type: ignore[attr-defined]
        run.tick()
        run.tick()
        assert sum(":" in said for said in heard) == 1


def test_a_gate_that_refuses_keeps_the_skill_and_the_gates_behind_it_from_starting() -> None:
    heard: list[str] = []
    with run_of("drive: dock") as run:
        run.parts.context.gates.add(Named("a", heard, refuses=True))
        run.parts.context.gates.add(Named("b", heard))
        before = Drive.started
        assert run.tick().status is FAILURE
    assert Drive.started == before and not any("b:" in said for said in heard)


def test_an_instant_skill_is_called_through_all_gates() -> None:
    heard: list[str] = []
    with run_of("ready: {}") as run:
        run.parts.context.gates.add(Named("a", heard))
        run.parts.context.gates.add(Named("b", heard))
        assert run.tick().status is SUCCESS
    assert heard[:2] == ["a asks", "b asks"]


def test_a_tick_is_held_for_as_long_as_any_gate_holds_it_and_told_to_all() -> None:
    heard: list[str] = []
    with run_of("wait: 100") as run:
        one, two = Named("a", heard), Named("b", heard)
        for gate in (one, two):
            run.parts.context.gates.add(gate)
        one.until, two.until = 7.0, 5.0
        held = run.tick()
        assert (held.number, held.due, heard) == (0, 5.0, [])
        two.until = None
        assert run.tick().number == 0
        one.until = None
        assert run.tick().number == 1 and heard == ["a 1", "b 1"]


def test_a_debugger_s_gate_stands_before_every_step_of_a_node_and_leaves_nothing_behind() -> None:
    with run_of("sequence: [{wait: 1}, {wait: 1}]") as run:
        node, debugger = run.parts.engine.root, bt.debugger_of(run)
        run.tick()
        debugger.break_at("/t", "after")
        debugger.break_at("/t", "success")
        assert vars(node)["resumes"] is False  # the tick would else pass a running sequence by
        stepped, own = list[Any](), vars(node)["step"]
        vars(node)["step"] = lambda *given: stepped.append(given) or own(*given)
        run.tick()
        vars(node)["step"] = own
        assert len(stepped) == 1
        debugger.clear(1)
        assert vars(node)["step"] is own
        debugger.clear()
        assert not {"step", "resumes"} & vars(node).keys()


def test_listeners_are_told_of_nodes_that_come() -> None:
    with run_of("sequence: [{wait: 1}]") as run:
        grown: list[str] = []
        run.listen(lambda event: grown.append(event.root.name), Grown)
        run.insert("/t", "log: {text: a, name: new}")
        run.tick()
    assert grown == ["new"]


def test_an_alarm_calls_all_that_listen_to_it() -> None:
    alarm, rung = Alarm(), list[str]()
    leave = alarm.listen(lambda: rung.append("a"))
    alarm.listen(lambda: rung.append("b"))
    alarm.set()
    leave()
    alarm.clear()
    alarm.set()
    assert rung == ["a", "b", "b"]
