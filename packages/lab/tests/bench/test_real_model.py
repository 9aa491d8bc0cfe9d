"""Evaluations with real llama.cpp: a random model reaches nothing, and everything is counted all the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bt_lab.run.backend import Local
from bt_lab.run.case import Setup, cases
from bt_runtime import Budget
from bt_runtime.journal.folder import journals
from packages.lab.tests.bench.conftest import named, tasks_of
from tests.cli.conftest import Btr, btr, here

pytest.importorskip("llama_cpp")
pytest.importorskip("llguidance")
pytest.importorskip("gguf")

__all__ = ["btr", "here"]


@pytest.fixture(scope="module")
def gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.support.random_models import Shape, make_gguf

    return make_gguf(tmp_path_factory.mktemp("gguf") / "random.gguf", Shape(context=2048, seed=3, peak=0.05))


def run(file: Path, jobs: int, repeatable: bool, decisions: int = 6, **setup: Any) -> Any:
    from bt_runtime.llm import open_model

    todo = cases(named("react", "lota"), tasks_of("house", 2))
    with open_model(str(file), repeatable=repeatable) as model:
        backend = Local({"default": model}, jobs)
        found = list(
            backend.outcomes(Setup("house", budget=Budget(decisions=decisions), prompts="starter", **setup), todo)
        )
        stats = model.stats()
    return sorted(found, key=lambda o: o.number), stats


def test_a_seed_decides_bit_for_bit_the_same_however_many_run_at_once(gguf: Path) -> None:
    decided = [[(o.decided, o.ends, o.met, o.steps) for o in run(gguf, jobs, True)[0]] for jobs in (1, 3)]
    assert decided[0] == decided[1]
    assert len({digest for digest, *_ in decided[0]}) > 1


def test_what_each_episode_asked_adds_up_to_what_the_model_did(gguf: Path) -> None:
    found, stats = run(gguf, 3, False)
    assert sum(o.calls for o in found) == stats["answered"] == stats["asked"]
    assert sum(o.prompt for o in found) == stats["prompt_tokens"]
    assert sum(o.computed for o in found) == stats["computed_tokens"]
    assert sum(o.reused for o in found) == stats["reused_tokens"] > 0
    assert all(o.model_seconds > 0 and o.seconds > 0 for o in found)


def test_episodes_at_once_share_what_they_have_in_common(gguf: Path) -> None:
    """The system text of two episodes of one strategy is computed once."""
    found, _ = run(gguf, 4, False, decisions=1)
    assert sum(o.reused for o in found if o.strategy == "lota") > 0


def test_constrained_decoding_has_no_invalid_act_and_free_decoding_of_a_random_model_only_such(gguf: Path) -> None:
    bound, _ = run(gguf, 2, False)
    assert sum(o.invalid for o in bound) == 0
    free, _ = run(gguf, 2, False, decisions=3, free=True)
    assert all(o.invalid == o.steps > 0 for o in free)
    assert not any(o.error for o in (*bound, *free))


def test_a_prompt_that_outgrows_the_model_is_a_limit_and_no_error(gguf: Path, tmp_path: Path) -> None:
    from bt_runtime.llm import open_model

    with open_model(str(gguf), context=300) as model:
        (found,) = Local({"default": model}).outcomes(
            Setup("textcraft"), cases(named("react"), tasks_of("textcraft", 1))
        )
    assert (found.label, found.error) == ("max step", "")
    assert found.ends[-1]["why"] == "too long" and "300" in found.ends[-1]["detail"]


def test_the_command_measures_shows_and_compares(gguf: Path, btr: Btr, here: Path) -> None:
    words = ("textcraft", "--model", gguf, "--episodes", 3, "--budget", 2, "--jobs", 3, "--color", "never")
    words = (*words, "--strategy", "react,adapt", "--out", "out", "--set", "max_depth=2")
    said = btr("lab", "eval", *words, "--format", "json")
    assert said.code == 0
    assert {g["strategy"] for g in json.loads(said.out)["groups"]} == {"react", "adapt"}
    assert said.err.count("textcraft-eval-0-") == 6
    made = {p.name for p in (here / "out").iterdir()}
    assert made == {"setup.json", "results.jsonl", "results.csv", "summary.json"}
    setup = json.loads((here / "out" / "setup.json").read_text())
    depends = setup["depends"]
    assert (
        depends["strategies"]["adapt"]["inputs"] == {"max_depth": 2} and depends["strategies"]["react"]["inputs"] == {}
    )
    assert len(depends["models"]["default"]["digest"]) == 32 and "agent" in depends["prompts"]
    assert {"bt_runtime", "python", "llama-cpp-python"} <= setup["versions"].keys()

    again = btr("lab", "eval", *words)
    assert again.code == 2 and "--resume" in again.err
    resumed = btr("lab", "eval", *words, "--resume")
    assert resumed.code == 0 and "textcraft-eval-0-" not in resumed.err  # nothing was missing
    assert btr("lab", "eval", "show", "out").out == resumed.out
    assert "react" in resumed.out and "goals by depth" in resumed.out
    other = btr("lab", "eval", *words, "--strategy", "react,adapt", "--out", "out", "--resume", "--no-recall")
    assert other.code == 2 and "it differs in recall" in other.err

    assert btr("lab", "eval", "show", "out", "--format", "csv").out == (here / "out" / "results.csv").read_text()
    compared = btr("lab", "eval", "compare", "out:react", "out:adapt")
    assert compared.code == 0 and "McNemar" in compared.out
    assert json.loads(btr("lab", "eval", "compare", "out:react", "out:adapt", "--format", "json").out)["pairs"] == 3


def test_a_memory_can_be_built_by_the_same_command_and_used_by_another(gguf: Path, btr: Btr, here: Path) -> None:
    words = ("textcraft", "--model", gguf, "--episodes", 2, "--budget", 2, "--strategy", "react")
    built = btr("lab", "eval", *words, "--memory", "build", "--train", 3, "--out", "built", "--journals")
    assert built.code == 0
    assert built.err.count("textcraft-train-0-") == 3 and built.err.count("textcraft-eval-0-") == 2
    assert (here / "built" / "memory" / "react.db").is_file()
    assert len(journals(here / "built" / "runs")) == 5  # of each episode one
    for place in ("built/memory", "built/memory/react.db"):
        used = btr("lab", "eval", *words, "--memory", place, "--level", "task", "--out", f"used-{place.count('/')}")
        assert used.code == 0, used.err
    missing = btr("lab", "eval", *words, "--memory", "none.db")
    assert missing.code == 2 and "there is no memory" in missing.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("textcarft",), "did you mean `textcraft`?"),
        (("textcraft", "--strategy", "raect"), "did you mean `react`?"),
        (("textcraft", "--strategy", "react,react"), "named twice"),
        (("textcraft", "house"), "unexpected argument"),
        (("textcraft", "--set", "colour=blue"), "no input and no entry `colour`"),
        (("textcraft", "--kinds", "depth 9"), "no kind of task"),
        (("show",), "takes one folder"),
        (("compare", "a"), "takes two evaluations"),
        (("show", "nowhere"), "holds no evaluation"),
    ],
)
def test_what_is_asked_wrongly_is_an_error_with_a_way_out(btr: Btr, words: tuple[str, ...], said: str) -> None:
    answer = btr("lab", "eval", *words)
    assert answer.code == 2
    assert said in answer.err
    assert "Traceback" not in answer.err
