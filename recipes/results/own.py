"""Projects with skills of their own, written without sight of the starter's lessons: their tasks, an oracle, and the
digests that show that neither was changed after the first measurement."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bt_lab.run.backend import Models
from bt_lab.run.case import Case
from bt_lab.run.source import Source, find
from bt_runtime.agents.scripted import ScriptedModel
from bt_runtime.skills.worlds.content import TEXT, TEXTS, by_name, check_of, read_yaml
from bt_runtime.skills.worlds.registry import Wanted
from bt_runtime.types import Question

PREFIX = "own:"  # of a suite's name: own:greenhouse
FOLDER = Path(__file__).with_name("projects")
DIGESTS = FOLDER / "digests.yaml"  # of each project, as they were before the first measurement
ACTS = check_of("a way to reach each goal", {"acts": by_name(TEXTS)}, ["acts"])
LEDGER = check_of("digests of projects", {"digests": by_name(TEXT)}, ["digests"])


def is_own(suite: str) -> bool:
    return suite.startswith(PREFIX)


def project_of(suite: str) -> Path:
    return FOLDER / suite.removeprefix(PREFIX)


def source(suite: str, count: int) -> Source:
    """Returns the first tasks of this project."""
    return find(str(project_of(suite) / "tasks.yaml"), Wanted(episodes=count))


def models_of(suite: str, models: Models) -> Callable[[Case], Models]:
    """Returns what gives each episode its models: those given, or, for an oracle, one that says the acts of
    `acts.yaml` and then that it is done."""
    acts: Mapping[str, Sequence[str]] = read_yaml(project_of(suite) / "acts.yaml", ACTS).data["acts"]

    def models_for(case: Case) -> Models:
        return {"default": _oracle(acts[case.task.id])} if case.strategy.oracle else models

    return models_for


def _oracle(acts: Sequence[str]) -> ScriptedModel:
    steps = [*acts, "done"]

    def decide(question: Question) -> str:
        told = question.prompt.rpartition("Your task is to: ")[2]
        return f"Act: {steps[min(told.count('Act: '), len(steps) - 1)]}"

    return ScriptedModel(decide)


def digests() -> Mapping[str, str]:
    found: Mapping[str, str] = read_yaml(DIGESTS, LEDGER).data["digests"]
    return found


def digest(project: Path) -> str:
    """Covers the tasks, the skills and what is behind them."""
    files = [project / "tasks.yaml", *sorted((project / "skills").glob("*.*"))]
    whole = hashlib.sha256()
    for file in files:
        whole.update(f"{file.relative_to(project).as_posix()}\n".encode())
        whole.update(file.read_bytes().replace(b"\r\n", b"\n"))
    return whole.hexdigest()
