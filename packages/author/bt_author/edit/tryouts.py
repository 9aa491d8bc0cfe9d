"""What is tried without a robot, of each file: a rehearsal by clicks, or the story of a counterexample."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bt_author.edit import values
from bt_author.edit.consent import Consent, python_of
from bt_author.edit.played import PlayedTree
from bt_author.edit.rehearsal import Rehearsal
from bt_author.edit.session import Session
from bt_author.edit.story_play import StoryPlay
from bt_author.edit.unsaved_loader import UnsavedLoader
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import disk
from bt_runtime.testing.promise import promised
from bt_runtime.testing.story_file import StoryFile
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_author.proof.check import Result


CHECKED_STATES, CHECKED_SECONDS = 100_000, 20.0  # a proof that takes longer is one for `btr check`


class Tryouts:
    def __init__(self, session: Session) -> None:
        self.session = session
        self.played: dict[Path, Rehearsal | StoryPlay] = {}
        self.consent = Consent()
        self.stories: dict[Path, StoryFile] = {}  # the counterexample that was opened with the page

    def move(self, path: Path, move: str, given: Mapping[str, Any]) -> Json:
        """Makes one move; the first one and `begin` take the text as it stands. A tree that imports Python is played
        after `run` was given once: until then its names are returned."""
        if move == "check":
            return self._checked(path, str(given["never"]).strip())
        home = self.session.workspace.home(path.parent) or self.session.workspace.root
        with self.session.lock:
            if move == "begin" or path not in self.played:
                asked = self._asked(path, home, bool(given.get("run")))
                if asked:
                    return {"asks": asked}
            with self.consent.held(home):
                return self._moved(path, move, given)

    def _asked(self, path: Path, home: Path, agreed: bool) -> list[str]:
        """Returns the Python that a person has to allow first."""
        self.sound(path)
        if agreed:
            self.consent.agreed.add(home)
        text, project = self.session.buffer(path).text, self.session.workspace.home(path.parent)
        loader = UnsavedLoader(project, self.session.texts())
        return [] if home in self.consent.agreed else python_of(text, path, loader)

    def _moved(self, path: Path, move: str, given: Mapping[str, Any]) -> Json:
        if move == "begin" or path not in self.played:
            self._begin(path, bool(given.get("story")))
        played = self.played[path]
        if move == "keep":
            return {**played.told(), "kept": self._kept(played)}
        if isinstance(played, StoryPlay):
            steps = {"next": played.at + 1, "back": played.at - 1, "again": 0, "end": len(played.steps)}
            if move in steps:
                played.go(steps[move])
        elif move == "tick":
            played.tick(int(given.get("times", 1)))
        elif move == "answer":
            played.answer(str(given["node"]), str(given["result"]))
        elif move == "set":
            played.set(str(given["entry"]), values.written(str(given["value"])))
        elif move == "ahead":
            outputs = values.written(str(given["value"])) if given.get("value") else None
            played.next(str(given["node"]), str(given["result"]), int(given.get("times", 0)), outputs)
        elif move == "chance":
            played.chance(int(given["seed"]))
        elif move == "go":
            played.go(int(given["at"]), int(given.get("branch", played.branch)))
        elif move == "beside":
            played.beside(int(given["branch"]) if "branch" in given else None)
        elif move in ("again", "back", "halt", "on"):
            getattr(played, move)()
        return played.told()

    def _begin(self, path: Path, story: bool) -> None:
        session, text = self.session, self.session.buffer(path).text
        project, before = session.workspace.home(path.parent), self.played.get(path)
        texts = session.texts()
        made = (
            StoryPlay(text, path, project, self.stories[path], texts)
            if story
            else Rehearsal(text, path, project, texts)
        )
        if before is not None:
            before.close()
        self.played[path] = made

    def _checked(self, path: Path, never: str) -> Json:
        """Checks what must never hold, or the tree's own properties; the first story that breaks one can be played.
        The session goes on meanwhile."""
        from bt_author.proof.check import Checking  # the prover starts when somebody asks for a proof

        home = self.session.workspace.home(path.parent) or self.session.workspace.root
        with self.session.lock:
            if self._asked(path, home, False):
                raise BtError("checking this tree runs Python of this folder", "press Begin, which asks for it")
            text, project = self.session.buffer(path).text, self.session.workspace.home(path.parent)
            with self.consent.held(home):
                tree = PlayedTree(text, path, project, self.session.texts()).tree
        name = path.relative_to(self.session.workspace.root)
        checking = Checking(
            tree, [never] if never else [], properties=[] if never else None, found_by=f"btr check {name}"
        )
        results = list(checking.results(CHECKED_STATES, CHECKED_SECONDS))
        played = next((result.played for result in results if result.played is not None), None)
        if played is not None:
            self.stories[path] = played
        return {
            "text": text,
            "story": played.why if played is not None else "",
            "checked": [_row(r, played) for r in results],
        }

    def inputs(self, path: Path) -> list[str]:
        """Returns the inputs as they stand in the trial of a tree, each as `--set` takes it; none without a trial."""
        played = self.played.get(path)
        if not isinstance(played, Rehearsal):
            return []
        spec = self.session.document(path).spec
        ports = {name: port for name, port in played.tree.spec.inputs.items() if spec and name in spec.inputs}
        held = {name: played.board.get(name) for name in ports}
        texts = {name: value if ports[name].type == "string" else json.dumps(value) for name, value in held.items()}
        return [f"{name}={text}" for name, text in texts.items()]

    def sound(self, path: Path) -> None:
        errors = [f for f in self.session.faults(path) if f.severity == "error"]
        if errors:
            raise BtError(f"the tree is at fault: {errors[0].message}", "mend it first")

    def _kept(self, played: Rehearsal | StoryPlay) -> str:
        """Writes the story as a test file with a name of its own."""
        folder = self.session.workspace.root / "tests"
        folder.mkdir(exist_ok=True)
        stem = re.sub(r"\W", "_", played.tree.name).lower()
        names = (f"test_{stem}_played{'' if n == 1 else f'_{n}'}.py" for n in range(1, 1000))
        file = next(folder / name for name in names if not os.path.lexists(folder / name))
        disk.write(file, played.as_test().encode())
        return f"tests/{file.name}"


def _row(result: Result, played: StoryFile | None) -> Json:
    """A checked property for the page, with what the result assumes."""
    return {
        "property": promised(result.property), "outcome": result.outcome, "words": result.words(),
        "states": result.states, "doubts": list(result.doubts), "remarks": list(result.remarks),
        "story": list(result.story), "help": result.help(),
        "played": played is not None and result.played is played,
    }  # fmt: skip
