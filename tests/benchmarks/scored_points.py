"""The scores of decision points by one model, kept in a file: a run that was stopped goes on where it was."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from decision_points import Point

from bt_runtime import BtError
from bt_runtime.agents import finish
from bt_runtime.agents.scoring import neutral
from bt_runtime.agents.story import ACT
from bt_runtime.agents.surroundings import DONE, FAILURE
from bt_runtime.types import Choice

ENDS = (f" {DONE}", f" {FAILURE}")


class Scored(NamedTuple):
    world: str
    task: str
    options: list[str]
    right: str
    scores: list[float]  # of each option, the sum of its tokens' log-probabilities
    priors: list[float]  # the same behind a prompt without content
    tokens: list[int]
    acted: bool  # was the latest step an act
    share: float  # of the goal's surprise that is gone; 0 before the first act

    @property
    def end(self) -> bool:
        return self.right == ENDS[0]


class Measure:
    """One model's scores of points, and of what they have in common."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.before: dict[str, float] = {}  # the goals' own scores behind an account of nothing
        self.all_kept: dict[str, Scored] = {}  # by what was asked: forms that ask alike are scored once
        self.known: dict[str, tuple[float, int]] = {}  # of each sentence: its prior, its tokens

    def all(self, folder: Path, points: Sequence[Point], left_out: Path | None = None) -> Iterator[Scored]:
        """The points of one world. `folder`: the kept scores, a file for each world; points that are kept in the
        folder `left_out` are not told."""
        world = points[0].world if points else ""
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{world}.jsonl"
        kept = dict(self.kept(file))
        told = {key for key, _ in self.kept(left_out / f"{world}.jsonl")} if left_out else set[str]()
        with file.open("a", encoding="utf-8") as out:
            for number, point in enumerate(points, 1):
                key = hashlib.sha256("\0".join((point.prompt, *point.options)).encode()).hexdigest()[:16]
                if key not in kept and key not in told:
                    kept[key] = self.all_kept.get(key) or self.scored(point)
                    print(json.dumps([key, *kept[key]]), file=out, flush=True)
                    print(f"\r{world}: {number}/{len(points)} points", end="", file=sys.stderr, flush=True)
                if key not in told:  # tasks of small worlds come twice
                    told.add(key)
                    self.all_kept[key] = kept[key]
                    yield kept[key]
        print(file=sys.stderr)

    def kept(self, file: Path) -> Iterator[tuple[str, Scored]]:
        if not file.exists():
            return
        for line in file.read_text(encoding="utf-8").splitlines(keepends=True):
            if line.endswith("\n"):  # the last one may be half written
                key, *fields = json.loads(line)
                found = Scored(*fields)
                tokens = [
                    self.counted(option, count) for option, count in zip(found.options, found.tokens, strict=True)
                ]
                found = found._replace(tokens=tokens)
                self.known.update(zip(found.options, zip(found.priors, found.tokens, strict=True), strict=True))
                self.all_kept[key] = found
                yield key, found

    def counted(self, option: str, count: int = 0) -> int:
        """Its tokens. A worker that does not answer at once gives an upper bound, and is asked again."""
        bound = len(option.encode()) + 2
        while count in (0, bound):
            count = self.model.count(f"{option}\n")
            time.sleep(0.1 if count == bound else 0)
        return count

    def scores(self, prompt: str, options: Sequence[str]) -> list[float]:
        choice: Choice = self.model.choose(prompt, tuple(options), mode="scores").wait(600)
        if choice.scores is None:
            raise BtError("this model tells no scores", "a file, or a llama-server")
        return [round(score, 4) for score in choice.scores]

    def scored(self, point: Point) -> Scored:
        chat = self.model.chat_template
        new = [option for option in point.options if option not in self.known]
        if new:
            behind = self.scores(neutral(ACT).text(chat), new)
            self.known.update({o: (s, self.counted(o)) for o, s in zip(new, behind, strict=True)})
        goal = (f" {finish.told(point.goal)}",)
        if point.goal not in self.before:
            (self.before[point.goal],) = self.scores(finish.account(()).text(chat), goal)
        share, acted = 0.0, bool(point.steps) and point.steps[-1].move == "act"
        if acted:
            (now,) = self.scores(finish.account(point.steps).text(chat), goal)
            share = round(1 - now / self.before[point.goal], 4)
        priors, tokens = zip(*(self.known[option] for option in point.options), strict=True)
        scores = self.scores(point.prompt, point.options)
        options = list(point.options)
        return Scored(point.world, point.task, options, point.right, scores, [*priors], [*tokens], acted, share)
