"""A run keeps its state in its journal now and then: resumed from there it is what it is when played from its start."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

import bt_runtime as bt
from bt_runtime.clock import Manual
from bt_runtime.journal import Recording, replay, resume, state
from bt_runtime.run.replay import resume as resuming
from tests.support.random_trees import Maker

ROUNDS, FIRST = int(os.environ.get("BTR_STATES", "40")), int(os.environ.get("FIRST", "0"))
draw = Random()  # what skills answer
GRAFTS = ("log: hi", "wait: 1", "sequence: [go: {}, set: {a: true}]", "try: {do: {go: {}}, finally: {set: {b: true}}}")


class Drawn(bt.Skill):
    """Answers by chance, after some ticks."""

    left = 0

    def start(self) -> None:
        self.left = draw.randrange(3)

    def poll(self) -> bt.Status:
        self.left -= 1
        return bt.Status.RUNNING if self.left >= 0 else draw.choice((bt.Status.SUCCESS, bt.Status.FAILURE))


def made(name: str, **more: Any) -> type[Drawn]:
    return bt.skill(name, name=name, on_resume="repeat", **more)(type(name, (Drawn,), {}))  # type: ignore[return-value]


@bt.skill("look", name="look", on_resume="repeat", outputs={"seen": bool})
class Look(Drawn):
    def poll(self) -> bt.Status:
        self.result = draw.random() < 0.5
        return super().poll()


@bt.skill("is_near", name="is_near", instant=True, condition=True)
def is_near() -> bool:
    return draw.random() < 0.5


SKILLS = [made("go"), made("grab"), made("arm", uses=["gripper"]), made("lift", uses=["gripper"]), Look, is_near]


@pytest.fixture(autouse=True)
def often(monkeypatch):
    """States are kept every few ticks."""
    monkeypatch.setattr(state, "BYTES", 800)
    monkeypatch.setattr(state, "TIMES", 0.2)


def shown(run: bt.Run) -> tuple[Any, ...]:
    nodes = [(n.path, type(n).__name__, n.status.name, n.feedback_message) for n in run.nodes()]
    return nodes, {path: dict(of) for path, of in run.context.blackboard.snapshot().items()}, run.engine.count, run.status


def copied(run: bt.Run, to: Path) -> Path:
    """The journal as a process that is killed now leaves it."""
    run.journal.settled()
    to.mkdir()
    for file in run.journal.path.parent.glob(f"{run.journal.path.name}*"):
        shutil.copy(file, to / file.name)
    return to / run.journal.path.name


def led(run: bt.Run, random: Random, ticks: int, grafts: bool = False) -> bool:
    """Ticks, with the time, writes, halts and grafts of others; False when the tree has ended."""
    clock = run.journal.clock.inner
    while not isinstance(clock, Manual):
        clock = clock.inner
    for _ in range(ticks):
        for name in ("a", "b", "n"):
            if random.random() < 0.3:
                run.blackboard[name] = random.choice((0, 1, 2)) if name == "n" else random.choice((True, False))
        if grafts and random.random() < 0.1:
            node = random.choice(list(run.nodes()))
            try:
                run.insert(node.path, random.choice(GRAFTS), None)
            except bt.BtError:
                pass
        tick = run.tick()
        if random.random() < 0.05:
            run.halt("by chance")
        elif not tick.running:
            return False
        if random.random() < 0.6 and clock.now() < tick.due < float("inf"):
            clock.advance(tick.due - clock.now())
    return True


def from_start(monkeypatch) -> None:
    """Lets a resume read the whole journal."""
    monkeypatch.setattr(resuming, "Recording", lambda path, held=False, near=0: Recording(path, held))


def text_of(random: Random) -> str:
    """A random tree that is repeated for ever."""
    head, _, root = Maker(random, size=14, asks=0.4).text().partition("root:\n")
    above = "root:\n  repeat:\n    times: -1\n    child:\n      force:\n        status: success\n        child:\n"
    return head + above + "".join(f"        {line}\n" for line in root.splitlines())


@pytest.mark.parametrize("grafts", [False, True])
def test_a_resume_from_a_kept_state_is_a_resume_from_the_start_is_the_run(tmp_path, monkeypatch, grafts):
    found: Counter[str] = Counter()
    for seed in range(FIRST, FIRST + ROUNDS):
        random = Random(seed)
        draw.seed(seed)
        try:
            tree = bt.load(text_of(random), skills=SKILLS)
        except bt.Faults:
            continue
        place = tmp_path / str(seed)
        with bt.Run(tree, clock=Manual(), journal=place / "runs") as run:
            led(run, random, random.randrange(10, 60), grafts)
            if run.engine.held is not None:
                continue  # it would be undone
            was = shown(run)
            path = copied(run, place / "killed")
        ends, asked = [], False
        for near in (True, False):
            own = shutil.copytree(path.parent, place / f"near {near}") / path.name
            with monkeypatch.context() as patched:
                if not near:
                    from_start(patched)
                draw.seed(seed)
                before = draw.getstate()
                with resume(own, skills=SKILLS, clock=Manual()) as again:
                    found["from a state" if again.journal.recording.begins is not None else "from the start"] += 1
                    asked = asked or draw.getstate() != before  # the rest of its last tick was asked anew
                    now = shown(again)
                    assert now == was or asked or now[2] < was[2], (seed, near)  # fewer: ticks that asked for nothing
                    draw.seed(seed)
                    led(again, Random(seed), 20, grafts)
                    ends.append((now[2], shown(again)))
            told = replay(own)
            assert told.same, (seed, near, told)
        if not asked and ends[0][0] == ends[1][0]:
            found["went on alike"] += 1
            assert ends[0] == ends[1], seed
        shutil.rmtree(place)
    assert found["from a state"] > ROUNDS / 3 and found["went on alike"] > ROUNDS / 3, found
