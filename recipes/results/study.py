"""The evaluations that claims need, one after the other with one model. What has ended before is not run again.

Each has a folder that is named by what it depends on: another model or another prompt gets another one.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from bt_lab.optimise.loop import optimise
from bt_lab.optimise.plan_versions import best
from bt_lab.optimise.setup import OptimiseSetup as Optimised
from bt_lab.run import evaluation, provenance
from bt_lab.run.backend import Backend, Local
from bt_lab.run.case import Setup, Strategy, cases
from bt_lab.run.evaluation import Again
from bt_lab.run.outcome import Outcome
from bt_lab.run.results_file import RESULTS, read
from bt_lab.run.source import Source, find
from bt_lab.run.training import train
from bt_runtime.journal.sources import versions
from bt_runtime.language import project
from bt_runtime.language.project import trust
from bt_runtime.run.run import load
from bt_runtime.skills.worlds.registry import Wanted
from bt_runtime.tree.budget import Budget
from bt_runtime.tree.clock import Manual
from bt_runtime.types import Json
from recipes.results import arm, own
from recipes.results.claims import Claims, Evaluation, Recording
from recipes.results.learnt import compiled_in, policy_of
from recipes.results.rows import first_ended

EXTRAS = {"alfworld": "textworld", "robot": "mujoco", "webshop": "rapidfuzz"}  # a module of each that is looked for
JOBS = 4  # episodes of a baseline at once
NO_DATA = "the outside data is not here: name its folder with --data or BTR_DATA"


class Watch(Protocol):
    def told(self, outcome: Outcome, left: int) -> None: ...


class Measured(NamedTuple):
    """An evaluation that has been run."""

    folder: Path
    digest: str
    tasks: int
    outcomes: list[Outcome]

    def of(self, strategy: str) -> list[Outcome]:
        return [o for o in self.outcomes if o.strategy == strategy]


class Study(NamedTuple):
    claims: Claims
    out: Path
    models: Mapping[str, Any]
    backend: Backend
    count: Callable[[str], int]  # tokens of a text
    watch: Callable[[str], AbstractContextManager[Watch]]  # opened for each evaluation, by its name
    episodes: int = 200
    seed: int = 0
    data: str = ""
    retry: bool = False
    journals: bool = False  # of every episode, in runs/ of its evaluation's folder
    finished: bool = False  # nothing is run: what has ended before counts, up to the first task that has not

    @property
    def again(self) -> Again:
        return Again(resume=True, retry=self.retry)

    def able(self, name: str) -> str:
        """Why this evaluation cannot be run here; or nothing."""
        wanted, data = self.claims.evaluations[name], self._data
        if wanted.extra and find_spec(EXTRAS[wanted.extra]) is None:
            return f"the extra `{wanted.extra}` is not installed: pip install 'bt_runtime[{wanted.extra}]'"
        home = self._home(wanted.suite)
        if home is not None and trust.guard is not None:  # its skills are Python of a project: a person decides
            if home == self._arm:  # it is written when its tasks are asked for
                self._tasks(wanted, 1)
            if not trust.knows(home):
                return f"{home} is not trusted, whose skills are Python: look at it, then: btr trust {home}"
        return NO_DATA if wanted.data and not (data and (Path(data) / wanted.data).is_dir()) else ""

    def measure(self, name: str) -> Measured:
        wanted = self.claims.evaluations[name]
        home = self._home(wanted.suite)
        source = self._tasks(wanted, self.episodes)
        with project.beside(home) if home is not None else nullcontext():
            return self._measured(name, wanted, source)

    def _home(self, suite: str) -> Path | None:
        """The project whose skills this suite takes, if it takes any."""
        if suite == arm.NAME:
            return self._arm
        return own.project_of(suite) if own.is_own(suite) else None

    def _tasks(self, wanted: Evaluation, count: int) -> Source:
        if wanted.suite == arm.NAME:
            return arm.source(self._arm, wanted.split, count)
        if own.is_own(wanted.suite):
            return own.source(wanted.suite, count)
        return find(wanted.suite, self._wanted(wanted))

    def _measured(self, name: str, wanted: Evaluation, source: Source) -> Measured:
        asked: dict[str, Json] = {"lessons": ""}
        strategies: Sequence[Strategy] = wanted.strategies
        if wanted.lessons:
            strategies, asked["lessons"] = self._taught(wanted)
        backend, models = self._backend(wanted), self.models
        if wanted.recording:
            recorded, asked["recording"] = self._recorded(wanted.recording)
            asked["learnt"] = wanted.learnt
            if wanted.learnt == "compiled":
                strategies = [s._replace(tree=compiled_in(recorded, s.name)) for s in strategies]
            else:
                backend, models = Local(policy_of(wanted.learnt, recorded), JOBS), {}
        if wanted.plan:
            guide = self._planned(wanted.plan)
            strategies = [s._replace(inputs={**s.inputs, "guide": guide}) for s in strategies]
        setup = Setup(
            source.suite, {**source.world, **wanted.world}, self.seed, Budget(decisions=wanted.budget),
            recall=wanted.recall, free=wanted.free, level=wanted.level, example_tokens=wanted.example_tokens,
            before=source.before,
        )  # fmt: skip
        known = wanted.strategies if wanted.lessons else strategies  # a memory is told by its lessons, not by its file
        folder, number = self._opened(name, setup, known, source, asked, models)
        if self.finished:
            ended = first_ended(read(folder / RESULTS) if (folder / RESULTS).is_file() else ())
            return Measured(folder, number, len({o.task for o in ended}), ended)
        setup = setup.journalled(folder) if self.journals else setup
        with self.watch(name) as watch:
            outcomes = evaluation.run(folder, setup, cases(strategies, source.tasks), backend, self.again, watch.told)
        evaluation.write_up(folder, outcomes, self.seed)
        return Measured(folder, number, len(source.tasks), outcomes)

    def _backend(self, wanted: Evaluation | Recording) -> Backend:
        """Returns what runs the episodes: one after another on a simulated clock, or where they share a project."""
        if own.is_own(wanted.suite):
            return Local(own.models_of(wanted.suite, self.models), 1)
        if not wanted.simulated:
            return self.backend
        deciding = [wanted.strategy] if isinstance(wanted, Recording) else wanted.strategies
        by_oracle = wanted.suite == arm.NAME and {each.name for each in deciding} == {"oracle"}
        return Local(arm.oracle if by_oracle else self.models, 1, Manual)

    @property
    def _arm(self) -> Path:
        return self.out.resolve() / "arm"

    def _wanted(self, wanted: Evaluation) -> Wanted:
        count = math.ceil(self.episodes * wanted.share)
        data = self._data if wanted.data else ""
        return Wanted(self.seed, count, wanted.split, wanted.kinds, data, wanted.options)

    @property
    def _data(self) -> str:
        """The folder of the outside data, where one is named."""
        return self.data or os.environ.get("BTR_DATA", "")

    def _planned(self, name: str) -> str:
        """The best plan by validation, written on train tasks by AutoPlan's tree; what is there is gone on with."""
        plan = self.claims.plans[name]
        model = self.models["default"]
        setup = Optimised(
            plan.suite, batch=plan.batch, seed=self.seed, model=str(provenance.of_model(model).get("digest", "")),
            validation=plan.validation, world=dict(plan.world), steps=plan.steps,
        )  # fmt: skip
        folder = self.out / f"plan-{name}-{setup.digest}"
        kept, _ = optimise(setup, folder, plan.iterations, model=model, patience=plan.iterations)
        chosen = best(kept)
        return chosen.guide.text if chosen is not None else ""

    def _taught(self, wanted: Evaluation) -> tuple[Sequence[Strategy], str]:
        """The strategy with what it has learnt from train tasks; made once for all evaluations that show it."""
        lessons = self.claims.lessons[wanted.lessons]
        source = find(lessons.suite, Wanted(self.seed, min(lessons.episodes, self.episodes), "train"))
        setup = Setup(source.suite, source.world, self.seed, Budget(decisions=lessons.budget), learning=True)
        folder, number = self._opened(wanted.lessons, setup, [lessons.strategy], source, {})
        with self.watch(f"{wanted.lessons} lessons") as watch:
            strategies = train(
                folder, setup, [lessons.strategy], source.tasks, self.backend, self.again, watch.told, self.count
            )
        return strategies, number

    def _recorded(self, name: str) -> tuple[Path, str]:
        """The folder with a journal of every run; made once for all that is made of it."""
        wanted = self.claims.recordings[name]
        count = min(wanted.episodes, self.episodes)
        asked = Wanted(wanted.seed, count, "train", wanted.kinds, "", wanted.options)
        source = arm.source(self._arm, "train", count) if wanted.suite == arm.NAME else find(wanted.suite, asked)
        setup = Setup(source.suite, source.world, wanted.seed, Budget(decisions=wanted.budget), before=source.before)
        folder, number = self._opened(name, setup, [wanted.strategy], source, {"recorded": True})
        with self.watch(name) as watch:
            todo = cases([wanted.strategy], source.tasks)
            evaluation.run(folder, setup.journalled(folder), todo, self._backend(wanted), self.again, watch.told)
        return folder, number

    def _opened(
        self, name: str, setup: Setup, strategies: Sequence[Strategy], source: Source, asked: Mapping[str, Json],
        models: Mapping[str, Any] | None = None,
    ) -> tuple[Path, str]:  # fmt: skip
        trees = {s.tree: load(s.tree) for s in strategies}
        deciding = self.models if models is None else models
        depends = provenance.depends(setup, strategies, trees, source.tasks, deciding, asked)
        number = provenance.digest(depends)
        folder = self.out / f"{name}-{number[:8]}"
        evaluation.open_folder(folder, depends, {"versions": versions()}, self.again._replace(retry=False))
        return folder, number
