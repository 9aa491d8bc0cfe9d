"""One episode: its own world, its own run, ticked by the caller, and its outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from py_trees.common import Status

from bt_lab.run.case import Case, Setup, size
from bt_lab.run.episode_log import Acted, EpisodeLog, nesting, steps
from bt_lab.run.failure import Account, label
from bt_lab.run.free import Free
from bt_lab.run.metered_model import MeteredModel, Tally
from bt_lab.run.oracle_model import in_place
from bt_lab.run.outcome import Outcome
from bt_lab.run.own_tasks import set_up
from bt_lab.run.own_tasks import verdict as own_verdict
from bt_runtime.agents.end import TOO_LONG
from bt_runtime.events import AgentEnded, PlanRefused, Woken
from bt_runtime.run.run import Run, Tree
from bt_runtime.skills.worlds.registry import goal_things, open_world
from bt_runtime.tree.budget import Spending
from bt_runtime.tree.clock import RunClock
from bt_runtime.types import Model, Wake, World

TIME = "the time for the episode is up"


class Episode:
    """Opened by `begin`, ticked until `over`, and summed up by `finish`. Any exception becomes the outcome's error."""

    def __init__(self, setup: Setup, case: Case, clock: RunClock, alarm: Wake) -> None:
        self.setup, self.case, self.clock = setup, case, clock
        self._alarm = alarm
        self.stirred = True  # something has happened since its last tick
        self.due = 0.0
        self.over = False
        self.world: World | None = None
        self.run: Run | None = None
        self.log: EpisodeLog | None = None
        self.tally = Tally()
        self.status: Status = Status.INVALID
        self.outcome = Outcome(case.strategy.name, case.task.id, case.number, case.task.kind, case.task.goal)
        self.outcome.seed = setup.seed

    def wake(self) -> None:
        """Wakes the episode. Callable from any thread."""
        self.stirred = True
        self._alarm()

    @property
    def wait(self) -> float:
        """Returns the seconds until the next tick is due; zero or less means now."""
        return 0.0 if self.stirred else self.due - self.clock.now()

    # Life ------------------------------------------------------------------------------------

    def begin(self, tree: Tree, models: Mapping[str, Model], memory: Any) -> None:
        self._guard(lambda: self._begin(tree, models, memory))

    def _begin(self, tree: Tree, models: Mapping[str, Model], memory: Any) -> None:
        setup, case = self.setup, self.case
        given = {name: value for name, value in case.strategy.inputs.items() if name in tree.spec.ports}
        world = None
        if setup.suite:
            world = self.world = open_world(setup.suite, **setup.world)
            world.reset(case.task)
        else:
            set_up(setup.before, case.task)
            given |= dict(case.task.data["set"])
        self.outcome.depth = size(case.task, world.verdict().total if world is not None else 1)
        if case.strategy.oracle and world is not None:
            models = in_place(setup.suite, world, case.task, models)
        free: list[Free] = []
        metered: dict[str, Any] = {}
        for role, model in models.items():
            metered[role] = MeteredModel(model, self.tally)
            if setup.free:
                metered[role] = Free(metered[role])
                free.append(metered[role])
        if "goal" in tree.spec.inputs:
            given.setdefault("goal", case.task.goal)
        run = self.run = Run(
            tree, inputs=given, world=world, task=case.task, model=metered or None, memory=memory, seed=setup.seed,
            budget=setup.budget, recall=setup.recall, clock=self.clock, journal=setup.journals or None,
            services={"prompts": setup.prompts},
        )  # fmt: skip
        run.listen(lambda woken: self.wake(), Woken)
        self.log = EpisodeLog(run, lambda sentence: all(each.offered(sentence) for each in free))
        self.started = self.clock.now()
        self.due = self.started

    def tick(self) -> None:
        self._guard(self._tick)

    def _tick(self) -> None:
        assert self.run is not None
        self.stirred = False
        tick = self.run.tick()
        self.due = min(tick.due, self.started + self.setup.seconds)
        self.status = tick.status
        self.over = not tick.running
        if not self.over and self.clock.now() - self.started >= self.setup.seconds:
            self.run.halt(TIME, "evaluation")
            self.over = True

    def _guard(self, work: Callable[[], None]) -> None:
        """Runs `work`. An exception of a world or a node ends this episode only."""
        try:
            work()
        except Exception as error:
            self._broke(error)

    def _broke(self, error: Exception) -> None:
        self.outcome.error = self.outcome.error or f"{type(error).__name__}: {error}"
        self.over = True

    # End -------------------------------------------------------------------------------------

    def finish(self) -> Outcome:
        self._guard(self._judge)
        self.close()
        return self.outcome

    def close(self) -> None:
        """Lets go of the run and the world; twice does no harm."""
        run, world = self.run, self.world
        self.run = self.world = None
        if run is not None:
            self._guard(lambda: run.close(self.outcome.error or "the episode is over"))
        if world is not None:
            self._guard(world.close)

    def _judge(self) -> None:
        told, run, log, world = self.outcome, self.run, self.log, self.world
        if run is None or log is None:
            return
        if world is not None:
            verdict = world.verdict()
        else:
            verdict = own_verdict(self.case.task, self.status is Status.SUCCESS, run.blackboard)
        told.met, told.total = verdict.met, verdict.total
        told.success = verdict.reached
        told.status = self.status.name if self.status in (Status.SUCCESS, Status.FAILURE) else ""
        spent: Spending = run.parts.context.services.spent or Spending()
        told.decisions, told.ticks = spent.decisions, run.parts.engine.count
        told.seconds = round(self.clock.now() - self.started, 3)
        self._count(log)
        long = {end.path for end in log.all(AgentEnded) if end.why == TOO_LONG}
        crashes = [crash.message for crash in run.parts.context.crashes if crash.path not in long]
        if crashes and not told.success:
            told.error = told.error or crashes[0]
        if not told.success and not told.error:
            task, events = self.case.task, log.events
            things = goal_things(self.setup.suite, task) if self.setup.suite else {}
            told.label = label(Account(task.goal, things, told.met, told.total, told.status, events, bool(long)))

    def _count(self, log: EpisodeLog) -> None:
        told, tally, events = self.outcome, self.tally, log.events
        told.calls, told.written = tally.calls, tally.written
        told.prompt, told.reused, told.computed = tally.prompt, tally.reused, tally.computed
        told.model_seconds, told.overflow = round(tally.seconds, 3), tally.too_long
        told.steps, told.k, told.decided = steps(events), nesting(events), log.decided
        acts = log.all(Acted)
        told.invalid = sum(not act.ok and not act.offered for act in acts)
        told.refused = sum(not act.ok for act in acts) + len(log.all(PlanRefused))
        ends = log.all(AgentEnded)
        told.ends = [{"path": end.path, "goal": end.goal, "why": end.why, "detail": end.detail} for end in ends]
        told.agents = len({end.path for end in ends if end.kind == "agent"})
