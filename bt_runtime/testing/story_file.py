"""A counterexample as a file: a test case with the words of each tick. A page (`btr edit --story`), a test or a person
can play it.

    story = read(Path("stories/rover.plugged_in.json"))
    for words in story.play(load("rover")):
        print(words)

The file is JSON. `version` is 1; `tree`, `property` and `why` are texts; `inputs` are the entries at first. `skills`
maps a skill's name to its starts in order, each `{ticks, result, outputs}`: it runs for so many ticks, then it is
`success`, `failure` or `breaks`; `running` never ends. `doubles` maps patterns of nodes to the same. `ticks` are the
ticks of the story, each with `words`, what happens in it, and `moves`, the moves up to its end: `[tick, 1]`,
`[advance, seconds]`, `[set, entry, value]`, `[halt]`. `repeats`: the number of ticks at the end that go on for ever,
null where the last tick breaks the property. `file` is the tree's file, from the story's folder; `promises` are the
broken ones, as options of a `Trial`; `found_by` is the command that found it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import disk, real
from bt_runtime.run.debug.script import Act, LaterResult
from bt_runtime.run.run import Tree
from bt_runtime.testing.case import BROKEN, MOST_TICKS, Case, Finding, Move, Subject, moved
from bt_runtime.testing.promise import Broken
from bt_runtime.testing.trial import SECONDS, Trial
from bt_runtime.tree.node import FAILURE, RUNNING, SUCCESS, path_of
from bt_runtime.types import Json

VERSION = 1
PROMISES = ("never", "always", "ltl", "properties")
MOVES = {"tick": 1, "advance": 1, "set": 2, "halt": 0}  # move → number of values


class StoryTick(NamedTuple):
    words: str
    moves: tuple[Move, ...]


class StoryFile(NamedTuple):
    tree: str
    property: str  # the property's name and words
    why: str
    case: Case
    ticks: tuple[StoryTick, ...]
    repeats: int | None = None
    promises: Mapping[str, Sequence[str]] = MappingProxyType({})
    found_by: str = ""
    file: str = ""

    def trial(self, tree: Tree) -> Trial:
        """A run whose skills do as the story says. The caller closes it."""
        return Trial(tree, skills=dict(self.case.skills), substitute=self.case.doubles,
                     inputs=self.case.inputs, slow=None)  # fmt: skip

    def play(self, tree: Tree) -> Iterator[str]:
        """Plays the story with the engine, and yields the words of each tick after it."""
        with self.trial(tree) as trial:
            for tick in self.ticks:
                for move in tick.moves:
                    moved(trial, move)
                yield tick.words

    def text(self) -> str:
        said = {
            "version": VERSION, "tree": self.tree, "property": self.property, "why": self.why,
            "file": self.file, "found_by": self.found_by, "promises": {k: list(v) for k, v in self.promises.items()},
            "inputs": dict(self.case.inputs),
            "skills": {name: [_said(act) for act in acts] for name, acts in self.case.skills.items()},
            "doubles": {name: [_said(act) for act in acts] for name, acts in self.case.doubles.items()},
            "ticks": [{"words": tick.words, "moves": [list(move) for move in tick.moves]} for tick in self.ticks],
            "repeats": self.repeats, "within": self.case.within,
        }  # fmt: skip
        return json.dumps(said, ensure_ascii=False, indent=1) + "\n"


def story_of(
    tree: str, property: str, why: str, case: Case, ends: Sequence[int], words: Sequence[str],
    promises: Mapping[str, Sequence[str]], found_by: str,
) -> StoryFile:  # fmt: skip
    """Makes a story of a case: `ends` are the numbers of moves up to the end of each tick."""
    begins = [0, *ends]
    ticks = [
        StoryTick(said, tuple(case.moves[first:last]))
        for said, first, last in zip(words, begins, ends, strict=False)
    ]  # fmt: skip
    repeats = next((int(move[1]) for move in case.moves[ends[-1] :] if move[0] == "repeats"), None)
    moves = tuple(move for tick in ticks for move in tick.moves)
    made = Case(case.inputs, case.skills, {}, moves)
    return StoryFile(tree, property, why, made, tuple(ticks), repeats, promises, found_by)


def of_finding(subject: Subject, finding: Finding) -> StoryFile:
    """Makes a story of a finding of `btr fuzz`, by playing it: each move becomes one tick at the time it came at."""
    case, ticks, waiting = finding.case, list[StoryTick](), list[Move]()
    with subject.trial(case) as trial:
        for move in _single(case):
            if move[0] not in _TICKS:
                waiting.append(move)
                moved(trial, move)
                continue
            before, count = trial.clock.now(), len(trial.ticks)
            try:
                trial.go_on(move[1], 1) if move[0] == "end" else moved(trial, move)
                over = trial.status is not RUNNING
            except Broken:
                over = True
            if len(trial.ticks) == count:
                break
            passed = trial.clock.now() - before
            waiting.append(("advance", passed) if passed else ("tick", 1))
            ticks.append(StoryTick(_words(trial), tuple(waiting)))
            waiting = []
            if over:
                break
    ticks += [StoryTick("", tuple(waiting))] if waiting else []
    made = Case(case.inputs, case.skills, case.doubles, tuple(m for tick in ticks for m in tick.moves), case.within)
    name = subject.tree.name
    return StoryFile(name, "", finding.why, made, tuple(ticks), None, finding.promises, finding.found_by)


_TICKS = ("tick", "step", "end")


def _single(case: Case) -> Iterator[Move]:
    """Yields the moves of a case, each of one tick at most."""
    for move in case.moves:
        if move[0] in ("tick", "step"):
            yield from [(move[0], 1)] * min(int(move[1]), MOST_TICKS)
        elif move[0] == "end":
            left = case.within if case.within is not None else case.seconds or SECONDS
            yield from [("end", left)] * MOST_TICKS
        else:
            yield move


def _words(trial: Trial) -> str:
    """What the latest tick changed: the results of skills, agents and leaves."""
    changed = [(path_of(n), status.name.lower()) for n, status in trial.ticks[-1].changes if not n.children]
    leaves = ", ".join(f"{path} {word}" for path, word in changed)
    return f"at {trial.clock.now():g} s: {leaves or 'nothing new'}"


def write(file: Path, story: StoryFile, tree: Path | None) -> None:
    """Writes a story of this tree, which is named relative to the file. Raises BtError."""
    try:
        disk.folder(file.parent)
        named = os.path.relpath(real(tree), real(file.parent)) if tree is not None else ""
        disk.write(file, story._replace(file=named).text())
    except OSError as error:
        raise BtError(f"{file} cannot be written: {error.strerror}", "name another folder") from error


def read(path: Path) -> StoryFile:
    """Raises BtError for a file that is no story."""
    try:
        return parse(disk.read_text(path))
    except OSError as error:
        raise BtError(f"{path} cannot be read: {error.strerror}", "name a file that `--stories` wrote") from None


def parse(text: str) -> StoryFile:
    """Reads the text of a story file. Raises BtError."""
    try:
        said = json.loads(text)
        if said["version"] != VERSION:
            raise BtError(f"this story has version {said['version']}, not {VERSION}", "make it anew with `btr check`")
        skills = {str(name): [_act(act) for act in acts] for name, acts in said["skills"].items()}
        ticks = tuple(StoryTick(str(tick["words"]), tuple(map(_move, tick["moves"]))) for tick in said["ticks"])
        doubles = {str(name): [_act(act) for act in acts] for name, acts in said.get("doubles", {}).items()}
        within = None if said.get("within") is None else float(said["within"])
        moves = tuple(move for tick in ticks for move in tick.moves)
        case = Case(dict(said["inputs"]), skills, doubles, moves, within)
        repeats = None if said["repeats"] is None else int(said["repeats"])
        promises = {name: [str(text) for text in said.get("promises", {}).get(name, ())] for name in PROMISES}
        return StoryFile(
            str(said["tree"]), str(said["property"]), str(said["why"]), case, ticks, repeats, promises,
            str(said.get("found_by", "")), str(said.get("file", "")),
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        raise BtError("this is no story", "`btr check` and `btr fuzz` write them with --stories") from None


def _said(act: Act) -> dict[str, Json]:
    if isinstance(act, LaterResult):
        return {"ticks": act.ticks, **_said(act.result)}
    if isinstance(act, int) and not isinstance(act, bool):
        return {"ticks": act, "result": "success"}
    if isinstance(act, Mapping):
        return {"result": "success", "outputs": dict(act)}
    word = "breaks" if isinstance(act, BaseException) else act.name.lower()
    return {"result": word}


def _act(said: Any) -> Act:
    ticks, outputs = int(said.get("ticks", 0)), said.get("outputs")
    result: Act = dict(outputs) if outputs else _RESULTS[said["result"]]
    if result == "breaks":
        result = RuntimeError(BROKEN)
    return LaterResult(ticks, result) if ticks else result


_RESULTS: dict[str, Act] = {"success": SUCCESS, "failure": FAILURE, "running": RUNNING, "breaks": "breaks"}


def _move(said: Any) -> Move:
    word, *values = said
    if len(values) != MOVES[word]:
        raise ValueError(word)
    if len(values) == 1 and (isinstance(values[0], bool) or not isinstance(values[0], int | float) or values[0] < 0):
        raise ValueError(word)
    return (word, *values)
