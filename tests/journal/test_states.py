"""A run keeps its state in its journal now and then: resumed from there it is what it is when played from its start."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

import bt_runtime as bt
from bt_runtime import Node
from bt_runtime.clock import Manual
from bt_runtime.journal import Recording, replay, resume, state
from bt_runtime.journal.layout import checksum
from bt_runtime.run.replay import resume as resuming
from bt_runtime.run.replay.fork import fork
from bt_runtime.tree.nodes.repeats import Repeat
from tests.support.random_projects import ProjectMaker
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
    entries = {path: dict(of) for path, of in run.parts.context.blackboard.snapshot().items()}
    return nodes, entries, run.parts.engine.count, run.status


def copied(run: bt.Run, to: Path) -> Path:
    """The journal as a process that is killed now leaves it."""
    run.parts.journal.settled()
    to.mkdir()
    for file in run.parts.journal.path.parent.glob(f"{run.parts.journal.path.name}*"):
        shutil.copy(file, to / file.name)
    return to / run.parts.journal.path.name


def led(run: bt.Run, random: Random, ticks: int, grafts: bool = False) -> bool:
    """Ticks, with the time, writes, halts and grafts of others; False when the tree has ended."""
    clock = run.parts.journal.clock.inner
    while not isinstance(clock, Manual):
        clock = clock.inner
    for _ in range(ticks):
        for name in ("a", "b", "n"):
            if random.random() < 0.3:
                run.blackboard[name] = random.choice((0, 1, 2)) if name == "n" else random.choice((True, False))
        if grafts and random.random() < 0.1:
            node = random.choice(list(run.nodes()))
            with suppress(bt.BtError):
                run.insert(node.path, random.choice(GRAFTS), None)
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


ABOVE = "root:\n  repeat:\n    times: -1\n    child:\n      force:\n        status: success\n        child:\n"


def tree_of(random: Random, place: Path) -> bt.Tree:
    """A random tree that is repeated for ever; every other one includes others."""
    makers = Maker(random, size=14, asks=0.4), ProjectMaker(random, size=14, asks=0.4)
    file = place / "trees" / "t.yaml"
    if random.random() < 0.5:
        makers[1].project(place)
        text = file.read_text("utf-8")
    else:
        file.parent.mkdir(parents=True)
        text = makers[0].text()
    head, _, root = text.partition("root:\n")
    file.write_text(head + ABOVE + "".join(f"        {line}\n" for line in root.splitlines()), "utf-8")
    return bt.load(file, skills=SKILLS, project=place)


@pytest.mark.parametrize("grafts", [False, True])
def test_a_resume_from_a_kept_state_is_a_resume_from_the_start_is_the_run(tmp_path, monkeypatch, grafts):
    found: Counter[str] = Counter()
    for seed in range(FIRST, FIRST + ROUNDS):
        random = Random(seed)
        draw.seed(seed)
        place = tmp_path / str(seed)
        try:
            tree = tree_of(random, place)
        except bt.Faults:
            continue
        with bt.Run(tree, clock=Manual(), journal=place / "runs") as run:
            led(run, random, random.randrange(10, 60), grafts)
            if run.parts.engine.held is not None:
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
                    found["from a state" if again.parts.journal.recording.begins is not None else "from the start"] += 1
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


# One run by itself ------------------------------------------------------------------------------

ROUND = """\
version: 1
tree: t
blackboard: {n: {type: integer, default: 0}, way: any}
root:
  repeat:
    times: -1
    child: {sequence: [drive: {to: "{n}"}, wait: 0.5, set: {n: "{n + 1}"}]}
"""


def driving(on_resume: str, done: list[str]) -> type[bt.Skill]:
    class Drive(bt.Skill):
        left = 0

        def start(self, to: int) -> None:
            done.append(f"start {to}")
            self.left = 4

        def poll(self) -> bt.Status:
            self.left -= 1
            return bt.Status.RUNNING if self.left else bt.Status.SUCCESS

        def verify(self, to: int) -> bool:
            return False

    return bt.skill("drive to {to}", name="drive", on_resume=on_resume)(Drive)  # type: ignore[return-value]


def amid(place: Path, on_resume: str, ticks: int, done: list[str], **more: Any) -> Path:
    """The journal of a run that was killed while it drove."""
    clock = Manual()
    with bt.Run(bt.load(ROUND, skills=[driving(on_resume, done)]), clock=clock, journal=place / "runs", **more) as run:
        for _ in range(ticks):
            run.tick()
            clock.advance(0.1)
        begun = len(done)
        while len(done) == begun:
            run.tick()
            clock.advance(0.1)
            run.parts.journal.settled()
        return copied(run, place / "killed")


@pytest.mark.parametrize(
    "on_resume, begun, status", [("repeat", 1, "RUNNING"), ("verify", 1, "RUNNING"), ("fail", 0, "FAILURE")]
)
def test_a_skill_that_was_at_work_in_a_kept_state_is_in_doubt_as_ever(tmp_path, on_resume, begun, status):
    done: list[str] = []
    path = amid(tmp_path, on_resume, 60, done)
    done.clear()
    with resume(path, skills=[driving(on_resume, done)], clock=Manual()) as run:
        assert run.parts.journal.recording.begins is not None
        run.tick()
        assert len(done) == begun and run.parts.engine.find("/t/0/0").status.name == status


def changed(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Writes other contents into the latest kept state, with checksums that fit."""
    recording = Recording(path)
    events = recording.events
    last = max(i for i, event in enumerate(events) if event.kind == "state")
    body = json.loads(events[last].body)
    change(body)
    events[last] = events[last]._replace(body=json.dumps(body))
    with sqlite3.connect(path) as connection:
        sum = 0
        for event in events:
            sum = checksum(event, sum)
            connection.execute("UPDATE events SET body = ?, sum = ? WHERE seq = ?", (event.body, sum, event.seq))
        end = recording.end._replace(sum=sum)
        connection.execute("UPDATE head SET value = ? WHERE name = 'end'", (end.text(),))
    connection.close()


def node_of(value: Any) -> Callable[[dict[str, Any]], object]:
    return lambda body: body["nodes"][0].__setitem__(0, value)


@pytest.mark.parametrize(
    "change",
    [
        lambda body: body.update(v=2),
        lambda body: body.update(like=1),
        lambda body: body.pop("nodes"),
        lambda body: body["nodes"].pop(),
        lambda body: body.update(count="many"),
        lambda body: body.update(jobs=None),
        lambda body: body.update(board=[1]),
        lambda body: body["scopes"].update(elsewhere=[{}, {}]),
        lambda body: body["scopes"][""][0].update(n="no integer"),
        lambda body: body.update(acts={"999": {"said": "", "number": 1}}),
        lambda body: body.update(acts={"0": {"said": "", "number": 1}}),
        lambda body: body.update(instants={"0": {"number": 1}}),
        node_of({"~": "node", "v": 10**6}),
        node_of({"~": "status", "v": "EVIL"}),
        node_of({"~": "eval", "v": "1"}),
        node_of({"~": ["a"]}),
    ],
)
def test_a_state_that_does_not_fit_is_left_aside_for_the_one_before(tmp_path, change):
    done: list[str] = []
    path = amid(tmp_path, "repeat", 60, done)
    clean = shutil.copytree(path.parent, tmp_path / "clean") / path.name
    changed(path, change)
    ends, begun = [], []
    for each in (path, clean):
        with resume(each, skills=[driving("repeat", done)], clock=Manual()) as run:
            ends.append(shown(run))
            begun.append(run.parts.journal.recording.begins.tick)
    assert ends[0] == ends[1] and begun[0] < begun[1]


def test_a_resume_reads_what_came_after_the_state_and_no_more(tmp_path):
    few, many = (amid(tmp_path / str(ticks), "repeat", ticks, []) for ticks in (60, 600))
    read = {}
    for path in (few, many):
        with resume(path, skills=[driving("repeat", [])], clock=Manual()) as run:
            read[path] = len(run.parts.journal.recording.events)
    assert len(Recording(many).events) > 5 * len(Recording(few).events)
    assert read[many] < 2 * max(read[few], 20)


def test_damage_before_the_state_does_not_keep_a_run_from_going_on(tmp_path):
    path = amid(tmp_path, "fail", 60, [])
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE events SET body = '{}' WHERE seq = 3")
    connection.close()
    assert Recording(path).damage
    with resume(path, skills=[driving("fail", [])], clock=Manual()) as run:
        assert run.parts.journal.recording.begins is not None and not run.parts.journal.recording.damage


def test_nothing_is_kept_of_what_has_no_form_and_kept_again_afterwards(tmp_path):
    with bt.Run(bt.load(ROUND, skills=[driving("repeat", [])]), clock=Manual(), journal=tmp_path / "runs") as run:

        def states(ticks: int) -> int:
            before = kept()
            for _ in range(ticks):
                run.tick()
                run.parts.journal.clock.inner.inner.advance(0.1)
            return kept() - before

        def kept() -> int:
            run.parts.journal.settled()
            return sum(event.kind == "state" for event in Recording(run.parts.journal.path).events)

        assert states(60) > 0
        run.blackboard["way"] = object()
        assert states(60) == 0
        run.blackboard["way"] = {"from": "a", 1: ("b", {2.5}), "far": float("inf")}
        assert states(60) > 0
        run.insert("/t/0", "log: a graft that stays")
        run.tick()
        assert states(60) == 0
        run.remove(next(node.path for node in run.nodes() if "graft" in node.feedback_message))
        run.tick()
        assert states(60) > 0
        path = copied(run, tmp_path / "killed")
    with resume(path, skills=[driving("repeat", [])], clock=Manual()) as again:
        assert again.parts.journal.recording.begins is not None
        assert again.blackboard["way"] == {"from": "a", 1: ("b", {2.5}), "far": float("inf")}


def test_a_node_from_elsewhere_that_does_not_say_what_it_keeps_is_in_no_state(tmp_path):
    class Silent(Node):
        pass

    class Saying(Silent):
        STATE = ("kept",)

    assert not state.says_its_state(Silent) and not state.says_its_state(Saying)
    assert state.says_its_state(Repeat)


def test_a_fork_begins_at_the_state_before_its_tick(tmp_path):
    path = amid(tmp_path, "repeat", 200, [])
    tick = Recording(path).last_tick - 40
    with fork(path, str(tick), skills=[driving("repeat", [])], clock=Manual(), anyway=True) as run:
        assert run.parts.engine.count == tick
        assert 0 < run.parts.journal.recording.begins.tick <= tick
        assert len(run.parts.journal.recording.events) < 100
