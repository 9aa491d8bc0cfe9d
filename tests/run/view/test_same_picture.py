"""A run as somebody sees it who looks on, and as its journal tells it: the same at the same tick."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import py_trees
import pytest
from py_trees.behaviour import Behaviour
from py_trees.common import ParallelPolicy

from bt_runtime import BtError, Run, load
from bt_runtime.clock import Manual
from bt_runtime.run.view.event import Event
from bt_runtime.run.view.feed import Feed
from bt_runtime.run.view.picture import PagePicture
from bt_runtime.run.view.recorded import JournalReader, events_of
from bt_runtime.run.view.watch import RunWatch
from bt_runtime.tree.describe.gist import family_of, gist
from bt_runtime.tree.node import path_of
from tests.run.view.scenes import house_run
from tests.support.pictures import as_it_is, as_shown

LISTS = ("sequence", "fallback", "reactive_sequence", "reactive_fallback", "parallel")
ONE = (
    "repeat: {times: 3, child: %s}",
    "retry: {times: 2, child: %s}",
    "invert: %s",
    "force: {status: failure, child: %s}",
    "timeout: {seconds: 0.02, child: %s}",
)
LEAVES = (
    "wait: 0.01", "wait: 0.03", "succeed: {}", "fail: {}", "fail: '{n} is enough'",
    "log: {text: 'n is {n}', level: warning}",
    "set: {n: '{n + 1}'}", "set: {values: {n: '{n * 2}'}, when: n % 2 == 1}", "check: n % 3 == 1",
    "set: {n: '{n // 0}'}",
    "unset: n",
)  # fmt: skip


def plan(rng: random.Random, depth: int) -> str:
    """Flow YAML of a random part of a tree."""
    if depth == 0 or rng.random() < 0.15:
        return "{" + rng.choice(LEAVES) + "}"
    if rng.random() < 0.3:
        return "{" + rng.choice(ONE) % plan(rng, depth - 1) + "}"
    children = ", ".join(plan(rng, depth - 1) for _ in range(rng.randint(1, 4)))
    return f"{{{rng.choice(LISTS)}: {{children: [{children}]}}}}"


class Talking(Behaviour):
    """Says something else at every tick, and now and then ends; py_trees starts it anew without a word."""

    def __init__(self, name: str, length: int) -> None:
        super().__init__(name)
        self.length, self.at = length, 0

    def update(self) -> py_trees.common.Status:
        self.at += 1
        self.feedback_message = f"number {self.at}"
        ended = py_trees.common.Status.SUCCESS if self.at % 2 else py_trees.common.Status.FAILURE
        return py_trees.common.Status.RUNNING if self.at % self.length else ended


def foreign(rng: random.Random, depth: int = 2) -> Behaviour:
    """A py_trees tree: its inner nodes are stepped, stopped and cleared by py_trees alone."""
    if depth == 0:
        return Talking(f"talks {rng.randrange(9)}", rng.randint(1, 4))
    below = [foreign(rng, depth - 1) for _ in range(rng.randint(1, 3))]
    match rng.randrange(4):
        case 0:
            return py_trees.composites.Sequence("one by one", memory=rng.random() < 0.5, children=below)
        case 1:
            return py_trees.composites.Selector("any", memory=rng.random() < 0.5, children=below)
        case 2:
            return py_trees.composites.Parallel("all", policy=ParallelPolicy.SuccessOnOne(), children=below)
    return py_trees.decorators.Inverter("not", child=below[0])


def disturb(rng: random.Random, run: Run) -> None:
    """What somebody outside does between two ticks: grafts, writes, halts; or nothing."""
    nodes = [path_of(node) for node in run.nodes() if node.parent is not None]
    at = rng.choice(nodes) if nodes else ""
    try:
        match rng.randrange(10):
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
            case 5 | 6 if at:
                run.replace(at, foreign(rng))
            case 7:
                for _ in range(2):  # of what came in the same breath one makes way for the other
                    run.replace(at or "/t", plan(rng, 1))
    except BtError:
        pass  # it cannot stand there


def seen(picture: PagePicture) -> dict[str, Any]:
    """All that a page can show, but for the time: a live run has its own clock."""
    return {
        "tree": as_shown(picture),
        "nodes": [(s.id, s.parent, s.row, s.children, s.status, s.feedback) for s in picture.in_order()],
        "board": {key: event["value"] for key, event in picture.board.items()},
        "who": {key: (event["n"], event["by"]) for key, event in picture.board.items()},
        "past": {key: [value for _, _, value in past] for key, past in picture.past.items()},
        "facts": {s.id: s.facts for s in picture.in_order()},
        "sources": {number: _timeless(event) for number, event in picture.sources.items()},
        "counts": {s.id: (s.begun, s.ended, s.tick, s.acted) for s in picture.in_order()},
        "lines": [_timeless(event) for event in picture.lines],
        "goals": {id: event["goal"] for id, event in picture.goals.items()},
        "prompts": {id: _timeless(event) for id, event in picture.prompts.items()},
        "told": {id: [_unnumbered(event) for event in events] for id, events in picture.told.items()},
        "world": picture.latest.get("world", {}).get("picture"),
        "spent": _timeless(picture.latest.get("spent", {})),
    }


def _timeless(event: Event) -> Event:
    return {key: value for key, value in event.items() if key != "t"}


def _unnumbered(event: Event) -> Event:
    """Without the number of a decision's question, which only a journal has: `btr view prompt --step` takes it."""
    return {key: value for key, value in _timeless(event).items() if key != "step" or event["what"] != "decision"}


def by_tick(events: Iterator[Event]) -> dict[int, dict[str, Any]]:
    """What stands when a tick has been told, with what happened until the next."""
    found, picture = {0: {}}, PagePicture()
    for event in events:
        picture.take(event)
        if event["k"] == "tick":
            found[picture.tick] = seen(picture)
    return found


def same(live: dict[int, dict[str, Any]], recorded: dict[int, dict[str, Any]]) -> None:
    for number, now in live.items():
        then = recorded[max(n for n in recorded if n <= number)]
        for part in now:
            assert then[part] == now[part], (number, part)


def says(run: Run) -> list[tuple[str, str, str, str]]:
    """What the nodes themselves say."""
    return [(path_of(node), family_of(node), gist(node), node.feedback_message) for node in run.nodes()]


def shown(picture: PagePicture) -> list[tuple[str, str, str, str]]:
    return [
        (at, s.row[4], s.row[6], s.feedback) for (at, _), s in zip(as_shown(picture), picture.in_order(), strict=True)
    ]


@pytest.mark.parametrize("seed", range(16))
def test_what_one_sees_live_is_what_the_journal_tells_at_every_tick(tmp_path, seed):
    """Random trees with grafts, halts, crashes, writes from outside and py_trees' own nodes.

    The page of a live run, `btr view top` that follows the journal, and the page of the run when it has ended: all of
    them show what the nodes themselves say, and what new rounds clear is cleared in all three.
    """
    rng, clock, feed, live = random.Random(seed), Manual(), Feed(most=None), {}
    text = f"version: 1\ntree: t\nblackboard: {{n: {{type: integer, default: 0}}}}\nroot:\n  {plan(rng, 4)}\n"
    with Run(load(text), clock=clock, journal=tmp_path / "runs") as run:
        RunWatch(run, feed)
        reader = JournalReader(run.parts.journal.path)
        top = PagePicture(reader.more())
        for _ in range(30):
            number = run.tick().number
            clock.advance(0.01)
            assert shown(feed.picture()) == says(run)
            if rng.random() < 0.4:
                disturb(rng, run)
            live[number] = seen(feed.picture())
            assert live[number]["tree"] == as_it_is(run)
            assert live[number]["board"] == {("", name): value for name, value in run.blackboard.items()}
            if number % 7 == 0:
                run.parts.journal.tape.writer.durable().wait(60)
                for event in reader.more():
                    top.take(event)
                assert seen(top) == live[number]
        file = run.parts.journal.path
    del live[30]  # its end halts it
    same(live, by_tick(events_of(file)))


def test_agents_their_goals_prompts_what_they_tell_and_spend_and_their_world_are_the_same_at_every_tick(tmp_path):
    feed, live = Feed(most=None), {}
    with house_run(clock=Manual(), journal=tmp_path / "runs") as run:
        RunWatch(run, feed)
        while (tick := run.tick()).running:
            live[tick.number] = seen(feed.picture())
        file = run.parts.journal.path
    last = live[max(live)]
    assert len(live) > 50 and last["spent"]["nodes"] > 2 and len(last["prompts"]) > 2
    assert all(prompt["system"] and prompt["task"] for prompt in last["prompts"].values())
    same(live, by_tick(events_of(file)))


def test_an_entry_that_was_taken_away_is_shown_neither_live_nor_of_its_journal(tmp_path):
    """By `unset`, in the tree or through a port, and by a new round of a subtree, whose own entries are gone."""
    (tmp_path / "inner.yaml").write_text(
        "version: 1\ntree: inner\noutputs: {x: any}\n"
        "root:\n  sequence: [unset: x, wait: 0.01, set: {own: 1}, wait: 0.01]\n"
    )
    text = (
        "version: 1\ntree: t\nroot:\n  sequence: [{set: {x: 1, y: 2}}, {unset: y}, {wait: 0.01}, "
        "{repeat: {times: 2, child: {tree: {file: inner, with: {x: '{x}'}}}}}]\n"
    )
    (tmp_path / "t.yaml").write_text(text)
    clock, feed, live = Manual(), Feed(most=None), {}
    with Run(load(tmp_path / "t.yaml"), clock=clock, journal=tmp_path / "runs") as run:
        RunWatch(run, feed)
        for _ in range(8):
            number = run.tick().number
            clock.advance(0.01)
            live[number] = seen(feed.picture())
            stands = run.parts.context.blackboard.snapshot()
            assert live[number]["board"] == {(at, name): v for at, own in stands.items() for name, v in own.items()}
        assert ("", "y") not in live[1]["board"]
        del live[number]  # its end halts it
        file = run.parts.journal.path
    same(live, by_tick(events_of(file)))
