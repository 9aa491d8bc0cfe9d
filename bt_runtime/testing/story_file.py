"""A counterexample as a file: a test case with the words of each tick. A page, a test or a person can play it.

    story = read(Path("stories/rover.plugged_in.json"))
    for words in story.play(load("rover")):
        print(words)

The file is JSON. `version` is 1; `tree`, `property` and `why` are texts; `inputs` are the entries at first. `skills`
maps a skill's name to its starts in order, each `{ticks, result, outputs}`: it runs for so many ticks, then it is
`success`, `failure` or `breaks`; `running` never ends. `ticks` are the ticks of the story, each with `words`, what
happens in it, and `moves`, the moves up to its end: `[tick, 1]`, `[advance, seconds]`, `[set, entry, value]`.
`repeats`: the number of ticks at the end that go on for ever, null where the last tick breaks the property.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bt_runtime.debug.script import Act, Later
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.project import disk
from bt_runtime.run.run import Tree
from bt_runtime.testing.case import BROKEN, Case, Move, moved
from bt_runtime.testing.trial import Trial
from bt_runtime.tree.node import FAILURE, RUNNING, SUCCESS
from bt_runtime.types import Json

VERSION = 1
MOVES = ("tick", "advance", "set")


class StoryTick(NamedTuple):
    words: str
    moves: tuple[Move, ...]


class StoryFile(NamedTuple):
    tree: str
    property: str  # its name and its words
    why: str
    case: Case
    ticks: tuple[StoryTick, ...]
    repeats: int | None = None

    def trial(self, tree: Tree) -> Trial:
        """A run whose skills do as the story says. The caller closes it."""
        return Trial(tree, skills=dict(self.case.skills), inputs=self.case.inputs, slow=None)

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
            "inputs": dict(self.case.inputs),
            "skills": {name: [_said(act) for act in acts] for name, acts in self.case.skills.items()},
            "ticks": [{"words": tick.words, "moves": [list(move) for move in tick.moves]} for tick in self.ticks],
            "repeats": self.repeats,
        }  # fmt: skip
        return json.dumps(said, ensure_ascii=False, indent=1) + "\n"


def story_of(
    tree: str, property: str, why: str, case: Case, ends: Sequence[int], words: Sequence[str]
) -> StoryFile:  # fmt: skip
    """Makes a story of a case: `ends` are the numbers of moves up to the end of each tick."""
    begins = [0, *ends]
    ticks = [
        StoryTick(said, tuple(case.moves[first:last]))
        for said, first, last in zip(words, begins, ends, strict=False)
    ]  # fmt: skip
    repeats = next((int(move[1]) for move in case.moves[ends[-1] :] if move[0] == "repeats"), None)
    moves = tuple(move for tick in ticks for move in tick.moves)
    return StoryFile(tree, property, why, Case(case.inputs, case.skills, {}, moves), tuple(ticks), repeats)


def read(path: Path) -> StoryFile:
    """Raises BtError for a file that is no story."""
    try:
        return parse(disk.read_text(path))
    except OSError as error:
        raise BtError(
            f"{path} cannot be read: {error.strerror}", "name a file that `btr check --stories` wrote"
        ) from None


def parse(text: str) -> StoryFile:
    """Reads the text of a story file. Raises BtError."""
    try:
        said = json.loads(text)
        if said["version"] != VERSION:
            raise BtError(f"this story has version {said['version']}, not {VERSION}", "make it anew with `btr check`")
        skills = {str(name): [_act(act) for act in acts] for name, acts in said["skills"].items()}
        ticks = tuple(StoryTick(str(tick["words"]), tuple(map(_move, tick["moves"]))) for tick in said["ticks"])
        case = Case(dict(said["inputs"]), skills, {}, tuple(move for tick in ticks for move in tick.moves))
        repeats = None if said["repeats"] is None else int(said["repeats"])
        return StoryFile(str(said["tree"]), str(said["property"]), str(said["why"]), case, ticks, repeats)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        raise BtError("this is no story", "`btr check TREE --stories FOLDER` writes them") from None


def _said(act: Act) -> dict[str, Json]:
    if isinstance(act, Later):
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
    return Later(ticks, result) if ticks else result


_RESULTS: dict[str, Act] = {"success": SUCCESS, "failure": FAILURE, "running": RUNNING, "breaks": "breaks"}


def _move(said: Any) -> Move:
    word, *values = said
    if word not in MOVES or len(values) != (2 if word == "set" else 1):
        raise ValueError(word)
    if word != "set" and (isinstance(values[0], bool) or not isinstance(values[0], int | float) or values[0] < 0):
        raise ValueError(word)
    return (word, *values)
