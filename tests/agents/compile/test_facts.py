"""Conditions of a compiled tree are facts: what skills have brought, and what their outputs told some steps before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import bt_runtime as bt
from bt_runtime import BtError
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.backchain.brought import held
from bt_runtime.agents.compile.compiling import compiled
from tests.agents.compile.pantry import Nobody

SOLO = """
version: 1
tree: mechanic
inputs: {goal: {type: string}}
root: {agent: {goal: "{goal}", moves: [think, act], recall: false, examples: 0}}
"""
BIKES = ("red bike", "blue bike", "old bike")
CHAINS = ("dry", "fine", "worn")


class Workshop:
    """A bicycle at a time; an answer is given once, when it is inspected."""

    def __init__(self, chain: str) -> None:
        self.chain, self.done = chain, list[str]()

    def skills(self) -> list[Any]:
        @bt.skill("inspect {bike}", outputs={"chain": str}, sources={"bike": "bikes"}, on_resume="repeat")
        def inspect(bike: str) -> dict[str, str]:
            self.done.append("inspect")
            return {"chain": self.chain}

        return [inspect, *(self.act(name, brings) for name, brings in ACTS.items())]

    def act(self, name: str, brings: list[str]) -> Any:
        def did(bike: str) -> None:
            self.done.append(name)

        did.__name__ = name
        did.__annotations__ = {"bike": str, "return": None}
        return bt.skill(f"{name} {{bike}}", brings=brings, sources={"bike": "bikes"}, on_resume="repeat")(did)


ACTS = {"clamp": ["{bike} is clamped"], "oil": ["{bike} is oiled"], "wipe": [], "release": ["not {bike} is clamped"]}


def by_answer(chain: str) -> Iterator[str]:
    """Oiled when it was dry, which was told a step earlier; a run ends before the release when it is worn."""
    yield from ("inspect", "clamp")
    if chain == "dry":
        yield "oil"
    yield "wipe"
    if chain != "worn":
        yield "release"


def by_effect(chain: str) -> Iterator[str]:
    """Wiped after the release, when it was oiled before the clamp: nothing was answered in between."""
    yield "inspect"
    if chain == "dry":
        yield "oil"
    yield from ("clamp", "release")
    if chain == "dry":
        yield "wipe"


def runs(folder: Path, rule: Callable[[str], Iterator[str]], told: bool = True) -> list[Path]:
    for number in range(24):
        chain, bike = CHAINS[number * 7 % 3], BIKES[number % 3]
        lines = [f"Act: {act} {bike}" for act in rule(chain)]
        shop = Workshop(chain if told else "seen")
        with bt.Run(
            bt.load(SOLO.replace("inputs:", f"blackboard: {{bikes: {{type: list, default: {[*BIKES]}}}}}\ninputs:"),
                    skills=shop.skills()),
            inputs={"goal": f"look over the {bike}"}, model=ScriptedModel([*lines, "Act: done"]), journal=folder,
        ) as run:  # fmt: skip
            assert run.spin(seconds=30) is bt.Status.SUCCESS
    return sorted(folder.glob("*.btr"))


@pytest.mark.parametrize(
    ("rule", "test", "unseen"),
    [
        (by_answer, "holds: chain dry", ["inspect", "clamp", "wipe"]),
        (by_effect, 'holds: "{it.bike} is oiled"', ["inspect", "clamp", "release"]),
    ],
)
def test_a_step_depends_on_a_fact_of_some_steps_before(
    rule: Callable[[str], Iterator[str]], test: str, unseen: list[str], tmp_path: Path
) -> None:
    """Without a model the tree does what the rule does, for each answer; one that no run had leads to no such step."""
    found = compiled(runs(tmp_path, rule), "look_over")
    assert test in found.text and not found.unexplained, found.text
    for chain in (*CHAINS, "gone"):
        shop = Workshop(chain)
        tree = bt.load(found.text, skills=shop.skills())
        with bt.Run(tree, inputs={"goal": "look over the blue bike"}, model=Nobody()) as run:
            assert run.spin(seconds=30) is bt.Status.SUCCESS
        assert shop.done == (unseen if chain == "gone" else [*rule(chain)]), found.text


def test_what_neither_an_effect_nor_an_output_tells_is_left_to_the_agent(tmp_path: Path) -> None:
    """The same runs, but the inspection tells nothing: no tree oils some bikes for no reason."""
    with pytest.raises(BtError, match="nothing that was seen tells when"):
        compiled(runs(tmp_path, by_answer, told=False), "look_over")


@pytest.mark.parametrize(
    ("fact", "so"),
    [("chain dry", True), ("not chain dry", False), ("chain fine", False), ("not chain fine", True), ("worn", None),
     ("x is oiled", True), ("not x is oiled", None), ("x is clamped", False), ("lamp on", True)],
)  # fmt: skip
def test_a_fact_is_brought_or_told_and_else_nothing_is_known(fact: str, so: bool | None) -> None:
    facts = {"x is oiled": True, "x is clamped": False}
    assert held(fact, facts, {"chain": "dry", "lamp_on": True}) is so


@pytest.mark.rule("holds", 2)
def test_a_first_test_of_a_fact_knows_what_was_told_before_it() -> None:
    """Also when the skill was done before any `holds` was ticked."""

    @bt.skill("inspect it", outputs={"chain": str})
    def inspect() -> dict[str, str]:
        return {"chain": "dry"}

    text = "version: 1\ntree: t\nroot:\n  sequence: [inspect: {}, holds: chain dry, holds: not chain fine]\n"
    with bt.Run(bt.load(text, skills=[inspect])) as run:
        assert run.spin(seconds=20) is bt.Status.SUCCESS
