"""`btr fork`: each step of the page, and the ways out."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "fork.md").read_text("utf-8")
FILE = re.compile(r"```(?:yaml|python) (\S+/\S+)\n(.*?)```", re.DOTALL)


def step(name: str) -> list[str]:
    found = re.search(rf"```sh {name}\nbtr (.*?)\n```", PAGE)
    assert found is not None, name
    return shlex.split(found[1])


@pytest.fixture
def rover(here: Path, btr) -> Path:
    """The page's project, after its run has failed."""
    (here / "btr.yaml").write_text("version: 1\n")
    for name, text in FILE.findall(PAGE):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text(text)
    assert btr(*step("run")).code == 1
    return here


def test_each_step_of_the_page_leads_from_the_failed_run_to_the_edit_that_saves_it(rover, btr) -> None:
    told = btr(*step("why"))
    assert told.code == 0 and "charge" in told.out
    failed = next((rover / "runs").glob("*.btr")).stem
    for name in ("set", "force", "replace"):
        done = btr(*(failed if word == "RUN" else word for word in step(name)))
        assert done.code == 0, (name, done)
        assert "SUCCESS" in done.out
    assert len([*(rover / "runs").glob("*-fork-*.btr")]) == 3
    text = (rover / "trees" / "deliver.yaml").read_text()
    node = (rover / "trees" / "parts" / "charge.yaml").read_text()
    inner = "    - " + "\n      ".join(node.splitlines()) + "\n"
    kept = re.sub(r"    - check: .*\n", lambda _: inner, text)
    (rover / "trees" / "deliver.yaml").write_text(kept)
    assert btr("run", "deliver").code == 0


def test_a_dry_fork_names_the_first_action_and_leaves_no_journal(rover, btr) -> None:
    done = btr("fork", "last", "--at", "2", "--set", "charge=5", "--dry")
    assert done.code == 0 and "it would do: drive 4 metres" in done.out
    assert len([*(rover / "runs").glob("*.btr")]) == 1


def test_json_tells_the_fork_and_the_run_that_it_is_of(rover, btr) -> None:
    told = json.loads(btr("fork", "last", "--at", "2", "--set", "charge=5", "--json").out)
    assert told["status"] == "SUCCESS" and told["run"] == f"{told['of']}-fork-1"


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--at", "soon"], "write a tick"), (["--at", "2", "--force", "enough=maybe"], "results: success"),
     (["--at", "2", "--set", "charg=5"], "did you mean `charge`?"), (["--at", "2", "--replace", "enough"], "no `=`")],
)  # fmt: skip
def test_what_cannot_be_understood_is_told_with_the_way_out(rover, btr, words, said) -> None:
    done = btr("fork", "last", *words)
    assert done.code == 2 and said in done.err
    assert len([*(rover / "runs").glob("*.btr")]) == 1
