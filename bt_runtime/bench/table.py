"""Outcomes for people and for spreadsheets: a table of text, and lines of CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import fields

from bt_runtime.bench.outcome import Outcome
from bt_runtime.bench.statistics import Estimate
from bt_runtime.bench.summary import Group

_HEAD = ("", "goals", "", "95 %", "subgoals", "steps", "decisions", "calls", "written", "saved", "seconds")
_LEFT_OUT = ("ends", "experiences")


def table(groups: Sequence[Group]) -> str:
    """Each strategy over all; then what reaches how far, by depth and by kind; then why the others failed."""
    whole = [g for g in groups if g.by == "all"]
    parts = [_aligned([_HEAD, *(_row(g) for g in whole)])]
    for by in ("depth", "kind"):
        own = [g for g in groups if g.by == by]
        parts += [_across(own, by)] if len({g.name for g in own}) > 1 else []
    parts += [part for part in (_recursion(whole), _invalid(whole), _failures(whole)) if part]
    return "\n\n".join(parts)


def _row(group: Group) -> tuple[str, ...]:
    means = group.means
    return (
        group.strategy, f"{group.goals}/{group.episodes}", percent(group.goal.value), between(group.goal),
        percent(group.subgoals.value), *(number(means[m].value) for m in ("steps", "decisions", "calls", "written")),
        percent(group.saved), number(means["seconds"].value),
    )  # fmt: skip


def _across(found: Sequence[Group], by: str) -> str:
    """One row a strategy, one column a depth or kind, with the interval and the number of tasks."""
    names = list(dict.fromkeys(g.name for g in found))
    names.sort(key=lambda name: (int(name) if name.isdigit() else 0, name))
    rows: list[tuple[str, ...]] = [(f"goals by {by}", *names)]
    for strategy in dict.fromkeys(g.strategy for g in found):
        own = {g.name: g for g in found if g.strategy == strategy}
        rows.append((strategy, *(_cell(own.get(name)) for name in names)))
    if len(names) <= 5:
        return _aligned(rows)
    return _aligned([tuple(column) for column in zip(*rows, strict=True)])  # many kinds: they go down the page


def _cell(group: Group | None) -> str:
    return "-" if group is None else f"{percent(group.goal.value)} {between(group.goal)} of {group.episodes}"


def _recursion(whole: Sequence[Group]) -> str:
    """Of strategies that grow at all."""
    grown = [g for g in whole if g.k_most > 1]
    rows = [("agents above one another", "mean where reached", "most")]
    rows += [(g.strategy, number(g.k_reached), str(g.k_most)) for g in grown]
    return _aligned(rows) if grown else ""


def _invalid(whole: Sequence[Group]) -> str:
    found = [g for g in whole if g.means["invalid"].value > 0]
    rows = [("invalid acts an episode", "mean", "95 %")]
    for g in found:
        estimate = g.means["invalid"]
        rows.append((g.strategy, number(estimate.value), f"({number(estimate.low)}–{number(estimate.high)})"))
    return _aligned(rows) if found else ""


def _failures(whole: Sequence[Group]) -> str:
    labels = list(dict.fromkeys(label for g in whole for label in g.failures))
    labels += ["error"] if any(g.errors for g in whole) else []
    if not labels:
        return ""
    rows = [("why not", *(g.strategy for g in whole))]
    for label in labels:
        counts = [g.errors if label == "error" else g.failures.get(label, 0) for g in whole]
        rows.append((label, *(str(count or "-") for count in counts)))
    return _aligned(rows)


def _aligned(rows: Iterable[Sequence[str]]) -> str:
    """Names to the left, numbers to the right."""
    found = [tuple(row) for row in rows]
    widths = [max(len(row[i]) for row in found) for i in range(len(found[0]))]
    lines = [
        "  ".join(
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in found
    ]
    return "\n".join(line.rstrip() for line in lines)


def percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.0f} %"


def between(rate: Estimate) -> str:
    return f"({100 * rate.low:.0f}–{100 * rate.high:.0f})"


def number(value: float) -> str:
    """Three figures, as far as they matter."""
    if math.isnan(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def as_csv(outcomes: Iterable[Outcome]) -> str:
    """One line an outcome, without the ends of its nodes."""
    names = [f.name for f in fields(Outcome) if f.name not in _LEFT_OUT]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([getattr(outcome, name) for name in names] for outcome in outcomes)
    return text.getvalue()
