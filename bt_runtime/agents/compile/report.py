"""Reports on a compiled tree: the goals it covers, where it differs from the runs, which cases it never saw, and its
trials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bt_runtime.agents.compile.cases import replayed
from bt_runtime.agents.compile.compiling import Compiled
from bt_runtime.agents.compile.rehearsal import Rehearsal

MOST = 8  # lines of one list


def account(compiled: Compiled, fuzzed: str = "", trial: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Returns the report as plain values, for programs."""
    goals = sum(compiled.by_form.values())
    whole = replayed(compiled.cases, goals)
    aside = replayed(compiled.cases, goals, compiled.held_out)
    never = {form: count for form, count in compiled.by_form.items() if not compiled.does(form)}
    supply = compiled.supply
    rare = sorted(never, key=lambda form: (-never[form], form))
    return {
        "tree": compiled.name,
        "runs": len(compiled.traces),
        "failed": compiled.failed,
        "alone": compiled.alone,
        "nodes": compiled.nodes,
        "cases": [
            {"name": c.name, "forms": c.forms, "times": c.lives, "runs": c.runs} for c in compiled.cases
        ],
        "told": supply._asdict() if supply is not None else None,
        "goals": {"all": goals, "known": goals - sum(never.values())},
        "rehearsal": _rehearsal(whole),
        "pruned on": {"runs": len(compiled.held_out), **_rehearsal(aside)},
        "never compiled": [{"form": form, "times": never[form]} for form in rare],
        "no room": [form for case in compiled.left for form in case.forms],
        "unexplained": [{"form": case.forms[0], "times": case.lives, "why": case.gap} for case in compiled.unexplained],
        "fuzz": fuzzed,
        "trial": trial,
    }  # fmt: skip


def _rehearsal(found: Rehearsal) -> dict[str, Any]:
    return {
        "steps": found.steps,
        "alike": found.alike,
        "surplus": found.surplus,
        "share": round(found.share, 4),
        "differences": [each._asdict() for each in found.differences],
    }


def lines(told: dict[str, Any]) -> Iterator[str]:
    """Returns the report as lines of text."""
    cases, goals, done = told["cases"], told["goals"], told["rehearsal"]
    failed = f" ({told['failed']} more failed, and teach nothing)" if told["failed"] else ""
    yield f"{told['tree']}: {told['nodes']} nodes from {told['runs']} successful runs{failed}"
    if told["alone"]:
        yield f"  {told['alone']} more runs of a compiled tree did not ask its agent, and teach nothing"
    for case in cases:
        forms = "; ".join(case["forms"][:2]) + ("; …" if len(case["forms"]) > 2 else "")
        yield f"  {case['times']:5} times in {case['runs']} runs  {forms}"
    if told["told"]:
        yield "  {told} of {made} times `{make}` was told with its parts: {got} of them were got, {built} made".format(
            **told["told"]
        )
    yield f"it knows {goals['known']} of {goals['all']} goals that agents had; the agent works at the others"
    if done["steps"]:
        told_by = f"{done['alike']} of {done['steps']} recorded steps are what the tree would do"
        yield f"replayed: {told_by} ({done['share']:.1%}); {done['surplus']} steps of the tree are in no run"
    aside = told["pruned on"]
    if aside["steps"]:
        told_by = f"{aside['alike']} of {aside['steps']} ({aside['share']:.1%})"
        yield f"  on {aside['runs']} runs that only pruned it: {told_by}"
    different = done["differences"]
    for each in different[:MOST]:
        yield f"  {each['run']}, `{each['goal']}`: the tree would {each['tree']}; recorded: {each['recorded']}"
    if len(different) > MOST:
        yield f"  … and {len(different) - MOST} more: --json lists them"
    for each in told["unexplained"][:MOST]:
        yield f"left to the agent: {each['form']} ({each['times']} times): {each['why']}"
    never = told["never compiled"]
    if never:
        yield f"not in the tree: {len(never)} forms of goals: too rare, not explained, or without room"
        for each in never[:MOST]:
            yield f"  {each['times']:5} times  {each['form']}"
    if told["fuzz"]:
        yield f"fuzzed: {told['fuzz']}"
    if told["trial"] is not None:
        yield from told["trial"]["lines"]
    else:
        yield "not tried on held-out tasks: --try 50 --model FILE does that"
