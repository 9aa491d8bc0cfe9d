"""ALFWorld as a suite: made-up homes of ours, or the games that people have."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from bt_runtime.envs.alfworld import files, invent, pool
from bt_runtime.envs.alfworld.game import KINDS, TREATED, Game, kind_of, read
from bt_runtime.envs.alfworld.world import AlfWorld
from bt_runtime.envs.alfworld_from_alfred import games
from bt_runtime.envs.registry import Read, Split, Wanted, choose_kinds, no_more_options, shared_out
from bt_runtime.envs.sources import whole
from bt_runtime.envs.worker_pool import WORKERS
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.types import Task, World


class AlfWorldSuite:
    name = "alfworld"
    kinds: Sequence[str] = KINDS
    skills = "alfworld"
    splits: Sequence[Split] = ("train", "dev", "eval")
    formats: Sequence[str] = ("ALFWorld's games (game.tw-pddl in its folders, or lines with pddl_problem)",)
    reads_data: Sequence[Literal["open", "tasks"]] = ("tasks",)

    def open(
        self, *, view: str = "papers", feedback: str = "terse", workers: int | str = WORKERS, **options: Any
    ) -> World:
        """`workers`: how many games are played at the same time, each in a process of its own."""
        no_more_options(self.name, options, ("view", "feedback", "workers"))
        if not str(workers).isdecimal() or int(workers) < 1:
            raise BtError(f"`workers` is a number of processes, not {workers!r}", "workers=2")
        return AlfWorld(pool.shared(int(workers)), view, feedback)

    def tasks(
        self, seed: int, count: int, split: Split = "train", kinds: Sequence[str] | None = None,
        *, data: str | os.PathLike[str] | None = None, part: str = "split", source: str = "", **options: Any,
    ) -> list[Task]:  # fmt: skip
        """Of the games of `data`, else ALFWORLD_DATA, each split has its own, told by name, unless `part` is all of
        them; without either, or with `source="made"`, homes are made up; `alfred`: from ALFRED's tasks there."""
        no_more_options(self.name, options, ("data", "part", "source"))
        if source not in ("", "made", "alfred") or (source == "alfred" and not data):
            way = "source=made, or source=alfred with --data FOLDER"
            raise BtError(f"games come from your folder, ALFRED's data there, or are made; not from `{source}`", way)
        chosen = choose_kinds(KINDS, kinds)
        if data and source == "alfred":
            fit = (task for task in games(Path(data), seed, split) if task.kind in chosen)
            return list(islice(fit, count))
        data = "" if source else data or _own_games()
        if not data:
            return [invent.task(split, seed, chosen[i % len(chosen)], i) for i in range(count)]
        names = shared_out(files.names(Path(data)), lambda name: str(name.id), self.name, seed, split, part, data)
        found: list[Task] = []
        for name in names:
            task = files.task(name) if len(found) < count else None
            if task is not None and task.kind in chosen:
                found.append(task)
        if not found:
            raise BtError(f"{data} has no {split} game of these kinds", "ask for other kinds or a split")
        return found

    def read(self, path: Path, wanted: Wanted) -> Read | None:
        return whole(self, path, wanted) if files.is_ours(path) else None

    def wanted(self, task: Task) -> Mapping[str, int]:
        aim = read(str(task.data["problem"])).aim
        return {aim.thing: 2 if aim.kind == KINDS[5] else 1}

    def oracle(self, world: World, task: Task, **options: Any) -> Iterator[str]:
        """Knows where everything is, and goes straight there."""
        no_more_options(self.name, options, ())
        return _Walk(read(str(task.data["problem"]))).plan()


class _Walk:
    def __init__(self, game: Game) -> None:
        self.game = game
        self.inside = {f[1]: f[2] for f in sorted(game.start) if f[0] == "inreceptacle" and game.places[f[2]]}
        self.here = next((f[1] for f in game.start if f[0] == "atlocation"), "")
        self.opened = {f[1] for f in game.start if f[0] == "opened"}

    def plan(self) -> Iterator[str]:
        aim = self.game.aim
        own = [thing for thing in self.inside if kind_of(thing) == aim.thing]
        if aim.kind == KINDS[1]:
            yield from self.taken(own[0])
            lamp = next(thing for thing in self.inside if kind_of(thing) == aim.place)
            yield from self.gone(self.inside[lamp])
            yield f"use {lamp}"
            return
        target = max(self.near(aim.place), key=lambda place: sum(self.inside[t] == place for t in own))
        lying = [t for t in own if self.inside[t] == target] if aim.kind == KINDS[5] else []
        for thing in [t for t in own if t not in lying][: max(1, 2 - len(lying)) if aim.kind == KINDS[5] else 1]:
            yield from self.taken(thing)
            if (treatment := TREATED.get(aim.kind)) is not None:
                tool = self.near(treatment.tool)[0]
                yield from self.gone(tool)
                yield f"{treatment.verb} {thing} with {tool}"
            yield from self.gone(target)
            yield from self.open(target)
            yield f"put {thing} in/on {target}"

    def near(self, kind: str) -> list[str]:
        """The receptacles of that kind that can be gone to."""
        found = [place for place, location in self.game.places.items() if kind_of(place) == kind and location]
        if not found:
            raise BtError(f"this game has no {kind} that can be gone to", "nobody can win it: leave it out")
        return found

    def taken(self, thing: str) -> Iterator[str]:
        place = self.inside[thing]
        yield from self.gone(place)
        yield from self.open(place)
        yield f"take {thing} from {place}"

    def gone(self, place: str) -> Iterator[str]:
        if self.here != self.game.places[place]:
            self.here = self.game.places[place]
            yield f"go to {place}"

    def open(self, place: str) -> Iterator[str]:
        if place in self.game.openable and place not in self.opened:
            self.opened.add(place)
            yield f"open {place}"


def _own_games() -> str:
    """The folder of ALFWORLD_DATA, which alfworld sets for itself when it is imported: only with games in it."""
    named = os.environ.get("ALFWORLD_DATA", "")
    return named if named and files.is_ours(Path(named)) else ""


SUITE = AlfWorldSuite()
