"""A tree is tried without a robot: a manual clock, and stand-ins for skills that answer as a person says.

All that was clicked is one story, which can be kept as a test file. It is played anew to go back; what is changed
there begins another branch, and the branch that was left stays.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, NamedTuple

from py_trees.common import Status

from bt_author.edit.played import PlayedTree, described, worded
from bt_author.edit.unsaved_loader import NO_TEXTS, Texts
from bt_runtime.language import ports
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.run.debug.script import Act, Double, LaterResult, Script
from bt_runtime.testing.case import Case, Move, Subject, moved
from bt_runtime.testing.trial import Trial
from bt_runtime.tree.node import FAILURE, RUNNING, SUCCESS, path_of
from bt_runtime.types import Json

MOST_MOVES = 400
MOST_BRANCHES = 6
MOST_TICKS = 1000  # ticks until something changes
ANSWERS = {"success": SUCCESS, "failure": FAILURE}
Gesture = tuple[Any, ...]  # ("step",); ("set", entry, value); ("halt",); ("answer" or "next", path, act)


class TrialStep(NamedTuple):
    """A gesture in a branch, and where the trial stood after it."""

    gesture: Gesture
    words: str
    ticks: int
    seconds: float


class Rehearsal(PlayedTree):
    def __init__(self, text: str, path: Path, project: Path | None, texts: Texts = NO_TEXTS) -> None:
        super().__init__(text, path, project, texts)
        self.branches: list[list[TrialStep]] = [[]]
        self.branch = self.at = 0  # the branch that is shown, and how many of its steps
        self.other: int | None = None  # the branch that is shown beside it
        self._stand()

    @property
    def steps(self) -> list[TrialStep]:
        """The steps of the branch that is shown, up to where it stands."""
        return self.branches[self.branch][: self.at]

    @property
    def begun(self) -> bool:
        return bool(self._open.ticks)

    @property
    def _open(self) -> Trial:
        assert self.trial is not None
        return self.trial

    # What a person does ----------------------------------------------------------------------

    def tick(self, times: int = 1) -> None:
        """So many ticks, each when the tree wants it."""
        for _ in range(max(1, min(times, MOST_MOVES - self.at))):
            self._do(("step",), "tick")
            if self.over:
                break

    def on(self) -> None:
        """Ticks until a node stands otherwise, or a skill waits that did not."""
        before = self._standing()
        for _ in range(MOST_TICKS):
            self.tick()
            if self.over or self._standing() != before or self.at >= MOST_MOVES:
                return

    def _standing(self) -> list[tuple[str, bool]]:
        return [(node.status, node.asks) for node in self.shown.values()]

    def set(self, entry: str, value: Json) -> None:
        """Writes an entry; a tree that was begun is ticked, and sees it at once."""
        self._do(("set", entry, value), f"{entry} = {value}")

    def halt(self) -> None:
        self._do(("halt",), "halt")

    def answer(self, path: str, result: str) -> None:
        """The stand-in at this path ends with this result, and the tree is ticked."""
        status = _result(result)
        if path not in self.asking():
            raise BtError("this skill does not run now", "tick until it does")
        self._do(("answer", path, status), f"{path}: {result}")

    def next(self, path: str, result: str, ticks: int = 0, outputs: Json = None) -> None:
        """What the stand-in at this path answers when it starts next: a result after so many ticks, with outputs."""
        if path not in self.stands:
            raise BtError(f"there is no skill at {path:.80}", "choose one of this tree")
        act: Act = _result(result)
        words = f"{path}: next {result}" + (f" after {ticks} ticks" if ticks else "")
        if outputs and act is SUCCESS:
            act = self._outputs(path, outputs)
            words += f" with {', '.join(f'{name} = {worded(value)}' for name, value in act.items())}"
        self._do(("next", path, LaterResult(max(0, min(ticks, MOST_TICKS)), act) if ticks else act), words)

    def _outputs(self, path: str, given: Json) -> dict[str, Json]:
        """Returns the outputs, each of the type that the skill declares for it."""
        fields = {field.name: field for field in self.gives[path]}
        for name, value in given.items() if isinstance(given, dict) else ():
            if name in fields:
                ports.check(fields[name], value)
        if not isinstance(given, dict) or not given.keys() <= fields.keys():
            raise BtError("these are not the outputs of the skill", f"it gives {', '.join(fields) or 'none'}")
        return given

    def chance(self, seed: int, most: int = 60) -> None:
        """Goes on at random: each skill succeeds three times of four, after a tick or some."""
        draw = random.Random(seed)
        for _ in range(most):
            if self.over or self.at >= MOST_MOVES:
                return
            asking = self.asking()
            if asking and draw.random() < 0.7:
                self.answer(draw.choice(asking), "success" if draw.random() < 0.75 else "failure")
            else:
                self.tick()

    # Time ------------------------------------------------------------------------------------

    def again(self) -> None:
        """From the beginning, with nothing clicked."""
        self.branches, self.other = [[]], None
        self.go(0, 0)

    def back(self) -> None:
        """One step back; the branch keeps it."""
        self.go(self.at - 1)

    def go(self, at: int, branch: int | None = None) -> None:
        """Shows the trial as it was after so many steps of a branch."""
        branch = self._known(self.branch if branch is None else branch)
        there = self.branches[branch]
        at = max(0, min(at, len(there)))
        onwards = at >= self.at and there[: self.at] == self.steps
        self.branch = branch
        if not onwards:
            self.at = at
            self._stand()
            return
        for step in there[self.at : at]:
            self._make(self._open, step.gesture)
        self.at = at
        self.look(self._open)

    def beside(self, branch: int | None) -> None:
        """Shows another branch beside this one, at the same step; None: none."""
        self.other = None if branch is None else self._known(branch)

    def _known(self, branch: int) -> int:
        if not 0 <= branch < len(self.branches):
            raise BtError(f"there is no branch {branch + 1}", f"there are {len(self.branches)}")
        return branch

    def _do(self, gesture: Gesture, words: str) -> None:
        """Makes a gesture here. In the middle of a branch another one begins, unless the same gesture comes next."""
        if self.at >= MOST_MOVES:
            raise BtError(f"{MOST_MOVES} moves are enough for one story", "begin again")
        if self.over and gesture[0] == "step":
            return
        there = self.branches[self.branch]
        if self.at < len(there) and there[self.at].gesture[:2] == gesture[:2] == ("step",):
            self.go(self.at + 1)
            return
        try:
            self._make(self._open, gesture)
        except BtError:
            self._stand()
            raise
        if self.at < len(there):
            self._fork()
        trial = self._open
        made = TrialStep(gesture, words, len(trial.ticks), round(trial.clock.now(), 3))
        self.branches[self.branch].append(made)
        self.at += 1
        self.look(trial)

    def _fork(self) -> None:
        """Goes on in a branch of its own; the oldest one makes room."""
        made, self.other = self.steps, self.branch
        self.branches.append(made)
        self.branch = len(self.branches) - 1
        if len(self.branches) > MOST_BRANCHES:
            gone = 0 if self.other else 1
            del self.branches[gone]
            self.branch, self.other = self.branch - 1, self.other - (self.other > gone)

    # Playing ---------------------------------------------------------------------------------

    def _stand(self) -> None:
        """Plays the branch anew, up to where it stands."""
        self.close()
        self.trial = self._played(self.steps)
        self.look(self.trial)

    def _played(self, steps: list[TrialStep]) -> Trial:
        doubles = {path: _Noted([RUNNING]) for path in self.stands}
        trial = Trial(self.tree, substitute=doubles, inputs=self.samples(), slow=None)
        for step in steps:
            self._make(trial, step.gesture)
        return trial

    def _make(self, trial: Trial, gesture: Gesture) -> None:
        over = bool(trial.ticks) and trial.status is not RUNNING
        match gesture:
            case ("step",):
                trial.step()
            case ("answer", path, status):
                script = _script(trial, path)
                waited = script.polls - script.before
                script.padded(script.started + 1)[script.started - 1] = (
                    LaterResult(waited, status) if waited else status
                )
                for node in trial.run.nodes():
                    if isinstance(node, Double) and node.script is script:
                        node.left, node.result = 0, status
                trial.tick()
            case ("next", path, act):
                script = _script(trial, path)
                script.padded(script.started)[script.started :] = [act, RUNNING]
            case ("set", *_):
                moved(trial, gesture)
                if trial.ticks and not over:
                    trial.step()
            case _:
                moved(trial, gesture)

    def asking(self) -> list[str]:
        """The stand-ins that wait for an answer."""
        return [node.path for node in self.shown.values() if node.asks]

    # What comes of it ------------------------------------------------------------------------

    def told(self) -> dict[str, Json]:
        branch = self.branches[self.branch]
        line: dict[str, Json] = {
            "steps": [[step.words, step.ticks, step.seconds] for step in branch],
            "at": self.at,
            "branch": self.branch,
            "branches": [len(each) for each in self.branches],
        }
        scripts = {path: _script(self._open, path) for path in self.stands}
        stands: list[Json] = [[path, *script.ahead, self._given(path, script)] for path, script in scripts.items()]
        return {**super().told(), "moves": self.at, "line": line, "stands": stands, "beside": self._beside()}

    def _given(self, path: str, script: _Noted) -> Json:
        """Returns the outputs for their controls, with what the next answer gives."""
        given = {name: json.dumps(value, ensure_ascii=False) for name, value in script.gives.items()}
        return [[*described(field), given.get(field.name, "")] for field in self.gives[path]]

    def _beside(self) -> Json:
        """What stands otherwise in the other branch after as many steps: nodes by their place, and entries."""
        if self.other is None or self.other == self.branch:
            return None
        steps = self.branches[self.other][: self.at]
        trial = self._played(steps)
        try:
            statuses = {path_of(node): node.status.name for node in trial.run.nodes()}
            board = dict(trial.run.blackboard.snapshot())
        finally:
            trial.close()
        boards = [(name, self.board.get(name), board.get(name)) for name in sorted({*board, *self.board})]
        ours = [(place, self.shown[path].status, statuses.get(path, "INVALID")) for path, place in self.places.items()]
        return {
            "branch": self.other,
            "at": len(steps),
            "nodes": [[*place, here[0], there[0]] for place, here, there in ours if here != there],
            "board": [[name, worded(here), worded(there)] for name, here, there in boards if here != there],
        }

    def as_test(self) -> str:
        """What was clicked, as a test that pytest runs: it holds the result that the tree came to."""
        doubles = {path: list(_script(self._open, path).acts) for path in self.stands}
        case = Case(inputs=self.samples(), doubles=doubles, moves=tuple(self._moves()))
        return Subject(self.tree).as_test(case, "btr edit", self.status.name)

    def _moves(self) -> list[Move]:
        """The moves of a test: ticks in a row are one."""
        made: list[Move] = []
        ticks = 0
        for step in self.steps:
            match step.gesture:
                case ("answer", *_):
                    made.append(("tick", 1))
                case ("set" | "halt", *_):
                    made.append(step.gesture)
            if step.gesture[0] in ("step", "set") and step.ticks > ticks:
                many = made.pop()[1] if made and made[-1][0] == "step" else 0
                made.append(("step", many + step.ticks - ticks))
            ticks = step.ticks
        return made


class _Noted(Script):
    """A script that knows how often it was asked before the start that runs."""

    before = 0

    @property
    def ahead(self) -> tuple[str, int]:
        """Returns what the next start is told to answer, and after how many ticks; "": it waits for a person."""
        if len(self.acts) <= self.started + 1:
            return "", 0
        act = self.acts[self.started]
        status, ticks = (act.result, act.ticks) if isinstance(act, LaterResult) else (act, 0)
        return "success" if isinstance(status, dict) else status.name.lower(), ticks

    @property
    def gives(self) -> dict[str, Json]:
        """Returns the outputs of the next start's answer."""
        act = self.acts[self.started] if self.ahead[0] else None
        act = act.result if isinstance(act, LaterResult) else act
        return act if isinstance(act, dict) else {}

    def padded(self, length: int) -> list[Act]:
        """Returns the acts, at least so many: a start without an answer runs until it is halted."""
        self.acts += [RUNNING] * (length - len(self.acts))
        return self.acts

    def begin(self, params: dict[str, Json]) -> LaterResult:
        self.before = self.polls
        return super().begin(params)


def _script(trial: Trial, path: str) -> _Noted:
    script = trial.doubles[path]
    assert isinstance(script, _Noted)
    return script


def _result(named: str) -> Status:
    if named not in ANSWERS:
        raise BtError(f"a skill ends with success or failure, not `{named:.20}`", "")
    return ANSWERS[named]
