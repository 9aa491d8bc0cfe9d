"""`btr init --example arm`: a robot without a world, whose agent tidies a table by the project's own skills."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bt_runtime import Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.clock import Manual
from bt_runtime.journal import replay
from bt_runtime.language.project import init
from bt_runtime.testing import RUNNING, SUCCESS
from bt_runtime.types import Question

pytest.importorskip("mujoco")
PARTS = ("red cube in the left tray", "green cube in the right tray", "blue cube in the right tray")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for place, data in init.files("arm"):
        path = tmp_path / "mine" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return tmp_path / "mine"


def arm_of(project: Path) -> Any:
    """The simulated arm of this project's skills."""
    file = str(project / "skills" / "arm.py")
    return next(m for m in sys.modules.values() if getattr(m, "__file__", "") == file).arm()


def oracle(question: Question) -> str:
    """It breaks the goal into a part for each cube; a part looks, and does what is left to do. Sees only its prompt."""
    prompt = question.prompt
    if prompt.endswith("Think:"):
        return "one thing after another"
    goal = re.findall(r"^Your task is to: (.*)$", prompt, re.MULTILINE)[-1]
    told = prompt[prompt.rindex("Your task is to: ") :]
    part = re.fullmatch(r"put the (.*) in the (.*)", goal)
    if goal.count("tray") > 1 or part is None:
        return "Expand:\nsequence:\n" + "\n".join(f"- put the {each}" for each in PARTS)
    done = re.findall(r"^Act: (.*)$", told, re.MULTILINE)
    if "Think:" not in told:
        return "Think:"
    if not done:
        return "Act: look at the table"
    if part[1] not in told.partition("things: ")[2].partition("\n")[0] or len(done) == 3:
        return "Act: done"
    return f"Act: pick up {part[1]}" if len(done) == 1 else f"Act: put it in the {part[2]}"


@pytest.fixture
def tidying(project: Path) -> Iterator[Run]:
    model = ScriptedModel(oracle, polls=3)
    with Run(load("tidy", project=project), model=model, clock=Manual(), journal=project / "runs") as run:
        run.made_by = model  # type: ignore[attr-defined]
        yield run


def test_an_agent_tidies_the_table_through_grafts(tidying: Run, project: Path) -> None:
    before = tidying.parts.engine.nodes
    assert tidying.spin(ticks=20_000) is SUCCESS
    assert tidying.parts.engine.nodes > before, "it has grown"
    arm = arm_of(project)
    assert [arm.tray_of(cube) for cube in ("red cube", "green cube", "blue cube")] == [
        "left tray", "right tray", "right tray",
    ]  # fmt: skip


def running(run: Run) -> Any:
    """The agent that decides or acts now."""
    agents = [n for n in run.nodes() if getattr(n, "life", None) is not None and not n.children]
    return agents[-1] if agents else None


def until(run: Run, wanted: Any, most: int = 20_000) -> Any:
    for _ in range(most):
        run.tick()
        found = running(run)
        if found is not None and wanted(found):
            return found
        due = run.parts.context.due
        if run.parts.context.clock.now() < due < float("inf"):
            run.parts.context.clock.inner.advance(due - run.parts.context.clock.now())
    raise AssertionError("it never came to that")


def interrupted(run: Run, arm: Any, agent: Any) -> None:
    """The battery is low: the agent is cancelled, the arm charges, and the work begins anew."""
    job, arm.battery = agent.job, 0.1
    for _ in range(200):
        run.tick()
        run.parts.context.clock.inner.advance(0.02)
        if agent.life is None:
            break
    assert agent.ending.why == "cancelled"
    assert job is not None
    until(run, lambda found: found is not agent)
    assert arm.battery > 0.9


def test_a_low_battery_interrupts_it_in_the_middle_of_a_thought_and_of_a_motion(tidying: Run, project: Path) -> None:
    run = tidying
    thinking = until(run, lambda agent: agent.steps and agent.steps[-1].move == "think" and agent.job is not None)
    arm = arm_of(project)
    interrupted(run, arm, thinking)
    moving = until(run, lambda agent: hasattr(agent.job, "deed") and arm.carried())
    assert moving.job.deed.kind.name in ("pick", "place")
    interrupted(run, arm, moving)
    assert run.spin(ticks=20_000) is SUCCESS
    assert arm.loose() == []


def test_its_journal_is_replayed_without_the_arm(tidying: Run, project: Path) -> None:
    assert tidying.spin(ticks=20_000) is SUCCESS
    tidying.close()
    assert tidying.parts.journal is not None
    found = replay(tidying.parts.journal.path)
    assert found.same, found.difference


def test_a_tree_that_a_person_wrote_does_the_same_work(project: Path) -> None:
    with Run(load("main", project=project), clock=Manual()) as run:
        assert run.tick().status is RUNNING
        assert run.spin(ticks=20_000) is SUCCESS
        assert run.outputs == {"tidied": 3}


def drawn(arm: Any) -> Any:
    """What the camera has drawn; the process that tests may have no library for it, or another one."""
    assert arm.camera.ready.wait(60)
    return arm.camera.last


def test_the_page_shows_the_table_or_says_in_a_sentence_why_not(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Run(load("main", project=project), clock=Manual()) as run:
        assert run.tick().status is RUNNING
        arm = arm_of(project)
        assert arm.picture()["text"] == "The first picture comes soon."
        first = drawn(arm)
        monkeypatch.setattr("mujoco.Renderer", lambda *_: 1 / 0)
        arm.camera = None
        arm.picture()
        shown = drawn(arm)
    assert shown["text"].startswith(
        "No picture: MuJoCo cannot draw here (ZeroDivisionError: division by zero); install"
    )
    assert first["is"] == "image" or first["text"].startswith("No picture: MuJoCo cannot draw here (")
