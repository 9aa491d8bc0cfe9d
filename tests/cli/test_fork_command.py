"""`btr runs fork`: each step of the page, and the ways out."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "fork.md").read_text("utf-8")
FILE = re.compile(r"```(?:yaml|python) (\S+\.\w+)\n(.*?)```", re.DOTALL)


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


def test_a_sweep_prints_the_table_of_the_page_and_keeps_no_fork(rover, btr) -> None:
    failed = next((rover / "runs").glob("*.btr")).stem
    done = btr(*(failed if word == "RUN" else word for word in step("sweep")))
    assert done.code == 0, done.err
    table = PAGE.partition("```sh sweep")[2].partition("```text\n")[2].partition("```")[0]
    assert done.out == table
    assert len([*(rover / "runs").glob("*.btr")]) == 1
    told = json.loads(btr(*(failed if word == "RUN" else word for word in step("sweep")), "--json").out)
    assert told["smallest"] == "charge 3" and [e["passed"] for e in told["edits"]] == [0, 4, 4, 4]


def test_the_page_flips_decisions_of_a_run_that_asked_a_model(here, btr) -> None:
    """Every step of it runs as it stands; the starter is asked for real."""
    pytest.importorskip("llama_cpp")
    pytest.importorskip("llguidance")
    (here / "btr.yaml").write_text("version: 1\n")
    assert btr(*step("ask")).code == 1
    done = btr(*step("flip"))
    assert done.code in (0, 1), done.err
    lines = done.out.splitlines()
    assert lines[0].split() == ["decision", "tick", "margin", "node", "answer", "flipped", "to", "then"]
    assert len(lines) == 5 and "not flipped: " in lines[-1] and "of 3" in lines[-1]
    margins = [float(line.split()[2]) for line in lines[1:4]]
    assert margins == sorted(margins) and (here / "pairs.jsonl").is_file()


@pytest.mark.parametrize(
    ("text", "said"),
    [("  - set: {charg: 5}", "edits.yaml:3:11: `deliver` has no input and no entry `charg`"),
     ("  - set: {charge: much}", "edits.yaml:3:19: `charge` takes an integer"),
     ("  - force: {a: maybe}", "edits.yaml:3:16: "), ("  - sett: {charge: 3}", "edits.yaml:3:5: "),
     ("  - replace: {/deliver/enough: none.yaml}", "edits.yaml:3:32: there is no file none.yaml"),
     ("  - replace: {/deliver/enogh: trees/parts/charge.yaml}", "edits.yaml:3:15: deliver-"),
     ("  - force: {/deliver/enogh: success}", "did you mean `/deliver/enough`?"),
     ("  - model: none.gguf", "edits.yaml:3:12: deliver-"), ("  - memory: none.db", "edits.yaml:3:13: deliver-"),
     ("  - strategy: reac", "edits.yaml:3:15: there is no tree `reac`"),
     ("  - strategy: react", "edits.yaml:3:15: `react` needs the input `goal`"),
     ("  - prompt: {agnt: words.md}", "did you mean `agent`?"),
     ("  - prompt: {agent: words.md}", "words.md:2:9: "), ("  - name: nothing", "changes nothing"),
     ("  - set: {charge: 3}\n  - set: {charge: 3}", "edits.yaml:4:5: there are two edits `charge=3`")],
)  # fmt: skip
def test_a_fault_in_a_file_of_edits_is_told_with_its_line_and_column(rover, btr, text, said) -> None:
    (rover / "words.md").write_text("You act.\nSay {1 +}\n")
    (rover / "edits.yaml").write_text(f"version: 1\nedits:\n{text}\n")
    done = btr("runs", "fork", "last", "--at", "2", "--sweep", "edits.yaml")
    assert done.code == 2 and said in done.err, done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [([], "name the moment"), (["--sweep", "edits.yaml"], "name the moment"),
     (["--flip", "--sweep", "edits.yaml"], "two questions"), (["--flip", "--dry"], "--dry does not go with --flip"),
     (["--at", "2", "--pairs", "p.jsonl"], "add --sweep FILE or --flip"), (["--flip"], "made no decision")],
)  # fmt: skip
def test_options_that_do_not_go_together_are_refused_with_the_way_out(rover, btr, words, said) -> None:
    done = btr("runs", "fork", "last", *words)
    assert done.code == 2 and said in done.err, done.err


def test_a_dry_fork_names_the_first_action_and_leaves_no_journal(rover, btr) -> None:
    done = btr("runs", "fork", "last", "--at", "2", "--set", "charge=5", "--dry")
    assert done.code == 0 and "it would do: drive 4 metres" in done.out
    assert len([*(rover / "runs").glob("*.btr")]) == 1


def test_json_tells_the_fork_and_the_run_that_it_is_of(rover, btr) -> None:
    told = json.loads(btr("runs", "fork", "last", "--at", "2", "--set", "charge=5", "--json").out)
    assert told["status"] == "SUCCESS" and told["run"] == f"{told['of']}-fork-1"


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--at", "2", "--model", "none.gguf"], "asks no model"),
     (["--at", "2", "--strategy", "react"], "needs the input"),
     (["--at", "2", "--prompt", "agnt=btr.yaml"], "did you mean `agent`?"),
     (["--at", "soon"], "write a tick"), (["--at", "2", "--force", "enough=maybe"], "results: success"),
     (["--at", "2", "--set", "charg=5"], "did you mean `charge`?"), (["--at", "2", "--replace", "enough"], "no `=`")],
)  # fmt: skip
def test_what_cannot_be_understood_is_told_with_the_way_out(rover, btr, words, said) -> None:
    done = btr("runs", "fork", "last", *words)
    assert done.code == 2 and said in done.err
    assert len([*(rover / "runs").glob("*.btr")]) == 1
