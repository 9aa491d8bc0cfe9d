"""Recorded runs of every strategy in small worlds, by a model that throws dice over its questions; and their state."""

from __future__ import annotations

import math
import zlib
from pathlib import Path
from typing import Any

from bt_runtime import Budget, Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.services import agent_services
from bt_runtime.clock import Manual
from bt_runtime.journal import Recording, codec
from bt_runtime.plugins import open_suite
from bt_runtime.skills.worlds.registry import open_world
from bt_runtime.types import Question

WORLDS = ("house", "textcraft")
MORE = ("webshop", "hotpotqa", "field", "thor", "alfworld")  # in `make forks`
ENGINES = {"thor": "ai2thor", "alfworld": "textworld"}  # what they need besides
LAST = 200  # ticks of a run at most
PATIENCE = 30.0  # seconds for one action of a world that is a process of its own
STRATEGIES = ("react", "reactree", "adapt", "plan_and_execute", "reflexion", "try_again")
PASSING = {"resumed", "forked"}  # what befell a process, and where a fork begins


def dice(seed: int, polls: int) -> ScriptedModel:
    """Answers by the bytes of the question alone."""

    def answer(asked: Question) -> str:
        rolled = zlib.crc32(f"{seed}{asked.prompt}{asked.seed}".encode())
        if asked.kind == "choose":
            return asked.options[rolled % len(asked.options)]
        if asked.kind == "decide":
            moves = [move for move, options in asked.moves.items() if options or "Think" in move]
            move = moves[rolled % len(moves)] if moves else next(iter(asked.moves))
            options = asked.moves[move]
            return f"{move}{options[rolled // 7 % len(options)]}" if options else move
        return f"thought {rolled % 100}"

    return ScriptedModel(answer, polls)


def recorded(runs: Path, world: str, strategy: str, seed: int) -> tuple[Path, dict[int, Any]]:
    """The journal of a run, and what each tick left."""
    task = open_suite(world).tasks(seed, 1)[0]
    around = open_world(world)
    around.reset(task)
    states: dict[int, Any] = {}
    with Run(
        load(strategy), inputs={"goal": task.goal}, world=around, task=task, model=dice(seed, seed % 3),
        clock=Manual(), journal=runs, seed=seed, budget=Budget(decisions=8),
    ) as run:  # fmt: skip
        while run.parts.engine.count < LAST and step(run):
            states[run.parts.engine.count] = state(run)
        states[run.parts.engine.count] = state(run)
    assert run.parts.journal is not None and run.parts.journal.path is not None
    return run.parts.journal.path, states


def step(run: Run) -> bool:
    """Ticks once, then waits for what goes on in other threads; False when the run has ended."""
    run.parts.runner.woken.clear()
    tick = run.tick()
    if tick.running and min(tick.due, tick.deadline) == math.inf:
        run.parts.runner.woken.wait(PATIENCE)
    return tick.running


def state(run: Run) -> Any:
    """Entries, statuses, working memory, clock, seed, what was spent, and the world."""
    scopes = run.parts.context.blackboard.scopes.items()
    memory, inner = agent_services(run.parts.context).working_memory, run.parts.context.services.world.inner
    return {
        "entries": {name: codec.text(codec.plain(dict(scope.entries))) for name, scope in scopes},
        "nodes": [(node.name, node.status.name, node.feedback_message) for node in run.parts.engine.root.iterate()],
        "memory": repr(memory.snapshot()) if memory is not None else "",
        "clock": run.parts.context.clock.now(),
        "seed": run.parts.context.services.seed,
        "spent": vars(run.parts.context.services.spending(0.0)).copy(),
        "world": inner.digest() or inner.snapshot(),
    }


def told(path: Path, until: int = 10**9) -> list[tuple[int, str, Any]]:
    """What a journal tells, up to a tick."""
    recording = Recording(path)
    assert not recording.damage
    events = [e for e in recording.events if e.kind not in PASSING and e.tick <= until]
    passing = {"seconds", "value", "patch"}  # of this machine; an entry is told whole after a resume, else what changed
    of = {"answer": {"seconds"}, "blackboard": passing}
    bodies = [{k: v for k, v in recording.body(e).items() if k not in of.get(e.kind, ())} for e in events]
    return [(event.tick, event.kind, body) for event, body in zip(events, bodies, strict=True)]


def course(path: Path) -> list[tuple[str, Any]]:
    """What a journal tells, whenever it was: a question that was open at the fork is asked again, from its start."""
    return [(kind, body) for _, kind, body in told(path) if kind != "clock"]
