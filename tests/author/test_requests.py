"""The requests of `make bench ONLY=authoring` can be fulfilled, and their hidden checks tell right from wrong."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from authoring_requests import REQUESTS, passes, project, whole


def test_a_tree_of_ours_passes_each_request(tmp_path: Path) -> None:
    root = project(tmp_path / "p")
    assert len(REQUESTS) >= 20
    assert [request.text for request in REQUESTS if not passes(whole(request), request, root)] == []


@pytest.mark.parametrize(
    "wrong", ["root: {succeed: {}}", "root: {drive: hall}", "root: {sequence: [drive: hall, charge: {}]}"]
)
def test_a_wrong_tree_passes_no_request_but_one_that_it_answers(tmp_path: Path, wrong: str) -> None:
    root = project(tmp_path / "p")
    text = f"version: 1\ntree: draft\nskills: [rover]\n{wrong}\n"
    passed = [request.text for request in REQUESTS if passes(text, request, root)]
    assert passed == (["drive to the hall"] if wrong == "root: {drive: hall}" else [])
