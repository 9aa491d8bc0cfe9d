"""Plans of random skill sets: `btr plan` beside a breadth-first search, BT expansion and PA-BT."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from reactive_baselines import Carried, bt_expansion, pa_bt
from rows import Row

import bt_runtime as bt
from bt_runtime.agents.backchain.operator import operators
from bt_runtime.agents.backchain.planning import planned
from bt_runtime.agents.backchain.relevant import NoPlan
from bt_runtime.agents.backchain.step import PlanStep, settled

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.agents.backchain.skill_sets import Case, MadeUpWorld, case, reachable

SETS = int(os.environ.get("SETS", "200"))  # `make plans` tries 1,000
sys.setrecursionlimit(20_000)  # PA-BT nests a condition in its achievers again and again where they need one another
NAMES = ("backchaining", "BT expansion", "PA-BT")


class Tally:
    def __init__(self) -> None:
        self.there: list[bool] = []
        self.results: dict[str, list[tuple[Carried, float]]] = {name: [] for name in NAMES}


def rows() -> Iterator[Row]:
    tally = Tally()
    for seed in range(SETS):
        made = case(seed)
        there = reachable(made)
        if there is not None:
            tally.there.append(there)
            _try(made, tally)
    together = [
        at for at in range(len(tally.there)) if all(tally.results[name][at][0].reached for name in NAMES)
    ]  # fmt: skip
    steps = [at for at in together if tally.results[NAMES[0]][at][0].steps]
    for name in NAMES:
        yield _row(name, tally, steps)


def _row(name: str, tally: Tally, shared: Sequence[int]) -> Row:
    found = tally.results[name]
    right = sum(carried.reached == there for (carried, _), there in zip(found, tally.there, strict=True))
    solved = sum(tally.there)
    reached = sum(carried.reached for carried, _ in found)
    cost = statistics.mean(sum(s.cost for s in found[at][0].steps) for at in shared)
    nodes = statistics.mean(found[at][0].nodes for at in shared)
    spent = statistics.mean(found[at][1] for at in shared) * 1000
    figures = f"{reached} of {solved} goals reached; where all three do ({len(shared)}): {nodes:.0f} nodes, "
    figures += f"{spent:.1f} ms to plan, {cost:.0f} s of actions (means)"
    target = "= 1" if name == NAMES[0] else ""
    return Row(f"{len(found)} skill sets: {name}", figures, right / len(found), target)


def _try(made: Case, tally: Tally) -> None:
    acts = [_step(made, sentence) for sentence in made.acts]
    bringing: dict[str, list[PlanStep]] = {}
    for step in acts:
        for fact in step.brings:
            bringing.setdefault(fact, []).append(step)
    work: dict[str, Callable[[], Carried]] = {
        NAMES[0]: lambda: _ours(made),
        NAMES[1]: lambda: bt_expansion(made.goal, acts, made.given),
        NAMES[2]: lambda: pa_bt(made.goal, lambda fact: bringing.get(fact, []), made.given),
    }
    for name, do in work.items():
        begun = time.process_time()
        carried = do()
        spent = time.process_time() - begun
        tally.results[name].append((_played(made, carried) if name == NAMES[0] else carried, spent))


def _step(made: Case, sentence: str) -> PlanStep:
    act, name = made.acts[sentence], sentence.partition(" ")[0]
    kind = next(kind for kind in made.kinds if kind.name == name)
    return PlanStep(sentence, (), tuple(sorted(act.needs)), settled(act.brings), float(kind.data["entry"].takes))


class Written(Carried):
    """Ours before it is played: the text alone."""

    text = ""


def _ours(made: Case) -> Carried:
    try:
        found = Written(True, [], 0)
        found.text = planned(made.goal, operators(made.kinds), made.given).text
        return found
    except NoPlan:
        return Carried(False, [], 0)


def _played(made: Case, found: Any) -> Carried:
    if not found.reached:
        return found  # type: ignore[no-any-return]
    world = MadeUpWorld(made)
    tree = bt.load(found.text, skills=made.kinds)
    with bt.Run(tree, world=world) as run:
        for _ in range(300):
            if not run.tick().running:
                break
    lines = [line.strip() for line in found.text.partition("root:")[2].splitlines()]
    nodes = sum(line.startswith(("- ", "holds")) or line.endswith(":") for line in lines)
    return Carried(world.reached(), [_step(made, sentence) for sentence in world.acted], nodes)
