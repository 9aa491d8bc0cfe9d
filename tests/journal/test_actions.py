"""An agent's skills in the journal: what it did is replayed, and what was in doubt is settled as the skill says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bt_runtime import Run, Skill, load, skill
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.services import agent_services
from bt_runtime.clock import Manual
from bt_runtime.journal import replay, resume
from bt_runtime.testing import FAILURE, RUNNING, SUCCESS
from tests.journal.conftest import read
from tests.support.abandoned import abandoned

TREE = """
version: 1
tree: t
blackboard: {holes: {type: list, default: [1, 2]}}
root:
  agent: {goal: drill, moves: [think, act, expand], leaf: react}
"""


@skill("drill hole {hole}", sources={"hole": "holes"}, outputs={"depth": int})
def drill(hole: int) -> dict[str, int]:
    return {"depth": 10 * hole}


@skill("mark hole {hole} as {text}", on_resume="repeat", sources={"hole": "holes"})
def mark(hole: int, text: str) -> None:
    if text == "bad":
        raise ValueError("no ink")


def test_a_run_whose_agent_does_skills_is_replayed_without_them(record: Callable[..., Run]) -> None:
    plan = "sequence:\n- act: drill hole 2\n- tell them"
    lines = [
        "Act: drill hole 1", "Act: mark hole 1 as good", "Act: mark hole 2 as bad", f"Expand:\n{plan}",
        "Act: done",
    ]  # fmt: skip
    run = record(TREE, skills=[drill, mark], services={"model": ScriptedModel(lines)})
    assert run.spin(ticks=500) is SUCCESS
    assert [step.observation for step in run.parts.engine.root.steps] == [
        "depth: 10",
        "Done.",
        "ValueError: no ink",
        "",
    ]
    recording = read(run)
    found = replay(recording.path)
    assert found.same, found.difference
    assert found.status == "SUCCESS"


def drilling(on_resume: str, told: bool | None, done: list[str]) -> type[Skill]:
    @skill("drill hole {hole}", name="drill", on_resume=on_resume, sources={"hole": "holes"})  # type: ignore[arg-type]
    class Drill(Skill):
        def start(self, hole: int) -> None:
            done.append(f"drill {hole}")

        def poll(self):
            return RUNNING if len(done) == 1 else SUCCESS

        def verify(self, hole: int) -> bool | None:
            return None if told is None else bool(done)

    return Drill


def interrupted(runs: Path, kind: type[Skill]) -> Path:
    """Killed while the agent's action is under way."""
    model = ScriptedModel(["Act: drill hole 1"])
    run = Run(load(TREE, skills=[kind]), clock=Manual(), journal=runs, model=model)
    for _ in range(6):
        run.tick()
        assert run.parts.journal.tape.writer.durable().wait(60)
    assert run.status is RUNNING
    return abandoned(run)


def test_an_action_found_done_on_resume_leaves_its_outputs(tmp_path: Path) -> None:
    """What `verify` returns as a mapping is what the action would have given to slots and conditions."""
    done: list[str] = []

    @skill(
        "drill hole {hole}", name="drill", on_resume="verify", sources={"hole": "holes"}, outputs={"depth": "integer"}
    )
    class Drill(Skill):
        def start(self, hole: int) -> None:
            done.append(f"drill {hole}")

        def poll(self):
            return RUNNING

        def verify(self, hole: int) -> dict[str, int] | bool:
            return {"depth": 10 * hole} if done else False

    path = interrupted(tmp_path, Drill)
    with resume(path, skills=[Drill], model=ScriptedModel(["Act: done"])) as run:
        assert run.spin(ticks=200) is SUCCESS
        assert agent_services(run.parts.context).skill_outputs["drill", "depth"] == 10
    assert done == ["drill 1"]


def test_an_action_in_doubt_is_settled_by_its_on_resume(tmp_path: Path) -> None:
    for number, (on_resume, told, starts, said) in enumerate([
        ("repeat", None, 2, "Done."),
        ("verify", True, 1, "what it brings about is so: it was done"),
        ("fail", None, 1, "`drill hole 1` was cut off, and may not be repeated"),
    ]):  # fmt: skip
        done: list[str] = []
        path = interrupted(tmp_path / str(number), drilling(on_resume, told, done))
        run = resume(path, skills=[drilling(on_resume, told, done)], model=ScriptedModel(["Act: done"]))
        with run:
            assert run.spin(ticks=200) is SUCCESS
            assert run.parts.engine.root.steps[0].observation == said
        assert len(done) == starts


def looking(broken: list[bool]) -> type[Skill]:
    """A skill whose `verify` raises while something stands in `broken`."""

    @skill("drill hole", name="drill", on_resume="verify")
    class Drill(Skill):
        def poll(self):
            return RUNNING

        def verify(self) -> bool:
            if broken:
                raise OSError("the camera is gone")
            return False

    return Drill


DRILLS = "version: 1\ntree: t\nroot: {sequence: [drill: {}, log: never]}\n"


def test_a_verify_that_raises_before_a_start_is_replayed_as_a_start_that_failed(tmp_path: Path) -> None:
    kind = looking([True])
    with Run(load(DRILLS, skills=[kind]), clock=Manual(), journal=tmp_path) as run:
        assert [run.tick().status for _ in range(3)] == [FAILURE] * 3
        path = run.parts.journal.path
    found = replay(path)
    assert (found.difference, found.ended, found.ticks, found.status) == ("", "", 3, "FAILURE")


def test_a_verify_that_raises_on_resume_fails_the_action_which_is_not_begun_again(tmp_path: Path) -> None:
    broken: list[bool] = []
    kind = looking(broken)
    run = Run(load(DRILLS, skills=[kind]), clock=Manual(), journal=tmp_path)
    for _ in range(3):
        run.tick()
        assert run.parts.journal.tape.writer.durable().wait(60)
    path = abandoned(run)
    broken.append(True)
    with resume(path, skills=[kind]) as again:
        assert again.tick().status is FAILURE
        assert "cannot be told: OSError: the camera is gone" in [*again.nodes()][1].feedback_message
    found = replay(path)
    assert (found.difference, found.ended, found.status) == ("", "", "FAILURE")
