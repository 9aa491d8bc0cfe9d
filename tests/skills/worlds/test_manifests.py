"""The manifests against the worlds that act them."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from bt_runtime.language.project import packaged
from bt_runtime.language.sentence import Sentence
from bt_runtime.plugins import open_suite

RESERVED = {"name", "when", "unless", "on_success", "on_failure", "on_halt"}


def manifest(name: str) -> dict[str, dict[str, object]]:
    found = yaml.safe_load((packaged("skills") / f"{name}.yaml").read_text())
    assert found["version"] == 1 and found["skills"] == name
    return found["kinds"]


def sentence(kind: dict[str, object]) -> Sentence:
    params: dict[str, dict[str, str]] = kind["params"]  # type: ignore[assignment]
    return Sentence(str(kind["sentence"]), {name: p["type"] for name, p in params.items()})


@pytest.mark.parametrize("name", ["textcraft", "house", "hotpotqa"])
def test_every_field_of_a_manifest_is_there_and_its_slots_are_parameters(name: str) -> None:
    """A sentence's slots are exactly its parameters, none with a reserved name; `needs` and `brings` use no others."""
    for key, kind in manifest(name).items():
        params = set(kind["params"])  # type: ignore[call-overload]
        assert set(sentence(kind).slots) == params, key
        assert not params & RESERVED
        assert kind["on_resume"] in ("repeat", "verify", "fail") and kind["takes"] > 0  # type: ignore[operator]
        for fact in [*kind["needs"], *kind["brings"]]:  # type: ignore[misc]
            assert set(Sentence(fact).slots) <= params


@pytest.mark.parametrize("name", ["textcraft", "house", "hotpotqa"])
def test_every_sentence_that_a_world_offers_is_one_of_its_manifest_and_back(name: str) -> None:
    """Sentence → structured form → the same sentence, for all that is offered along the oracle's way."""
    kinds = {key: sentence(kind) for key, kind in manifest(name).items()}
    suite = open_suite(name)
    world = suite.open()
    met: set[str] = set()
    for task in [*suite.tasks(31, 10), *suite.tasks(31, 6, kinds=getattr(suite, "asked_for", None))]:
        world.reset(task)
        offers = [world.skills()]
        for said in suite.oracle(world, task):
            world.act(said)
            offers.append((*world.skills(), said))  # what is written is listed nowhere
        for offered in {sentence for offer in offers for sentence in offer}:
            fits = [(key, s.parse(offered)) for key, s in kinds.items() if s.parse(offered) is not None]
            assert len(fits) == 1, offered
            key, params = fits[0]
            assert params is not None and kinds[key].say(params) == offered
            met.add(key)
    assert met == {key for key, kind in manifest(name).items() if kind.get("impl", "world") == "world"}


@pytest.mark.parametrize("name", ["textcraft", "house", "hotpotqa"])
def test_needs_hold_before_and_brings_after(name: str) -> None:
    """For every act of the oracle, the world judges its `needs` true before it and its `brings` true after it."""
    table = manifest(name)
    suite = open_suite(name)
    world = suite.open()
    judged = 0
    for task in [*suite.tasks(32, 40), *suite.tasks(32, 9, kinds=getattr(suite, "asked_for", None))]:
        world.reset(task)
        for said in suite.oracle(world, task):
            key, params = next((k, p) for k, kind in table.items() if (p := sentence(kind).parse(said)) is not None)
            for fact in table[key]["needs"]:  # type: ignore[attr-defined]
                assert world.holds(Sentence(fact).say(params)), (said, fact)
            assert world.act(said).ok
            for fact in table[key]["brings"]:  # type: ignore[attr-defined]
                assert world.holds(Sentence(fact).say(params)), (said, fact)
                judged += 1
    assert judged > 100


def test_manifests_are_where_they_are_looked_for() -> None:
    """Both travel with bt_runtime."""
    assert all((packaged("skills") / f"{n}.yaml").is_file() for n in ("textcraft", "house"))
    assert Path(packaged("envs") / "house" / "things.yaml").is_file()
