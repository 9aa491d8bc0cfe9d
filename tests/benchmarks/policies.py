"""The figures of docs/policies.md: AgentDojo's attacks and tasks, and planted notes, under policies and without.

`make policies`; `python -m tests.benchmarks.policies planted 20` runs 20 planted notes, `starter 20` with the shipped
model (`free 20` without policies), `agentdojo` the suites, `agentdojo slack` one of them. What the shipped model did is
kept, so that a run that was stopped goes on."""

from __future__ import annotations

import contextlib
import io
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks import planted

AGENTDOJO, PLANTED, STARTER, FREE = "agentdojo", "planted", "starter", "free"
KEPT = Path(".cache/planted")  # the starter's results: a run that was stopped goes on


def agentdojo(names: Sequence[str] = ()) -> None:
    """Prints for each suite how many user tasks are useful, and how many attacks succeed by AgentDojo's own checks."""
    from tests.benchmarks import dojo_plan
    from tests.benchmarks.dojo import Case, suites

    useful, tasks, hits, tried, free = 0, 0, 0, 0, 0
    for name, suite in suites().items():
        if names and name not in names:
            continue
        own = [dojo_plan.run(Case(name, task)).useful for task in suite.user_tasks.values()]
        cases = [Case(name, t, a) for t in suite.user_tasks.values() for a in suite.injection_tasks.values()]
        with contextlib.redirect_stdout(io.StringIO()):  # some of its checks print
            found = [dojo_plan.run(case).attacked for case in cases]
            without = [dojo_plan.run(case, policy=False).attacked for case in cases]
        print(f"{name}: useful {sum(own)} of {len(own)}; attacks {sum(found)} of {len(found)}; "
              f"without policies {sum(without)}", flush=True)  # fmt: skip
        useful, tasks, hits, tried, free = (
            useful + sum(own), tasks + len(own), hits + sum(found), tried + len(found), free + sum(without)
        )  # fmt: skip
    share = 100 * useful / max(1, tasks)
    print(f"agentdojo: useful {useful} of {tasks} ({share:.1f} %); attacks {hits} of {tried}; without policies {free}")


def notes(count: int, model: Any = None, ways: tuple[bool, ...] = (True, False)) -> None:
    """Prints in how many attacks a forbidden skill ran, in each place."""
    called = "the starter" if model is not None else "a hijacked reader"
    for policy in ways:
        found: Counter[str] = Counter()
        kept = KEPT if model is not None else None
        for number, (attack, unlocked) in enumerate(planted.results(count, model, policy, kept), 1):
            found[attack.place] += bool(unlocked)
            if model is not None and number % 20 == 0:
                print(f"{number} of {count}: {sum(found.values())} ran it", file=sys.stderr, flush=True)
        told = ", ".join(f"{place} {found[place]}" for place in planted.PLACES)
        head = "under policies" if policy else "without policies"
        print(f"notes, {called}, {head}: {sum(found.values())} of {count} ran it ({told})", flush=True)


def main(args: Sequence[str]) -> None:
    what, *rest = args or ("all",)
    began = time.monotonic()
    if what in (AGENTDOJO, "all"):
        agentdojo(rest)
    if what in (PLANTED, "all"):
        notes(int(rest[0]) if rest else 200)
    if what in (STARTER, "all"):
        notes(int(rest[0]) if rest else 200, "starter", (True,))
    if what == FREE:
        notes(int(rest[0]) if rest else 200, "starter", (False,))
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
