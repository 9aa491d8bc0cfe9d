"""Acts Watch-And-Help's recorded episodes again in our house, with one or two bodies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from bt_envs.house.catalogue import Catalogue
from bt_envs.house.graph import Apartment, read_goal, read_graph
from bt_envs.house.world import HouseWorld
from bt_runtime.types import Task, Verdict

_MOVE = re.compile(r"\[(\w+)\]((?: <[\w ]+> \(\d+\))*)")
_ID = re.compile(r"\((\d+)\)")
_VERBS = {
    "grab": "pick up",
    "open": "open",
    "close": "close",
    "switchon": "turn on",
    "switchoff": "turn off",
    "sit": "sit on",
}


class Replay(NamedTuple):
    acts: int
    refused: tuple[str, ...]  # sentence: reason
    best: Verdict  # the most that was met at any time
    after_plan: Verdict  # verdict once the expert's remaining acts are done too


def task_of_log(log: Mapping[str, Any], catalogue: Catalogue, name: str) -> tuple[Task, Apartment]:
    apartment = read_graph(log["init_unity_graph"], catalogue, name)
    goal = read_goal(log["goals"], catalogue, apartment.names)
    wanted = ", ".join(f"{g['amount']} {g.get('thing', '')} {g['relation']} {g.get('place', '')}" for g in goal)
    return Task(name, str(log["task_name"]), wanted, {**apartment.data, "goal": goal}), apartment


def replay(world: HouseWorld, log: Mapping[str, Any], name: str = "log") -> Replay:
    task, apartment = task_of_log(log, world.catalogue, name)
    world.reset(task)
    refused: list[str] = []
    acts = 0
    best = world.verdict()
    tracks = [_turns(log["action"][who]) for who in ("0", "1")]
    rest = [list(enumerate((log["plan"][who] or [[]])[-1] or [])) for who in ("0", "1")]
    for stage in (tracks, rest):
        for _, who, move in sorted((when, who, move) for who, track in enumerate(stage) for when, move in track):
            if who >= len(world.state.bodies):
                continue
            for sentence in _sentences(world, who, move, apartment.names):
                acts += 1
                reply = world.act_as(who, sentence)
                refused += [] if reply.ok else [f"{sentence}: {reply.why}"]
            best = max(best, world.verdict())
        if stage is tracks:
            reached = best
    return Replay(acts, tuple(refused), reached, best)


def _turns(moves: Sequence[str]) -> list[tuple[int, str]]:
    """Yields each move once: the simulator repeats a walk at every step of it."""
    return [(i, move) for i, move in enumerate(moves) if move and (i == 0 or move != moves[i - 1])]


def _sentences(world: HouseWorld, who: int, move: str, names: Mapping[int, str]) -> Iterator[str]:
    """Translates a move to our sentences, with the steps that the simulator adds by itself."""
    found = _MOVE.fullmatch(move)
    named = [names.get(int(i), "") for i in _ID.findall(found[2])] if found else []
    if found is None or not named or not all(named):
        return
    verb, thing, place = found[1].lower(), named[0], named[-1]
    if verb == "walk":
        yield from _walk(world, who, place)
    elif verb in ("putin", "putback"):
        if _target(world, who) != place:
            yield from _walk(world, who, place)
        yield f"put down {thing}"
    elif verb in _VERBS:
        if not _close(world, who, thing):
            yield from _walk(world, who, thing)
        yield f"{_VERBS[verb]} {thing}"


def _walk(world: HouseWorld, who: int, name: str) -> Iterator[str]:
    house, body = world.house, world.state.bodies[who]
    place = house.index.get(name)
    if place is None and name in world.state.index:
        place = world.state.place[world.state.index[name]]
    if place is not None and place >= 0 and house.fixtures[place].room != body.room:
        yield f"go to {house.rooms[house.fixtures[place].room].name}"
    yield f"go to {name}"


def _target(world: HouseWorld, who: int) -> str:
    body = world.state.bodies[who]
    if body.target is None or body.target not in world.state.in_reach(world.house, body):
        return ""
    return world.house.fixtures[body.target].name


def _close(world: HouseWorld, who: int, name: str) -> bool:
    body, state = world.state.bodies[who], world.state
    place = world.house.index.get(name)
    if place is not None:
        return place in state.in_reach(world.house, body)
    thing = state.index.get(name)
    return thing is not None and thing in state.in_sight(world.house, body)
