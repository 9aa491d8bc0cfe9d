"""What other threads do at any moment is written down where it took effect."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from bt_runtime import Run, load, skill
from bt_runtime.clock import Manual
from bt_runtime.journal import Recording, replay, resume
from bt_runtime.journal.layout import Event
from bt_runtime.journal.order import in_order
from bt_runtime.journal.writer import Writer
from bt_runtime.testing import SUCCESS
from bt_runtime.types import Observation, Task, Verdict
from tests.support.abandoned import abandoned

COUNTING = """
version: 1
tree: t
blackboard:
  seen: {type: integer, default: 0}
  told: {type: integer, default: 0}
root:
  repeat:
    times: 60
    child:
      sequence:
        - hop: {}
        - set: {seen: "{seen + told}"}
        - fallback:
            - check: seen % 3 == 0
            - succeed: {}
"""


@pytest.mark.parametrize("number", range(5))
def test_writes_of_other_threads_come_again_at_their_tick(number, runs):
    """A skill in a thread and a bystander write while the tree ticks as fast as it can."""
    runs_made: list[Run] = []
    over, turns = threading.Event(), threading.Semaphore(0)

    @skill(on_resume="repeat")
    def hop() -> bool:
        runs_made[0].blackboard["told"] = runs_made[0].blackboard["told"] + 1
        return True

    run = Run(load(COUNTING, skills=[hop]), journal=runs)
    runs_made.append(run)

    def bystander() -> None:
        count = 0
        while turns.acquire() and not over.is_set():
            count += 1
            run.blackboard.update("told", lambda told, count=count: (told or 0) + count % 2)

    thread = threading.Thread(target=bystander)
    thread.start()
    ticks = 0
    while run.tick().running and ticks < 3000:
        ticks += 1
        turns.release(3)
        time.sleep(0)  # no pause: the others come to their turn
    over.set()
    turns.release()
    thread.join()
    run.close()
    assert run.status is SUCCESS
    assert sum(1 for _ in Recording(run.parts.journal.path).of("write")) > 60
    found = replay(run.parts.journal.path)
    assert found.same and found.status == "SUCCESS", found


def test_what_was_noted_late_is_put_where_it_took_effect():
    def event(seq: int, tick: int, kind: str, order: int = 0) -> Event:
        return Event(seq, tick, 0.0, kind, f'{{"order":{order}}}')

    noted = [event(1, 1, "ask"), event(2, 2, "clock"), event(3, 1, "write", 9), event(4, 1, "write", 8)]
    noted.append(event(5, 2, "done"))
    assert [e.seq for e in in_order(noted, {})] == [1, 4, 3, 2, 5]


def test_who_notes_faster_than_the_disk_writes_keeps_nobody_waiting(runs):
    run = Run(load("version: 1\ntree: t\nroot: {wait: 5}\n"), clock=Manual(), journal=runs)
    over = threading.Event()

    def flood() -> None:
        while not over.is_set():
            run.blackboard["x"] = 1

    thread = threading.Thread(target=flood)
    thread.start()
    try:
        assert run.parts.journal.tape.writer.durable().wait(30)
    finally:
        over.set()
        thread.join()
    run.close()


class Slow:
    """A world that takes its time: an action ends when the test says so."""

    instant = False

    def __init__(self) -> None:
        self.done: list[str] = []
        self.begun, self.go = threading.Event(), threading.Event()

    def reset(self, task: Task) -> Observation:
        self.done = []
        return self.look()

    def look(self) -> Observation:
        return Observation(f"done: {self.done}")

    def skills(self):
        return ["go to kitchen 1"]

    def act(self, sentence: str) -> Observation:
        self.begun.set()
        assert self.go.wait(60)
        self.done.append(sentence)
        return Observation(f"You did {len(self.done)} things.")

    def verdict(self) -> Verdict:
        return Verdict(len(self.done), 2)

    def holds(self, fact: str) -> bool | None:
        return None

    def snapshot(self) -> bytes:
        return "\n".join(self.done).encode()

    def restore(self, snapshot: bytes) -> None:
        self.done = snapshot.decode().splitlines()


CUT = """
version: 1
tree: t
skills: [house]
root:
  sequence:
    - force: {status: success, child: {timeout: {seconds: 1, child: {go_to: kitchen 1}}}}
    - wait: 1
    - go_to: kitchen 1
"""


def test_an_action_that_ended_after_it_was_cancelled_is_done_again_in_a_world_that_is_rebuilt(runs: Path):
    world = Slow()
    run = Run(load(CUT), world=world, clock=Manual(), journal=runs)
    run.tick()
    assert world.begun.wait(60)
    run.parts.context.clock.inner.advance(1)
    run.tick()  # the time was up
    assert world.done == []
    world.go.set()
    while not world.done or not any(
        e[3] == "late" for e in list(run.parts.journal.tape.writer.queue) if e[0] is Writer._event
    ):
        if any(e.kind == "late" for e in _read(run)):
            break
    run.tick()
    path = abandoned(run)
    other = Slow()
    other.go.set()
    with resume(path, world=other, clock=Manual()) as again:
        assert other.done == ["go to kitchen 1"]
        assert again.spin() is SUCCESS
        assert other.verdict() == Verdict(2, 2)
    assert replay(path).same


def _read(run: Run):
    assert run.parts.journal.tape.writer.durable().wait(60)
    return Recording(run.parts.journal.path).events


class Memory:
    """Episodes as an agent asks for them: a job that answers at the second look."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def ask(self, goal: str, *args: object, **how: object):
        self.asked.append(goal)
        return Found(goal)


class Found:
    text = "Your task is to: do as before\nAct: done\n"

    def __init__(self, goal: str) -> None:
        self.looks, self.goal, self.taken = 0, goal, [self]

    def why(self) -> list[str]:
        return [f"like {self.goal}"]

    def poll(self):
        self.looks += 1
        return self if self.looks > 1 else None

    def cancel(self, reason: str) -> None:
        pass


def test_experiences_are_recalled_from_the_journal(runs: Path):
    from bt_runtime.agents import ScriptedModel

    memory, model = Memory(), ScriptedModel(["Act: done"])
    around = {"model": model, "services": {"episodes": memory}, "clock": Manual(), "journal": runs}
    with Run(load("react"), inputs={"goal": "tidy up"}, **around) as run:
        assert run.spin(ticks=50) is SUCCESS
    recording = Recording(run.parts.journal.path)
    assert [b["value"]["texts"] for _, b in recording.of("found")] == [[Found.text]]
    assert [b["why"] for _, b in recording.of("retrieval")] == [["like tidy up"]]
    assert replay(run.parts.journal.path).same and memory.asked == ["tidy up"]
