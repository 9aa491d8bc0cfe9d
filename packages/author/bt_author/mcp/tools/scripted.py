"""Runs a tree on a virtual clock with scripted skills: none of the project's code runs. Returns a story of the run.

A skill that the caller does not script succeeds at once, with the plainest outputs.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bt_runtime.events import Line, Tick
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.run.debug.script import LaterResult, Script, said
from bt_runtime.run.run import Tree
from bt_runtime.testing.casting import nodes_of, skills_of
from bt_runtime.testing.trial import Trial
from bt_runtime.testing.values import ChosenValues
from bt_runtime.tree.node import FAILURE, RUNNING, SUCCESS, path_of
from bt_runtime.types import Json

MOST_TICKS = 2_000
MOST_SECONDS = 86_400.0  # seconds of the tree's clock
PATIENCE = 20.0  # seconds of this machine's time
MOST_LINES = 400  # lines of a story
LONGEST_ROUND = 12  # lines that are told once when they repeat
CHUNK = 50  # ticks between two looks at this machine's clock
_RESULTS = {"success": SUCCESS, "failure": FAILURE, "running": RUNNING}


class PlayedStory(NamedTuple):
    status: str  # SUCCESS, FAILURE, or RUNNING when it has not ended
    seconds: float
    ticks: int
    story: list[str]
    board: dict[str, Json]
    skills: dict[str, int]  # how often each was started
    starts: list[tuple[str, dict[str, Json]]]  # each start in order, with its parameters
    assumed: list[str]  # skills that nobody scripted
    crashes: list[str]
    late: str = ""  # why it was stopped


def play(
    tree: Tree, skills: Mapping[str, Any], inputs: Mapping[str, Json], writes: Sequence[Mapping[str, Any]],
    doubles: Mapping[str, Any], seconds: float,
) -> PlayedStory:  # fmt: skip
    """Plays a tree to its end, or for so many seconds of its own time. `writes`: [{at: 5, set: {low: true}}]."""
    scripts = {name: [act(each) for each in _listed(acts)] for name, acts in skills.items()}
    kinds = skills_of(tree.spec)
    values = ChosenValues(tree.spec)
    assumed = [name for name in kinds if name not in scripts]
    story = _StoryLines()
    every = {name: _Told(name, acts, story) for name, acts in scripts.items()}
    every |= {name: _Told(name, plainest(kinds[name], values), story) for name in assumed}
    _answered(tree, doubles)
    stand_ins = {pattern: [act(each) for each in _listed(acts)] for pattern, acts in doubles.items()}
    with Trial(tree, skills=every, substitute=stand_ins, inputs=inputs, slow=None) as trial:
        story.follow(trial)
        late = _course(trial, writes, min(seconds, MOST_SECONDS))
        return PlayedStory(
            trial.status.name, trial.clock.now(), len(trial.ticks), story.lines(), _board(trial),
            {name: script.started for name, script in trial.skills.items() if script.started}, story.starts,
            [name for name in assumed if trial.skills[name].started],
            [f"{crash.path}: {crash.message}" for crash in trial.crashes], late,
        )  # fmt: skip


def act(given: Any) -> Any:
    """Parses one start of a skill: "success", "failure", "running", {output: value}, {error: text}, 3 (ticks), [3,
    "failure"]."""
    if isinstance(given, str):
        if given.lower() not in _RESULTS:
            raise BtError(f"a skill cannot `{given:.40}`", 'write "success", "failure" or "running"')
        return _RESULTS[given.lower()]
    if isinstance(given, list) and len(given) == 2 and type(given[0]) is int:
        return LaterResult(max(0, given[0]), act(given[1]))
    if isinstance(given, dict):
        return RuntimeError(str(given["error"])) if set(given) == {"error"} else given
    if type(given) is int and given >= 0:
        return given
    raise BtError(f"a skill cannot do {given!r:.60}", 'write "failure", {"output": 1}, 3, or [3, "failure"]')


def _listed(acts: Any) -> list[Any]:
    timed = isinstance(acts, list) and len(acts) == 2 and type(acts[0]) is int and not isinstance(acts[1], int)
    return acts if isinstance(acts, list) and not timed else [acts]


def plainest(kind: Kind, values: ChosenValues) -> Any:
    """Success, with a value of the right type for each output."""
    outputs = [field for field in kind.fields if field.writes]
    return {field.name: values.some(field)[0] for field in outputs} if outputs else SUCCESS


def _answered(tree: Tree, doubles: Mapping[str, Any]) -> None:
    asking = next((node for node in nodes_of(tree.spec) if node.kind.asks), None)
    if asking is not None and not doubles:
        raise BtError(
            f"`{asking.kind.name}` asks a model, and none is asked here",
            f'let it do something: "doubles": {{"**/{asking.name or asking.kind.name}": "success"}}',
        )


def _course(trial: Trial, writes: Sequence[Mapping[str, Any]], seconds: float) -> str:
    """Ticks and writes in the order of their times; returns why it was stopped early, "" otherwise."""
    end = time.monotonic() + PATIENCE
    for write in sorted(writes, key=_at):
        at = min(_at(write), seconds)
        late = _until(trial, at, end) if at > 0 else ""  # what is written at 0 stands at the first tick
        if late or (trial.status is not RUNNING and trial.ticks):
            return late
        for name, value in dict(write.get("set") or {}).items():
            trial.board[str(name)] = value
        if trial.tick() is not RUNNING:
            return ""
    return _until(trial, seconds, end)


def _at(write: Mapping[str, Any]) -> float:
    at = write.get("at", 0)
    if not isinstance(at, int | float) or not 0 <= at <= MOST_SECONDS:
        raise BtError(f"`at: {at!r:.40}` is no time", 'write {"at": 5, "set": {"low": true}}')
    return float(at)


def _until(trial: Trial, at: float, end: float) -> str:
    while True:
        before = len(trial.ticks)
        trial.go_on(max(0.0, at - trial.clock.now()), CHUNK)
        if trial.status is not RUNNING or len(trial.ticks) - before < CHUNK:
            if trial.status is RUNNING and at > trial.clock.now():
                trial.clock.advance(at - trial.clock.now())  # nothing is due until then
            return ""
        if len(trial.ticks) >= MOST_TICKS:
            return f"stopped after {MOST_TICKS:,} ticks"
        if time.monotonic() > end:
            return f"stopped after {PATIENCE:g} s of this machine's time"


def _board(trial: Trial) -> dict[str, Json]:
    spec = trial.run.parts.tree.spec
    names = [*spec.inputs, *spec.outputs, *spec.entries]
    return {name: trial.board[name] for name in names if name in trial.board}


class _StoryLines:
    """Collects lines about starts of skills, logs, failures and halts, with the tree's own time."""

    def __init__(self) -> None:
        self.trial: Trial | None = None
        self.told: list[str] = []
        self.starts: list[tuple[str, dict[str, Json]]] = []

    def follow(self, trial: Trial) -> None:
        self.trial = trial
        trial.run.listen(self._line, Line)
        trial.run.listen(self._ticked, Tick)

    def say(self, text: str) -> None:
        now = self.trial.clock.now() if self.trial is not None else 0.0
        self.told.append(f"{now:g} s  {text}")

    def _line(self, line: Line) -> None:
        self.say(f"{line.path}: {line.text}")

    def _ticked(self, tick: Tick) -> None:
        for node, status in tick.changes:
            if not node.children and status is FAILURE:
                self.say(f"{path_of(node)} FAILURE {node.feedback_message}".rstrip())
        for node, halt in tick.halts:
            if not node.children:
                self.say(f"{path_of(node)} halted: {halt.reason}")

    def lines(self) -> list[str]:
        """Returns the first lines with repetitions collapsed, and the number of omitted lines."""
        told = collapsed(self.told)
        more = len(told) - MOST_LINES
        return [*told[:MOST_LINES], *([f"and {more:,} lines more"] if more > 0 else [])]


def collapsed(lines: Sequence[str]) -> list[str]:
    """Collapses a repeated group of lines to one, with its count. Times do not matter."""
    plain = [line.partition("  ")[2] for line in lines]
    out: list[str] = []
    at = 0
    while at < len(lines):
        size, times = _round(plain, at)
        out += lines[at : at + size]
        if times > 1:
            until = lines[at + size * times - 1].partition("  ")[0]
            which = "this line" if size == 1 else f"these {size} lines"
            out.append(f"  … {which} {times} times in all, until {until}")
        at += size * times
    return out


def _round(plain: Sequence[str], at: int) -> tuple[int, int]:
    """Returns the length of the shortest group from here that occurs three times or more, and its count; else (1,
    1)."""
    for size in range(1, LONGEST_ROUND + 1):
        first, times = plain[at : at + size], 1
        while plain[at + size * times : at + size * (times + 1)] == first and len(first) == size:
            times += 1
        if times >= 3:
            return size, times
    return 1, 1


class _Told(Script):
    """A script whose starts are reported."""

    def __init__(self, name: str, acts: Any, story: _StoryLines) -> None:
        super().__init__(acts)
        self.name, self.story = name, story

    def begin(self, params: dict[str, Json]) -> LaterResult:
        begun = super().begin(params)
        self.story.starts.append((self.name, dict(params)))
        given = ", ".join(f"{key}={value}" for key, value in params.items())
        after = f" after {begun.ticks} ticks" if begun.ticks else ""
        end = "runs" if begun.ticks < 0 else f"{said(begun.result)}{after}"
        self.story.say(f"{self.name}({given}): {end}")
        return begun
