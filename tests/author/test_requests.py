"""The requests of `make bench ONLY=authoring` can be fulfilled, and their hidden checks tell right from wrong."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
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
