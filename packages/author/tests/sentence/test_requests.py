"""The requests of `make bench ONLY=authoring` can be fulfilled, and their hidden checks tell right from wrong."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from bt_runtime.agents import ScriptedModel

sys.path.insert(0, str(Path(__file__).parents[4] / "tests" / "benchmarks"))
from authoring_requests import ONE_BRANCH, REQUESTS, Request, passes, project


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return project(tmp_path_factory.mktemp("requests") / "p")


def test_there_are_sixty_requests_and_no_two_are_the_same() -> None:
    assert len({request.text for request in REQUESTS}) == 60 >= ONE_BRANCH


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: request.text[:40])
def test_hidden_checks_tell_a_right_tree_from_a_wrong_one(root: Path, request_: Request) -> None:
    """Our tree passes, so the request can be fulfilled; a hasty one, which is sound too, does not."""
    assert passes(request_.ours, request_, root)
    assert not passes(request_.wrong, request_, root)


def test_promises_are_checked_beside_the_courses(root: Path) -> None:
    """Some wrong trees do the right things in every course, and only break what is promised."""
    promised = [request for request in REQUESTS if request.never]
    caught = [each for each in promised if passes(each.wrong, each._replace(never=()), root)]
    assert len(promised) >= 4 and caught


@pytest.mark.parametrize("wrong", ["{succeed: {}}", "{drive: hall}", "{sequence: [drive: hall, charge: {}]}"])
def test_a_tree_for_another_request_passes_none(root: Path, wrong: str) -> None:
    text = f"version: 1\ntree: draft\nskills: [rover]\nroot: {wrong}\n"
    passed = [request.text for request in REQUESTS if passes(text, request, root)]
    assert passed == (["drive to the hall"] if wrong == "{drive: hall}" else [])


def test_a_row_of_btgenbots_form_is_a_request_with_its_own_skills(tmp_path: Path) -> None:
    """Its actions become skills, and a draft is held to the actions of the set's answer."""
    import bench_authoring

    said = "Follow a path.\n\nActions: [ComputePath (parameters: goal, path), Follow (parameters: "
    xml = "<root><BehaviorTree><Sequence><ComputePath goal='x'/><Follow name='f'/></Sequence></BehaviorTree></root>"
    path = tmp_path / "set.json"
    path.write_text(json.dumps([{"instruction": "", "input": f"{said}path, name)]", "output": xml}] * 2))
    head = "version: 1\ntree: draft\nskills: [robot]\nroot:\n"
    right = f"{head}  sequence:\n    - compute_path: {{goal: x}}\n    - follow: {{}}\n"
    model = ScriptedModel([right, f"{head}  follow: {{}}\n"])
    found = list(bench_authoring.measured(path, model, 1, 100, None))
    assert [row.measured for row in found] == [1.0, 0.5]
