"""A run as somebody sees it who looks on, and as its journal tells it: the same at the same tick."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from scenes import house_run
from test_picture import as_it_is, as_shown

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.run.run import Run, load
from bt_runtime.tree.clock import Manual
from bt_runtime.view.event import Event
from bt_runtime.view.feed import Feed
from bt_runtime.view.picture import Picture
from bt_runtime.view.recorded import Reader, events_of
from bt_runtime.view.terminal import path
from bt_runtime.view.watch import Watch

LISTS = ("sequence", "fallback", "reactive_sequence", "reactive_fallback", "parallel")
ONE = (
    "repeat: {times: 3, child: %s}",
    "retry: {times: 2, child: %s}",
    "invert: %s",
    "force: {status: failure, child: %s}",
)
LEAVES = (
    "wait: 0.01", "wait: 0.03", "succeed: {}", "fail: {}", "log: {text: 'n is {n}', level: warning}",
    "set: {n: '{n + 1}'}", "set: {n: '{n * 2}', when: n % 2 == 1}", "check: n % 3 == 1", "set: {n: '{n // 0}'}",
)  # fmt: skip


def plan(rng: random.Random, depth: int) -> str:
    """Flow YAML of a random part of a tree."""
    if depth == 0 or rng.random() < 0.15:
        return "{" + rng.choice(LEAVES) + "}"
    if rng.random() < 0.3:
        return "{" + rng.choice(ONE) % plan(rng, depth - 1) + "}"
    children = ", ".join(plan(rng, depth - 1) for _ in range(rng.randint(1, 4)))
    return f"{{{rng.choice(LISTS)}: {{children: [{children}]}}}}"


def disturb(rng: random.Random, run: Run) -> None:
    """What somebody outside does between two ticks: grafts, writes, halts; or nothing."""
    nodes = [node.path for node in run.nodes() if node.parent is not None]  # type: ignore[attr-defined]
    at = rng.choice(nodes) if nodes else ""
    try:
        match rng.randrange(8):
            case 0 if at:
                run.replace(at, plan(rng, 1))
            case 1 if at:
                run.remove(at)
            case 2 if at:
                run.insert(at, plan(rng, 1), 0)
            case 3:
                run.blackboard["n"] = rng.randrange(9)
            case 4:
                run.halt("a pause", "operator")
    except BtError:
        pass  # it cannot stand there


def seen(picture: Picture) -> dict[str, Any]:
    return {
        "tree": as_shown(picture),
        "nodes": [(path(picture, spot), spot.row[2], spot.row[3], spot.row[5]) for spot in picture.in_order()],
        "board": {key: event["value"] for key, event in picture.board.items()},
        "log": sorted(_line(event) for event in picture.lines if event["k"] != "halt"),
        "halts": sorted({(event["by"], event["why"]) for event in picture.lines if event["k"] == "halt"}),
    }


def _line(event: Event) -> tuple[str, ...]:
    return event["k"], event.get("path", ""), event.get("level", ""), event.get("text", event.get("message", ""))


def by_tick(events: Iterator[Event], seen: Any = seen) -> dict[int, dict[str, Any]]:
    """What stands when a tick has been told, with what happened until the next."""
    found, picture = {0: {}}, Picture()
    for event in events:
        picture.take(event)
        if event["k"] == "tick":
            found[picture.tick] = seen(picture)
    return found


@pytest.mark.parametrize("seed", range(12))
def test_what_one_sees_live_is_what_the_journal_tells_at_every_tick(tmp_path, seed):
    """Random trees with grafts, halts, crashes and writes from outside; what new rounds clear is cleared in all three.

    The page of a live run, `btr top` that follows the journal, and the page of the run when it has ended.
    """
    rng, clock, feed, live, real = random.Random(seed), Manual(), Feed(most=None), {}, {}
    text = f"version: 1\ntree: t\nblackboard: {{n: {{type: integer, default: 0}}}}\nroot:\n  {plan(rng, 4)}\n"
    with Run(load(text), clock=clock, journal=tmp_path / "runs") as run:
        Watch(run, feed)
        reader = Reader(run.journal.path)
        top = Picture(reader.more())
        for _ in range(30):
            number = run.tick().number
            clock.advance(0.01)
            if rng.random() < 0.3:
                disturb(rng, run)
            live[number], real[number] = seen(feed.picture()), as_it_is(run)
            if number % 7 == 0:
                run.journal.tape.writer.durable().wait(60)
                for event in reader.more():
                    top.take(event)
                assert seen(top) == live[number]
        file = run.journal.path
    recorded = by_tick(events_of(file))
    del live[30]  # its end halts it
    for number, now in live.items():
        assert now["tree"] == real[number]
        then = recorded[max(n for n in recorded if n <= number)]
        for part in now:
            assert then[part] == now[part], (number, part)


def agents(picture: Picture) -> dict[str, Any]:
    """What is seen of agents and their world: texts by the place of the node, since its number is another one."""
    at = {id: path(picture, spot) for id, spot in picture.spots.items()}
    return {
        **seen(picture),
        "families": [(path(picture, spot), spot.row[4]) for spot in picture.in_order()],
        "goals": {at[id]: event["goal"] for id, event in picture.goals.items()},
        "prompts": {at[id] for id in picture.prompts},
        "told": {at[id]: [_told(event) for event in events] for id, events in picture.told.items()},
        "world": picture.latest.get("world", {}).get("picture"),
        "spent": {key: n for key, n in picture.latest.get("spent", {}).items() if key not in ("k", "t")},
    }


def _told(event: Event) -> tuple[Any, ...]:
    return tuple(event.get(key) for key in ("what", "move", "text", "sentence", "observation", "plan", "why", "detail"))


def test_agents_their_goals_what_they_tell_and_spend_and_their_world_are_the_same_at_every_tick(tmp_path):
    feed, live = Feed(most=None), {}
    with house_run(clock=Manual(), journal=tmp_path / "runs") as run:
        Watch(run, feed)
        while (tick := run.tick()).running:
            live[tick.number] = agents(feed.picture())
        file = run.journal.path
    recorded = by_tick(events_of(file), agents)
    assert len(live) > 50 and live[max(live)]["spent"]["nodes"] > 2
    for number, now in live.items():
        then = recorded[max(n for n in recorded if n <= number)]
        for part in now:
            assert then[part] == now[part], (number, part)
