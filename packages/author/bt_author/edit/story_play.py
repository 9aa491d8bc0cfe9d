"""A counterexample is played tick by tick, on the text as it stands now: a mended tree goes through the same story."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

from bt_author.edit.played import PlayedTree
from bt_author.edit.unsaved_loader import NO_TEXTS, Texts
from bt_runtime.testing.case import Move, Subject, moved
from bt_runtime.testing.promise import Broken
from bt_runtime.testing.story_file import PROMISES, StoryFile
from bt_runtime.testing.trial import Trial
from bt_runtime.testing.waiting import StillRunning
from bt_runtime.tree.node import FAILURE, SUCCESS
from bt_runtime.types import Json


class StoryPlay(PlayedTree):
    def __init__(
        self, text: str, path: Path, project: Path | None, story: StoryFile, texts: Texts = NO_TEXTS
    ) -> None:  # fmt: skip
        super().__init__(text, path, project, texts)
        self.story = story
        skills = {kind.name for kind in self.tree.spec.registry if kind.family == "skill"}
        known = {**self.tree.spec.inputs, **self.tree.spec.entries}
        inputs = {**self.samples(), **{name: v for name, v in story.case.inputs.items() if name in known}}
        acts = {name: list(acts) for name, acts in story.case.skills.items() if name in skills}
        self.case = replace(story.case, inputs=inputs, skills=acts)
        never, always, ltl, properties = (story.promises.get(name, ()) for name in PROMISES)
        named = {each.name for each in self.tree.spec.properties}
        self.subject = Subject(self.tree, never, always, ltl=ltl, properties=[n for n in properties if n in named])
        self.steps = self._steps()
        self.at, self.broken = 0, ""
        self.go(0)

    def _steps(self) -> list[tuple[str, tuple[Move, ...]]]:
        """Returns the ticks with their words; what goes on for ever, or ends the time, comes last."""
        steps = [(tick.words, tick.moves) for tick in self.story.ticks]
        if self.story.repeats is not None:
            steps.append(
                (f"the last {self.story.repeats} ticks happen again and again", (("repeats", self.story.repeats),))
            )
        elif self.case.within is not None:
            steps.append((f"the tree must have ended within {self.case.within:g} s", (("end",),)))
        return steps

    def go(self, at: int) -> None:
        """Plays up to the end of this tick; `broken` is then the broken promise, in words, if there is one."""
        at = max(0, min(at, len(self.steps)))
        if self.trial is None or at < self.at or self.broken:
            self.close()
            self.trial, self.at, self.broken = self.subject.trial(self.case), 0, ""
        while self.at < at and not self.broken:
            self.broken = self._made(self.trial, self.steps[self.at][1])
            self.at += 1
        self.look(self.trial)

    def _made(self, trial: Trial, moves: tuple[Move, ...]) -> str:
        """Makes the moves of a tick; returns the promise that they broke, or the error that a node raised."""
        try:
            for move in moves:
                if move[0] == "end":
                    self.subject.end(trial, self.case)
                elif trial.status not in (SUCCESS, FAILURE) or move[0] in ("set", "halt", "repeats"):
                    moved(trial, move)
        except (Broken, StillRunning) as broken:
            return str(broken)
        return f"{trial.crashes[0].path} raised {trial.crashes[0].message}" if trial.crashes else ""

    def told(self) -> dict[str, Json]:
        ends = self.at >= len(self.steps)
        state: Literal["broken", "kept", ""] = "broken" if self.broken else "kept" if ends else ""
        story = {
            "why": self.story.why, "found_by": self.story.found_by, "at": self.at, "of": len(self.steps),
            "broken": self.broken, "state": state, "words": self.steps[self.at - 1][0] if self.at else "",
        }  # fmt: skip
        return {**super().told(), "moves": self.at, "story": story}

    def as_test(self) -> str:
        """Returns the story as a test, which fails until the tree is mended."""
        moves = tuple(move for _, moves in self.steps for move in moves)
        return self.subject.as_test(replace(self.case, moves=moves), self.story.found_by or "btr edit")
