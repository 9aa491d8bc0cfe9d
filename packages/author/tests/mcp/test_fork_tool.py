"""The tool `fork`: a recorded run goes on with changes, its model is asked, and nothing is done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bt_runtime as bt
from bt_author.mcp.tools.every import call
from bt_author.mcp.tools.site import Site
from bt_runtime.language.project import trust
from packages.author.tests.mcp.conftest import ran

TREE = """\
version: 1
tree: deliver
skills: [rover]
blackboard: {charge: {type: number, default: 1}}
root:
  sequence: [wait: 0.01, check: {expr: charge > 2, name: enough}, drive: hall]
"""


@pytest.fixture
def recorded(project: Path) -> Path:
    """A trusted project with one run that failed: the charge was too low."""
    (project / "trees" / "deliver.yaml").write_text(TREE)
    with bt.Run(bt.load("deliver", project=project), journal=project / "runs") as run:
        assert run.spin(seconds=60) is bt.Status.FAILURE
    (project / "skills" / "rover.py.ran").unlink(missing_ok=True)
    trust.remember(project)
    return project


def forked(root: Path, *allow: str, **given: Any) -> Any:
    return call(Site(root, frozenset(allow)), "fork", {"run": "last", "at": "0", **given})


@pytest.mark.parametrize(
    ("given", "wanted"),
    [({}, ""), ({"set": {"charge": 5}}, "drive to hall"), ({"force": {"**/enough": "success"}}, "drive to hall"),
     ({"replace": {"/deliver/enough": "drive: dock"}}, "drive to dock"), ({"set": {"charge": 1.5}}, "")],
)  # fmt: skip
def test_it_names_the_first_action_and_does_nothing(recorded: Path, given: dict[str, Any], wanted: str) -> None:
    before = sorted(path.name for path in (recorded / "runs").iterdir())
    answer = forked(recorded, "try", **given)
    assert not answer.failed and answer.data["wanted"] == wanted, answer.text
    assert (wanted or "no action was wanted") in answer.text
    assert sorted(path.name for path in (recorded / "runs").iterdir()) == before
    assert not ran(recorded)


def test_it_wants_what_try_wants(recorded: Path) -> None:
    """A person's permission, and a trusted folder: a journal names models and Python."""
    assert "has not allowed" in forked(recorded).text
    trust.forget(recorded)
    assert "not trusted" in forked(recorded, "try").text


@pytest.mark.parametrize(
    ("given", "words"),
    [({"at": "soon"}, "no moment"), ({"at": "99"}, "has no tick 99"), ({"run": "nope"}, "nope"),
     ({"run": "../runs/x.btr"}, "no name of a run"), ({"force": {"x": "maybe"}}, "results: success"),
     ({"set": {"chrge": 1}}, "charge"), ({"replace": {"/deliver/enough": "drve: dock"}}, "drive"),
     ({"at": "decision:1"}, "no decision 1")],
)  # fmt: skip
def test_what_cannot_be_forked_is_told_in_words(recorded: Path, given: dict[str, Any], words: str) -> None:
    answer = forked(recorded, "try", **given)
    assert answer.failed and words in answer.text, answer.text
