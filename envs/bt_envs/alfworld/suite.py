"""ALFWorld as a suite: invented homes, or a user's games."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from bt_envs.alfworld import files, invent, pool
from bt_envs.alfworld.from_alfred import games
from bt_envs.alfworld.game import KINDS, TREATED, kind_of, read
from bt_envs.alfworld.worker_pool import WORKERS
from bt_envs.alfworld.world import AlfWorld
from bt_envs.sources import whole
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.skills.worlds.registry import Read, Split, Wanted, choose_kinds, no_more_options, shared_out
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
        """Opens a world. `workers` is the number of games played in parallel, each in a separate process."""
        no_more_options(self.name, options, ("view", "feedback", "workers"))
        if not str(workers).isdecimal() or int(workers) < 1:
            raise BtError(f"`workers` is a number of processes, not {workers!r}", "workers=2")
        return AlfWorld(pool.shared(int(workers)), view, feedback)

    def tasks(
        self, seed: int, count: int, split: Split = "train", kinds: Sequence[str] | None = None,
        *, data: str | os.PathLike[str] | None = None, part: str = "split", source: str = "", **options: Any,
    ) -> list[Task]:  # fmt: skip
        """Returns up to `count` tasks. Each split has its own games of `data` or ALFWORLD_DATA, chosen by name;
        `part="all"` takes them all.

        `source="made"`, or no data, invents homes. `source="alfred"` converts ALFRED's tasks in `data`."""
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
        """Yields the sentences of the shortest solution: it knows where everything is."""
        no_more_options(self.name, options, ())
        game = read(str(task.data["problem"]))
        aim, places = game.aim, [place for place, location in game.places.items() if location]
        inside = {f[1]: f[2] for f in sorted(game.start) if f[0] == "inreceptacle" and f[2] in places}
        own = [thing for thing in inside if kind_of(thing) == aim.thing]
        if aim.kind == KINDS[1]:
            yield from _taken(world, own[0], inside[own[0]])
            lamp = next(thing for thing in inside if kind_of(thing) == aim.place)
            yield from _offered(world, f"go to {inside[lamp]}")
            yield f"use {lamp}"
            return
        target = max(_of_kind(places, aim.place), key=lambda place: sum(inside[t] == place for t in own))
        lying = [t for t in own if inside[t] == target] if aim.kind == KINDS[5] else []
        for thing in [t for t in own if t not in lying][: max(1, 2 - len(lying)) if aim.kind == KINDS[5] else 1]:
            yield from _taken(world, thing, inside[thing])
            if (treatment := TREATED.get(aim.kind)) is not None:
                tool = _of_kind(places, treatment.tool)[0]
                yield from _offered(world, f"go to {tool}")
                yield f"{treatment.verb} {thing} with {tool}"
            yield from _offered(world, f"go to {target}", f"open {target}")
            yield f"put {thing} in/on {target}"


def _of_kind(places: Sequence[str], kind: str) -> list[str]:
    found = [place for place in places if kind_of(place) == kind]
    if not found:
        raise BtError(f"this game has no {kind} that can be gone to", "nobody can win it: leave it out")
    return found


def _taken(world: World, thing: str, place: str) -> Iterator[str]:
    yield from _offered(world, f"go to {place}", f"open {place}")
    yield f"take {thing} from {place}"


def _offered(world: World, *said: str) -> Iterator[str]:
    """Yields the sentences that the world offers now. A sentence that is not offered is done already: the robot
    stands there, or the receptacle is open."""
    for each in said:
        if each in world.skills():
            yield each


def _own_games() -> str:
    """Returns the folder that ALFWORLD_DATA names if the folder holds games, otherwise "". Importing `alfworld` sets
    ALFWORLD_DATA too, so that an empty folder is ignored."""
    named = os.environ.get("ALFWORLD_DATA", "")
    return named if named and files.is_ours(Path(named)) else ""


SUITE = AlfWorldSuite()
