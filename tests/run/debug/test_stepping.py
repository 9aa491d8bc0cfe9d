"""Back to a tick, and on from there as a fork: the past is what was seen then, and nothing of it is done again."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bt_runtime import BtError, Run, Skill, debugger_of, load, skill
from bt_runtime.cli import main
from bt_runtime.clock import Manual
from bt_runtime.journal import Recording
from bt_runtime.journal import state as state_of_runs
from bt_runtime.run.debug.commands import COMMANDS, LOOKING, do, latest, shown
from bt_runtime.run.debug.debugger import Debugger
from bt_runtime.run.replay.past import Past
from bt_runtime.run.replay.replay import Remade
from bt_runtime.run.replay.stepping import recorded, stepping
from bt_runtime.skills.skill import kind_of
from bt_runtime.testing import FAILURE, RUNNING, SUCCESS
from bt_runtime.tree.node import path_of

begun: list[int] = []  # every real start of a skill


@skill("do {number}", name="job", on_resume="repeat")
class Job(Skill):
    """Runs for `number % 3` ticks; the result is that of its number."""

    def start(self, number: int) -> None:
        begun.append(number)
        self.number = number
        self.left = number % 3

    def poll(self) -> Any:
        self.left -= 1
        return RUNNING if self.left >= 0 else FAILURE if self.number % 4 == 1 else SUCCESS


def grown(draw: random.Random, depth: int, jobs: Iterator[int]) -> str:
    """A random node as YAML in one line."""
    kind = draw.choice(["job", "job", "set", "wait"] if depth == 0 else ["list", "list", "retry", "decorator", "job"])
    if kind == "job":
        return f"{{job: {next(jobs)}}}"
    if kind == "set":
        return '{set: {n: "{n + 1}"}}'
    if kind == "wait":
        return f"{{wait: {draw.choice((0.2, 1, 2))}}}"
    if kind == "list":
        below = ", ".join(grown(draw, depth - 1, jobs) for _ in range(draw.randint(2, 3)))
        return f"{{{draw.choice(('sequence', 'fallback', 'parallel', 'round_robin'))}: [{below}]}}"
    below = grown(draw, depth - 1, jobs)
    if kind == "retry":
        return f"{{retry: {{times: 2, child: {below}}}}}"
    return draw.choice((f"{{invert: {below}}}", f"{{force: {{status: success, child: {below}}}}}"))


def tree(seed: int) -> str:
    draw, jobs = random.Random(seed), iter(range(1000))
    parts = ", ".join(grown(draw, 3, jobs) for _ in range(4))
    root = f"{{repeat: {{times: 3, child: {{force: {{status: success, child: {{parallel: [{parts}]}}}}}}}}}}"
    return f"version: 1\ntree: t\nblackboard: {{n: {{type: integer, default: 0}}}}\nroot: {root}\n"


def state(engine: Any) -> dict[str, Any]:
    seen = {path_of(node): node.status.name for node in engine.root.iterate()}
    return {**seen, **dict(engine.context.blackboard.root)}


@contextmanager
def paused(text: str, folder: Path, ticks: int) -> Iterator[tuple[Run, dict[int, Any], dict[int, list[str]]]]:
    """A run that was ticked so often and is paused, with what it showed and said after each tick."""
    clock, states, why = Manual(), {}, {}
    with Run(load(text, skills=[Job]), clock=clock, journal=folder, hz=2) as run, stepping(run, Manual()):
        debugger = debugger_of(run)
        debugger.look()
        debugger.pause_of.author(limit=float("inf"))
        while run.parts.engine.count < ticks and run.tick().running:
            states[run.parts.engine.count], why[run.parts.engine.count] = state(run.parts.engine), debugger.why()
            clock.advance(0.5)
        debugger.pause()
        yield run, states, why


@pytest.mark.parametrize("states", [False, True], ids=["from the start", "from a state"])
@pytest.mark.parametrize("seed", range(10))
def test_back_to_a_tick_shows_what_was_seen_then_and_the_fork_ends_as_the_run_does(
    seed: int, states: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if states:
        monkeypatch.setattr(state_of_runs, "BYTES", 300)
        monkeypatch.setattr(state_of_runs, "TIMES", 0.1)
    draw = random.Random(seed)
    begun.clear()
    with paused(tree(seed), tmp_path, 8) as (run, seen, why):
        debugger, before = debugger_of(run), Counter(begun)
        whole = Recording(run.parts.journal.path).events
        past = sorted(seen)[:-1]
        for tick in draw.sample(past, min(5, len(past))):
            do(debugger, "to", {"tick": tick})
            assert state(shown(debugger).engine) == seen[tick]
            said = do(debugger, "why", {})["sentences"]
            assert said == why[tick]
        assert Counter(begun) == before, "looking back calls no skill"
        at_rest = [tick for tick in past if not running(run.parts.journal.path, tick)]
        if run.status is not RUNNING or not at_rest:
            return
        tick = draw.choice(at_rest)
        do(debugger, "to", {"tick": tick})
        do(debugger, "fork", {"anyway": True})
        fork: Any = latest(debugger).run
        assert state(fork.parts.engine) == seen[tick] and fork.parts.name == f"{run.parts.name}-fork-1"
        assert Counter(begun) == before, "nothing that had begun is begun again before the fork goes on"
        thread = debugger.travel.thread
        do(debugger, "continue", {})
        thread.join(60)
        assert not thread.is_alive() and latest(debugger) is debugger
        assert [*Recording(run.parts.journal.path).events[: len(whole)]] == whole
        again = Counter(begun) - before
        debugger.resume()
        run.spin()
        rest = Counter(begun) - before - again
        assert run.status is fork.status and run.blackboard["n"] == fork.blackboard["n"]
        run.parts.journal.settled()
        later = started_after(run.parts.journal.path, tick)
        assert again == later, "the fork begins what came later, and nothing twice"
        assert rest + before == Counter(begun) - again


def events(path: Path, kind: str) -> list[tuple[int, dict[str, Any]]]:
    return [(event.tick, body) for event, body in Recording(path).of(kind)]


def running(path: Path, tick: int) -> Counter[int]:
    """The jobs that go on at the end of this tick."""
    over = {body["job"] for at, body in events(path, "done") if at <= tick}
    open_ = [b for at, b in events(path, "begin") if at <= tick and b["job"] not in over]
    return Counter(int(body["sentence"].split()[-1]) for body in open_)


def started_after(path: Path, tick: int) -> Counter[int]:
    return Counter(int(body["sentence"].split()[-1]) for at, body in events(path, "begin") if at > tick)


WALK = 'version: 1\ntree: t\nblackboard: {n: {type: integer, default: 0}}\nroot: {repeat: {times: 9, child: {set: {n: "{n + 1}"}}}}\n'  # noqa: E501


def test_back_moves_tick_by_tick_and_only_looking_is_possible_there(tmp_path: Path) -> None:
    with paused(WALK, tmp_path, 6) as (run, _, _):
        debugger = debugger_of(run)
        assert do(debugger, "back", {})["said"].startswith("tick 5 of 6: RUNNING; `fork` goes on from here")
        assert do(debugger, "back", {"ticks": 2})["said"].startswith("tick 3 of 6")
        assert do(debugger, "print", {})["entries"] == {"n": "3"}
        assert do(debugger, "status", {})["past"]
        given = {"path": "/t", "text": "wait: 1", "acts": ["failure"]}
        for name in COMMANDS.keys() - LOOKING - {"back", "fork"}:
            needs = ("path",) if name == "to" else COMMANDS[name].needs
            with pytest.raises(BtError, match="tick 3 is past") as refused:
                do(debugger, name, {key: given[key] for key in needs})
            assert "`to 6` returns" in refused.value.hint
        with pytest.raises(BtError, match="no tick -1"):
            do(debugger, "back", {"ticks": 4})
        assert do(debugger, "to", {"tick": 6})["said"] == "tick 6 of 6: RUNNING"
        assert do(debugger, "print", {})["entries"] == {"n": "6"}
        debugger.resume()
        with pytest.raises(BtError, match="the past is looked at in a pause"):
            do(debugger, "back", {})


def test_a_fork_steps_back_too_and_a_halt_ends_it_alone(tmp_path: Path) -> None:
    with paused(WALK, tmp_path, 6) as (run, _, _):
        debugger = debugger_of(run)
        do(debugger, "to", {"tick": 2})
        do(debugger, "fork", {})
        with pytest.raises(BtError, match="begins at a past tick"):
            do(debugger, "fork", {})
        thread = debugger.travel.thread
        do(debugger, "back", {})
        assert do(debugger, "print", {})["entries"] == {"n": "1"}
        do(debugger, "to", {"tick": 2})
        do(debugger, "halt", {})
        thread.join(60)
        assert do(debugger, "status", {})["run"] == run.parts.name and debugger.paused and run.parts.engine.count == 6
        do(debugger, "continue", {})
        assert run.spin() is SUCCESS


def test_what_may_not_be_repeated_refuses_a_fork_before_it_and_not_one_after_it(tmp_path: Path) -> None:
    @skill("pour", name="pour", on_resume="fail")
    class Pour(Skill):
        def poll(self) -> Any:
            return SUCCESS

    text = "version: 1\ntree: t\nroot: {sequence: [wait: 1, pour: {}, wait: 9]}\n"
    clock = Manual()
    with Run(load(text, skills=[Pour]), clock=clock, journal=tmp_path) as run, stepping(run, Manual()):
        while run.parts.engine.find("/t/2").status is not RUNNING:
            run.tick()
            run.parts.journal.settled()  # it begins once its record is on the disk
            clock.advance(0.5)
        debugger = debugger_of(run)
        debugger.pause()
        do(debugger, "to", {"tick": 1})
        done = events(run.parts.journal.path, "done")[0][0]
        with pytest.raises(BtError, match="it has done `pour`") as refused:
            do(debugger, "fork", {})
        assert "fork anyway" in refused.value.hint
        do(debugger, "to", {"tick": done})
        assert "paused" in do(debugger, "fork", {})["said"]


def test_a_run_without_a_journal_says_why_it_cannot_go_back() -> None:
    with Run(load(WALK)) as run, stepping(run):
        run.tick()
        debugger_of(run).pause()
        with pytest.raises(BtError, match="no journal") as refused:
            do(debugger_of(run), "back", {})
        assert refused.value.hint


def walked(folder: Path) -> Path:
    with Run(load(WALK, skills=[kind_of(Job)]), clock=Manual(), journal=folder) as run:
        run.spin()
        return Path(str(run.parts.journal.path))


def test_a_recorded_run_is_looked_at_and_forked_the_same_way(tmp_path: Path) -> None:
    path = walked(tmp_path)
    kept = path.read_bytes()
    with recorded(path, skills=[Job], clock=Manual()) as debugger:
        assert do(debugger, "print", {})["entries"] == {"n": "9"}
        with pytest.raises(BtError, match="is past, and only looked at"):
            do(debugger, "step", {})
        do(debugger, "back", {"ticks": 4})
        assert do(debugger, "print", {})["entries"] == {"n": str(debugger.engine.count - 4)}
        do(debugger, "fork", {})
        thread = debugger.travel.thread
        fork: Debugger = latest(debugger)
        do(debugger, "continue", {})
        thread.join(60)
        assert fork.run.blackboard["n"] == 9
    assert path.read_bytes() == kept


def test_attach_opens_a_recorded_run_at_its_last_tick(tmp_path: Path, capsys: Any) -> None:
    path = walked(tmp_path)
    assert main(["attach", str(path), "-c", "back 2", "-c", "print n", "-c", "why", "-c", "step"]) == 1
    said = capsys.readouterr()
    assert "tick 7 of 9" in said.out and "n = 7" in said.out and "After tick 7" in said.out
    assert "tick 7 is past" in said.out


def test_going_back_plays_only_what_follows_the_latest_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last tick of a long run, and any before it, is shown after a few ticks, as it is when all are played."""
    monkeypatch.setattr(state_of_runs, "BYTES", 2_000)
    text = "version: 1\ntree: t\nblackboard: {n: {type: integer, default: 0}}\nroot:\n  repeat:\n    times: 300\n    child: {sequence: [{job: 2}, {set: {n: '{n + 1}'}}]}\n"  # noqa: E501
    run = Run(load(text, skills=[Job]), clock=Manual(), journal=tmp_path)
    with run:
        run.spin()
    path = run.parts.journal.path
    played: list[int] = []
    tick = Remade.tick
    monkeypatch.setattr(Remade, "tick", lambda self: (played.append(self.count), tick(self))[1])
    last = Recording(path).last_tick
    for at in (last, last - 1, last // 2, 7):
        played.clear()
        with Past(path, at) as past:
            seen = state(past.debugger.engine), past.debugger.why(), len(played)
        with monkeypatch.context() as without:
            without.setattr(Recording, "_nearest", lambda self, connection: None)
            with Past(path, at) as past:
                assert (state(past.debugger.engine), past.debugger.why()) == seen[:2]
        assert seen[2] < 120 < last or at == 7
