"""What skills, listeners and other threads do to a run within a tick is there after a resume, and comes again in a
replay."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bt_runtime import BtError, Run, Skill, load, skill
from bt_runtime.clock import Manual
from bt_runtime.events import Line, SkillEnded, Written
from bt_runtime.journal import Recording, replay, resume
from bt_runtime.testing import RUNNING, SUCCESS
from tests.journal.forgery import rewrite

TREE = """
version: 1
tree: t
blackboard:
  c: {type: integer, default: 0}
  d: {type: integer, default: 0}
  e: {default: x}
  go: {type: boolean, default: false}
root:
  parallel:
    - reactive_fallback:
        - sequence: {when: go, children: [{wait: 50}]}
        - sequence:
            - set: {d: "{c}"}
            - log: begin
            - set: {d: "{c + 10}"}
            - work: {}
            - set: {d: "{c + 20}"}
            - wait: 100
    - repeat: {times: 100, child: {sequence: [{set: {seen: "{c}"}}, {wait: 0.1}]}}
"""
Do = Callable[[Run], object]


class Site:
    """What the skill and the test do to the run, call by call."""

    def __init__(self) -> None:
        self.run: Run | None = None
        self.calls: dict[str, Do] = {}

    def now(self, call: str) -> None:
        if self.run is not None and call in self.calls:
            self.calls[call](self.run)


def work(site: Site) -> type[Skill]:
    @skill("work", name="work", on_resume="verify")
    class Work(Skill):
        def start(self) -> None:
            self.n = 0
            site.now("start")

        def poll(self) -> Any:
            self.n += 1
            site.now(f"poll {self.n}")
            return RUNNING if self.n < 3 else SUCCESS

        def cancel(self) -> None:
            site.now("cancel")

        def verify(self) -> bool:
            site.now("verify")
            return False

    return Work


def written(value: int) -> Do:
    return lambda run: run.blackboard.update(c=value)


def in_thread(do: Do) -> Do:
    def call(run: Run) -> None:
        thread = threading.Thread(target=do, args=(run,))
        thread.start()
        thread.join(5)

    return call


def listening(do: Do, event: Any) -> Do:
    def begin(run: Run) -> None:
        first = [True]

        def heard(told: Any) -> None:
            if first and (event is not Written or told.name == "d"):
                first.clear()
                do(run)

        run.listen(heard, event)

    return begin


CASES: dict[str, dict[str, Do]] = {
    "nothing": {},
    "a look whether it was done writes": {"verify": written(5)},
    "a start writes": {"start": written(5)},
    "a poll writes": {"poll 1": written(5)},
    "two polls write": {"poll 1": written(5), "poll 3": written(6)},
    "a poll removes": {"poll 2": lambda run: run.blackboard.remove("e")},
    "a cancel writes": {"poll 2": lambda run: run.blackboard.update(go=True), "cancel": written(9)},
    "a poll grafts": {"poll 1": lambda run: run.insert("/t/0/1", "log: grafted", 5)},
    "a poll halts": {"poll 2": lambda run: run.halt("enough")},
    "a listener to lines writes": {"begin": listening(written(5), Line)},
    "a listener to writes writes": {"begin": listening(written(5), Written)},
    "a listener to ends writes": {"begin": listening(written(5), SkillEnded)},
    "a listener grafts": {"begin": listening(lambda run: run.remove("/t/1"), Line)},
    "a program removes": {"tick 2": lambda run: run.blackboard.remove("e")},
    "a thread writes": {"poll 1": in_thread(written(5))},
    "a thread removes": {"poll 1": in_thread(lambda run: run.blackboard.remove("e"))},
    "a thread inserts": {"poll 1": in_thread(lambda run: run.insert("/t/0/1", "log: grafted", 5))},
    "a thread replaces": {"poll 1": in_thread(lambda run: run.replace("/t/1", "wait: 7"))},
    "a thread takes out": {"poll 1": in_thread(lambda run: run.remove("/t/1"))},
}


@pytest.mark.parametrize("ticks", [2, 4, 7])
@pytest.mark.parametrize("what", CASES)
def test_the_tree_stands_as_it_stood_whoever_did_what_in_a_tick(what: str, ticks: int, tmp_path: Path) -> None:
    site, clock = Site(), Manual()
    site.calls = CASES[what]
    run = site.run = Run(load(TREE, skills=[work(site)]), clock=clock, journal=tmp_path / "runs", slow=None)
    with run:
        site.now("begin")
        for number in range(ticks):
            run.tick()
            site.now(f"tick {number}")
            clock.advance(0.05)
        journal, was = cut_off(run, tmp_path / "copy"), standing(run)
        site.run = None
    found = replay(journal)
    assert found.same, found
    with resume(journal, skills=[work(site)], clock=Manual()) as again:
        if what != "a poll halts":  # a halt at the very end is taken back
            assert standing(again) == was
        assert again.tick().running
    assert replay(journal).same


def test_a_run_that_a_poll_halted_for_good_can_be_resumed(tmp_path: Path) -> None:
    site = Site()
    site.calls = {"poll 2": lambda run: run.halt("enough", for_good=True)}
    with Run(load(TREE, skills=[work(site)]), clock=Manual(), journal=tmp_path, slow=None) as run:
        site.run = run
        assert run.spin().name == "INVALID" and run.stopped == "enough"
        assert run.parts.journal is not None and run.parts.journal.path is not None
    site.run = None
    assert not Recording(run.parts.journal.path).result and replay(run.parts.journal.path).same
    with resume(run.parts.journal.path, skills=[work(site)], clock=Manual()) as again:
        assert again.tick().running and not again.stopped


def test_a_value_that_a_node_writes_otherwise_is_a_difference(tmp_path: Path) -> None:
    site = Site()
    with Run(load(TREE, skills=[work(site)]), clock=Manual(), journal=tmp_path, slow=None) as run:
        for _ in range(5):
            run.tick()
    assert run.parts.journal is not None and run.parts.journal.path is not None
    path = run.parts.journal.path
    rewrite(path, "blackboard", '"value":10', '"value":11')
    found = replay(path)
    assert "the run writes `blackboard` (scope '', name 'd', value '10')" in found.difference, found
    with pytest.raises(BtError, match="cannot be led back"):
        resume(path, skills=[work(site)], clock=Manual())


def cut_off(run: Run, to: Path) -> Path:
    """A copy of the files of a run whose process dies now."""
    assert (
        run.parts.journal is not None
        and run.parts.journal.path is not None
        and run.parts.journal.tape.writer is not None
    )
    assert run.parts.journal.tape.writer.durable().wait(10)
    to.mkdir()
    for file in run.parts.journal.path.parent.glob(f"{run.parts.journal.path.name}*"):
        shutil.copy(file, to)
    return to / run.parts.journal.path.name


def standing(run: Run) -> Any:
    return [(n.path, n.status.name) for n in run.nodes()], json.dumps(run.blackboard.snapshot(), sort_keys=True)
