"""What a manifest demands before a start holds for every way in which a skill of the world can be started."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bt_runtime import Run, debugger_of, load, skill
from bt_runtime.agents import ScriptedModel
from bt_runtime.clock import Manual
from bt_runtime.journal import resume
from bt_runtime.testing import FAILURE, SUCCESS
from bt_runtime.types import Observation

AGENT = "agent: {goal: g, moves: [act]%s}"
TWICE = ["Act: go to dock", "Act: go to hall", "Act: done"]
PLAN = ["Expand:\nsequence: [{act: go to dock}, {act: go to hall}]", "Act: done"]
NODES = "{go: dock}, {go: hall}"
WAYS: dict[str, tuple[str, list[str]]] = {
    "node": (f"sequence: [{NODES}]", []),
    "parallel": (f"parallel: [{NODES}]", []),
    "for_each": ("for_each: {in: [dock, hall], as: place, child: {go: '{place}'}}", []),
    "for_all": ("for_all: {in: [dock, hall], as: place, child: {go: '{place}'}}", []),
    "route": (
        "repeat: {times: 2, child: {route: {prompt: p, children: [{go: {place: dock, about: dock}}]}}}",
        ["dock", "dock"],
    ),
    "subtree": ("tree: nodes.yaml", []),
    "agent": (AGENT % "", TWICE),
    "agent with its name": (AGENT % ", actions: [go]", TWICE),
    "agent with the world": (AGENT % ", actions: [world]", TWICE),
    "agent with both": (AGENT % ", actions: [world, go]", TWICE),
    "agent of an inner tree": ("tree: agent.yaml", TWICE),
    "agent of an inner tree with skills of its own": ("tree: other.yaml", TWICE),
    "expansion": ("agent: {goal: g, moves: [act, expand], leaf: react, resume: true, actions: [go]}", PLAN),
}
FILES = {
    "nodes": f"sequence: [{NODES}]",
    "agent": AGENT % "",
    "other": AGENT % "",
}


class Hall:
    """A world of two places that notes what is done in it."""

    instant = lasting = True

    def __init__(self) -> None:
        self.acts: list[str] = []

    def skills(self) -> list[str]:
        return ["go to dock", "go to hall"]

    def act(self, sentence: str) -> Observation:
        self.acts.append(sentence)
        return Observation("You are there.")


class Says:
    """A person who answers all questions with the same words."""

    def __init__(self, word: str) -> None:
        self.word, self.asked = word, list[str]()

    def ask(self, question: str) -> Any:
        self.asked.append(question)
        return self

    def poll(self) -> str:
        return self.word

    def cancel(self, reason: str) -> None:
        pass


def project(place: Path, lock: str) -> Path:
    (place / "skills").mkdir()
    (place / "trees").mkdir()
    (place / "btr.yaml").write_text("version: 1\n")
    go = f"go: {{sentence: 'go to {{place}}', params: {{place: string}}, on_resume: repeat, {lock}}}"
    (place / "skills/h.yaml").write_text(f"version: 1\nskills: h\nimpl: world\nkinds:\n  {go}\n")
    own = "wave: {sentence: wave to nobody, on_resume: repeat}"
    (place / "skills/own.yaml").write_text(f"version: 1\nskills: own\nimpl: world\nkinds:\n  {own}\n")
    for name, root in FILES.items():
        skills = {"other": "skills: [own]\n", "nodes": "skills: [h]\n"}.get(name, "")
        (place / f"trees/{name}.yaml").write_text(f"version: 1\ntree: {name}\n{skills}root:\n  {root}\n")
    return place


def carried_out(place: Path, way: str, lock: str, person: Any = None) -> list[str]:
    """What was done in the world by a run that starts the skill twice in this way."""
    root, script = WAYS[way]
    (project(place, lock) / "trees/t.yaml").write_text(f"version: 1\ntree: t\nskills: [h]\nroot:\n  {root}\n")
    world, services = Hall(), {"person": person} if person is not None else {}
    tree = load("t", project=place)
    with Run(tree, world=world, model=ScriptedModel([*script]) if script else None, services=services) as run:
        run.spin(ticks=300)
    return world.acts


@pytest.mark.parametrize("way", WAYS)
def test_without_a_lock_each_way_starts_the_skill_twice(way: str, tmp_path: Path) -> None:
    assert len(carried_out(tmp_path, way, "about: goes")) == 2


@pytest.mark.parametrize("way", WAYS)
def test_confirm_without_a_person_starts_nothing(way: str, tmp_path: Path) -> None:
    assert carried_out(tmp_path, way, "confirm: true") == []


@pytest.mark.parametrize("way", WAYS)
def test_confirm_asks_before_each_start_and_a_no_starts_nothing(way: str, tmp_path: Path) -> None:
    person = Says("no")
    assert carried_out(tmp_path, way, "confirm: true", person) == []
    assert person.asked


@pytest.mark.parametrize("way", WAYS)
def test_at_most_holds_for_the_whole_run(way: str, tmp_path: Path) -> None:
    assert len(carried_out(tmp_path, way, "at_most: 1")) == 1


@pytest.mark.parametrize("way", WAYS)
def test_what_a_skill_uses_keeps_every_other_start_waiting(way: str, tmp_path: Path) -> None:
    root, script = WAYS[way]
    (project(tmp_path, "uses: [arm]") / "trees/t.yaml").write_text(
        f"version: 1\ntree: t\nskills: [h]\nroot:\n  {root}\n"
    )
    world = Hall()
    with Run(load("t", project=tmp_path), world=world, model=ScriptedModel([*script]) if script else None) as run:
        held = run.parts.context.resources.take(("arm",), "somebody else's")
        for _ in range(100):
            run.tick()
        assert world.acts == []
        run.parts.context.resources.leave(held)
        for _ in range(100):
            if not run.tick().running:
                break
    assert len(world.acts) == 2


def test_a_spent_skill_of_the_world_is_not_offered(tmp_path: Path) -> None:
    root, _ = WAYS["agent"]
    (project(tmp_path, "at_most: 1") / "trees/t.yaml").write_text(
        f"version: 1\ntree: t\nskills: [h]\nroot:\n  {root}\n"
    )
    model = ScriptedModel(["Act: go to dock", "Act: done"])
    with Run(load("t", project=tmp_path), world=Hall(), model=model) as run:
        assert run.spin(ticks=100) is SUCCESS
    first, last = ([option.strip() for option in each.options] for each in (model.asked[0], model.asked[-1]))
    assert "go to dock" in first and last == ["done", "failure"]


@pytest.mark.parametrize("root, script", [("ring: {}", []), (AGENT % ", actions: [ring]", ["Act: ring", "Act: done"])])
def test_a_skill_that_answers_in_the_tick_is_asked_for_as_well(root: str, script: list[str]) -> None:
    rung: list[str] = []

    @skill("ring", instant=True, confirm=True)
    def ring() -> bool:
        rung.append("ring")
        return True

    tree = load(f"version: 1\ntree: t\nroot:\n  {root}\n", skills=[ring])
    with Run(tree, model=ScriptedModel(script) if script else None) as run:
        run.spin(ticks=50)
    assert rung == []


@pytest.mark.parametrize("lock, allowed", [("confirm: true", 0), ("at_most: 1", 1)])
def test_a_graft_is_held_to_it(lock: str, allowed: int, tmp_path: Path) -> None:
    (project(tmp_path, lock) / "trees/t.yaml").write_text(
        "version: 1\ntree: t\nskills: [h]\nroot: {parallel: [wait: 9]}\n"
    )
    world = Hall()
    with Run(load("t", project=tmp_path), world=world, clock=Manual()) as run:
        run.tick()
        run.insert("/t", "go: dock")
        run.replace("/t/0", "go: hall")
        for _ in range(5):
            run.tick()
    assert len(world.acts) == allowed


@pytest.mark.parametrize("lock, allowed", [("confirm: true", 0), ("at_most: 1", 1)])
def test_a_debugger_that_steps_is_held_to_it(lock: str, allowed: int, tmp_path: Path) -> None:
    text = f"version: 1\ntree: t\nskills: [h]\nroot: {{fallback: [{{sequence: [{NODES}]}}, {{wait: 9}}]}}\n"
    (project(tmp_path, lock) / "trees/t.yaml").write_text(text)
    world = Hall()
    with Run(load("t", project=tmp_path), world=world, clock=Manual()) as run:
        debugger = debugger_of(run)
        debugger.pause()
        for _ in range(9):
            debugger.step()
            run.tick()
        assert len(world.acts) == allowed


@pytest.mark.parametrize("lock, allowed", [("confirm: true", 0), ("at_most: 1", 1)])
def test_a_resumed_run_is_held_to_it(lock: str, allowed: int, tmp_path: Path) -> None:
    """A start that the first process has made counts in the second one, and nobody's consent is carried over."""
    root = f"fallback: [{{sequence: [{{go: dock}}, {{wait: 5}}, {{go: hall}}]}}, {{sequence: [{{wait: 5}}, {NODES}]}}]"
    (project(tmp_path, lock) / "trees/t.yaml").write_text(f"version: 1\ntree: t\nskills: [h]\nroot: {{{root}}}\n")
    world, clock = Hall(), Manual()
    run = Run(load("t", project=tmp_path), world=world, clock=clock, journal=tmp_path / "runs")
    run.tick()
    assert run.parts.journal is not None and run.parts.journal.path is not None
    journal = run.parts.journal.path
    run.parts.journal.close()  # as if the process had ended here
    with resume(journal, world=world, clock=clock) as again:
        for _ in range(20):
            clock.advance(5)
            if not again.tick().running:
                break
        assert again.status is FAILURE
    assert len(world.acts) == allowed


@pytest.mark.parametrize("lock, allowed", [("confirm: true", 0), ("at_most: 1", 1)])
def test_a_forced_result_starts_nothing_and_what_is_started_after_it_is_held_to_it(
    lock: str, allowed: int, tmp_path: Path
) -> None:
    root = f"repeat: {{times: 5, child: {{force: {{status: success, child: {{sequence: [{NODES}]}}}}}}}}"
    (project(tmp_path, lock) / "trees/t.yaml").write_text(f"version: 1\ntree: t\nskills: [h]\nroot: {{{root}}}\n")
    world = Hall()
    with Run(load("t", project=tmp_path), world=world, clock=Manual()) as run:
        debugger_of(run).force("/t/**", [2, "success"])
        run.tick()
        assert world.acts == []
        debugger_of(run).take_back()
        run.spin(ticks=100)
    assert len(world.acts) == allowed


@pytest.mark.parametrize("way", WAYS)
def test_needs_refuse_no_start(way: str, tmp_path: Path) -> None:
    """They prune what an agent is offered of skills that are not the world's; the world prunes its own sentences."""
    root, script = WAYS[way]
    (project(tmp_path, "needs: [hand empty]") / "trees/t.yaml").write_text(
        f"version: 1\ntree: t\nskills: [h]\nblackboard: {{hand_empty: {{type: boolean, default: false}}}}\n"
        f"root:\n  {root}\n"
    )
    world = Hall()
    with Run(load("t", project=tmp_path), world=world, model=ScriptedModel([*script]) if script else None) as run:
        run.spin(ticks=300)
    assert len(world.acts) == 2


def test_the_locks_of_a_project_s_manifests_hold_where_no_tree_lists_them(tmp_path: Path) -> None:
    """A shipped strategy such as `react` lists none, and acts in the project's world all the same."""
    root, script = WAYS["agent"]
    place = project(tmp_path, "confirm: true")
    for name, skills, acts in [("without", "", 0), ("other", "skills: [own]\n", 0), ("with", "skills: [h]\n", 0)]:
        (place / f"trees/{name}.yaml").write_text(f"version: 1\ntree: {name}\n{skills}root:\n  {root}\n")
        world = Hall()
        with Run(load(name, project=place), world=world, model=ScriptedModel([*script])) as run:
            run.spin(ticks=100)
        assert len(world.acts) == acts
