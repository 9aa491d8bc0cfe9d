"""What stands around a run is found again: its world by name and options, and what that world says one notices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bt_runtime import Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.services import agent_services
from bt_runtime.clock import Manual
from bt_runtime.journal import Recording, codec, replay, resume
from bt_runtime.language import manifest
from bt_runtime.memory.notice import Fact, Held, Holding, Looked, PlacedThing, Seen, Thing
from bt_runtime.plugins import open_suite
from bt_runtime.skills.worlds.registry import open_world
from bt_runtime.testing import SUCCESS
from bt_runtime.types import Task
from packages.lab.tests.bench.worlds import Doors, DoorsSuite
from tests.plugged import plug
from tests.support.abandoned import abandoned
from tests.support.oracles import acting

TREE = "version: 1\ntree: t\ninputs: {goal: string}\nroot:\n  agent: {goal: '{goal}', moves: [think, act]}\n"
SENTENCES = ["open door 1", "recall location of lamp", "open door 2"]
LAMP = Thing("lamp", 1)


class Halls(Doors):
    """Says itself what one notices: in words of its own, which no reader of sentences knows."""

    def __init__(self, lit: str = "") -> None:
        super().__init__()
        self.lit = lit

    def notices(self, action: str, text: str) -> list[Seen | Fact]:
        return [Seen(LAMP, self.lit), Fact(action, "said", text)] if action else []


class HallsSuite(DoorsSuite):
    name = "halls"

    def open(self, **options: str) -> Halls:
        return Halls(**options)


SUITE = HallsSuite()


@pytest.fixture
def halls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    plug(monkeypatch, tmp_path / "site", "halls-1.0", {"suites": {"halls": "tests.journal.test_around:SUITE"}})
    return "halls"


def test_a_world_opened_by_name_is_opened_again_with_its_options_and_notices_for_itself(
    halls: str, tmp_path: Path
) -> None:
    """Cut off, resumed and replayed: the working memory holds what the world has said, each time the same."""
    task = Task("a", "none", "open 2 doors", {"doors": 2, "breaks": "none"})
    world = open_world(halls, lit="cellar 1")
    world.reset(task)
    model = ScriptedModel(acting(SENTENCES))
    run = Run(
        load(TREE), inputs={"goal": task.goal}, world=world, task=task, model=model, journal=tmp_path / "runs",
        clock=Manual(),
    )  # fmt: skip
    while world.verdict().met < 1:
        run.tick()
    kept = agent_services(run.parts.context).working_memory
    assert kept is not None and kept.snapshot().things[LAMP].room == "cellar 1"
    assert kept.fact("open door 1", "said") == "Door 1 is open."
    path = abandoned(run)
    head = Recording(path).head["world"]
    assert (head["suite"], head["options"]) == ("halls", {"lit": "cellar 1"})
    with resume(path, model=ScriptedModel(acting(SENTENCES[1:]))) as going:
        assert going.parts.resources.world.lit == "cellar 1"
        assert going.spin(ticks=100) is SUCCESS
        assert agent_services(going.parts.context).working_memory.fact("open door 2", "said") == "Door 2 is open."
        told = agent_services(going.parts.context).working_memory.snapshot()
    seen: list[Any] = []
    replayed = replay(
        path, see=lambda run, tick: seen.append(agent_services(run.parts.context).working_memory.snapshot())
    )
    assert (replayed.difference, seen[-1]) == ("", told)


def test_what_is_noticed_passes_a_journal_unharmed() -> None:
    noticed = [
        Seen(LAMP, "hall 1", "table 1"), PlacedThing(LAMP), Held(LAMP), Holding(frozenset({LAMP, Thing("mug", 2)})),
        Looked("table 1", frozenset()), Fact("lamp 1", "on", True),
    ]  # fmt: skip
    assert codec.full(codec.plain(noticed)) == noticed


def test_a_recorded_act_reads_no_file_within_its_tick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = open_world("house")
    task = open_suite("house").tasks(1, 1)[0]
    world.reset(task)
    script = [f"Act: {world.skills()[0]}", "Act: failure"]
    with Run(
        load(TREE), inputs={"goal": task.goal}, world=world, model=ScriptedModel(script),
        clock=Manual(), journal=tmp_path / "runs",
    ) as run:  # fmt: skip
        read: list[Any] = []
        monkeypatch.setattr(manifest, "read", lambda path, *about: read.append(path))
        for _ in range(20):
            run.tick()
        assert not read
        assert agent_services(run.parts.context).last_action is not None
