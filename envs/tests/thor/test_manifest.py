"""The manifests: every sentence that the world offers is a skill, and turns into parameters and back."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from bt_envs.thor.suite import SUITE
from bt_envs.thor.world import Thor
from bt_runtime.language.project import packaged
from bt_runtime.language.sentence import Sentence

RESERVED = {"name", "when", "unless", "on_success", "on_failure", "on_halt"}
MANIFESTS = {"thor": "partial", "thor_full": "full"}


def kinds(name: str) -> dict[str, Any]:
    manifest = yaml.safe_load((packaged("skills") / f"{name}.yaml").read_text())
    assert (manifest["version"], manifest["skills"], manifest["impl"]) == (1, name, "world")
    return dict(manifest["kinds"])


@pytest.mark.parametrize("name", MANIFESTS)
def test_slots_are_parameters_and_needs_and_brings_use_no_others(name: str) -> None:
    for kind, fields in kinds(name).items():
        params = set(fields["params"])
        assert set(Sentence(fields["sentence"]).slots) == params, kind
        assert not params & RESERVED
        assert fields["on_resume"] in ("repeat", "verify", "fail")
        assert fields["takes"] > 0
        for fact in [*fields["needs"], *fields["brings"]]:
            assert set(Sentence(fact).slots) <= params


@pytest.mark.parametrize("name, view", MANIFESTS.items())
def test_what_is_offered_is_one_skill_and_needs_hold_before_and_brings_after(name: str, view: Any) -> None:
    """On the oracle's way through every type of task."""
    skills = {kind: Sentence(fields["sentence"]) for kind, fields in kinds(name).items()}
    facts = kinds(name)
    world, met = Thor(view=view, through="scene"), set()
    for task in SUITE.tasks(31, 42, view=view):
        world.reset(task)
        for said in SUITE.oracle(world, task):
            for offered in world.skills():
                fits = [kind for kind, sentence in skills.items() if sentence.parse(offered) is not None]
                assert len(fits) == 1, offered
                met.add(fits[0])
            kind = next(kind for kind, sentence in skills.items() if sentence.parse(said) is not None)
            params = skills[kind].parse(said)
            assert params is not None
            assert skills[kind].say(params) == said
            for fact in facts[kind]["needs"]:
                assert world.holds(Sentence(fact).say(params)), (said, fact)
            assert world.act(said).ok, said
            for fact in facts[kind]["brings"]:
                assert world.holds(Sentence(fact).say(params)), (said, fact)
    assert met == set(skills)
