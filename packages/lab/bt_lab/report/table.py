"""Formats outcomes as a text table and as CSV."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields

from bt_lab.report.comparison import Comparison
from bt_lab.report.statistics import Estimate
from bt_lab.report.summary import Group
from bt_lab.run.outcome import Outcome

_HEAD = ("", "goals", "", "95 %", "subgoals", "steps", "decisions", "calls", "written", "saved", "seconds")
_LEFT_OUT = ("ends", "experiences")


def table(groups: Sequence[Group]) -> str:
    """Writes the tables: each strategy's totals, success by depth and kind, and the causes of failures."""
    whole = [g for g in groups if g.by == "all"]
    parts = [aligned([_HEAD, *(_row(g) for g in whole)])]
    for by in ("depth", "kind"):
        own = [g for g in groups if g.by == by]
        told = by == "kind" and all(re.fullmatch(r"depth \d+", g.name) for g in own)
        parts += [_across(own, by)] if len({g.name for g in own}) > 1 and not told else []
    parts += [part for part in (_recursion(groups), _invalid(whole), _failures(whole)) if part]
    return "\n\n".join(parts)


def in_words(found: Comparison) -> str:
    """Writes a comparison in words, with the tasks that only one side solved."""
    rows = [("", found.first, found.second, "difference", "95 %")]
    reached = [f"{found.both + len(only)}/{found.pairs}" for only in (found.first_only, found.second_only)]
    rows.append(("goals", reached[0], reached[1], _points(found.goal.value), _span(found.goal, _points)))
    rows.append(("subgoals", "", "", _points(found.subgoals.value), _span(found.subgoals, _points)))
    for name, each in found.means.items():
        rows.append((f"{name}, where both reached", "", "", signed(each.value), _span(each, signed)))
    lines = [
        aligned(rows),
        f"only {found.first} reached {len(found.first_only)}, only {found.second} {len(found.second_only)}, "
        f"both {found.both}, neither {found.neither}: p = {found.p:.3g} (McNemar, exact)",
    ]
    if found.left_out:
        lines.append(f"{found.left_out} tasks are in one of them only, and count for nothing")
    for name, only in ((found.first, found.first_only), (found.second, found.second_only)):
        lines += [f"only {name}: {', '.join(only)}"] if only else []
    return "\n\n".join(lines)


def _points(share: float) -> str:
    return f"{100 * share:+.1f} points"


def _span(estimate: Estimate, said: Callable[[float], str]) -> str:
    return "-" if math.isnan(estimate.value) else f"{said(estimate.low)} to {said(estimate.high)}"


def signed(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:+,.2f}"


def _row(group: Group) -> tuple[str, ...]:
    means = group.means
    return (
        group.strategy, f"{group.goals}/{group.episodes}", percent(group.goal.value), between(group.goal),
        percent(group.subgoals.value), *(number(means[m].value) for m in ("steps", "decisions", "calls", "written")),
        percent(group.saved), number(means["seconds"].value),
    )  # fmt: skip


def _across(found: Sequence[Group], by: str) -> str:
    """Returns a table with one row a strategy and one column a depth or kind."""
    names = list(dict.fromkeys(g.name for g in found))
    names.sort(key=lambda name: (int(name) if name.isdigit() else 0, name))
    rows: list[tuple[str, ...]] = [(f"goals by {by}", *names)]
    for strategy in dict.fromkeys(g.strategy for g in found):
        own = {g.name: g for g in found if g.strategy == strategy}
        rows.append((strategy, *(_cell(own.get(name)) for name in names)))
    if len(names) <= 5:
        return aligned(rows)
    return aligned([tuple(column) for column in zip(*rows, strict=True)])  # many kinds: they go down the page


def _cell(group: Group | None) -> str:
    return "-" if group is None else f"{percent(group.goal.value)} {between(group.goal)} of {group.episodes}"


def _recursion(groups: Sequence[Group]) -> str:
    """For strategies that expand: the mean depth over reached goals, as in ADaPT's paper, and the maximum."""
    grown = [g for g in groups if g.by == "all" and g.k_most > 1]
    depths = sorted({g.name for g in groups if g.by == "depth"}, key=int)
    rows: list[tuple[str, ...]] = [("k_max where reached", "all", *(f"depth {d}" for d in depths), "most")]
    for whole in grown:
        own = {g.name: g for g in groups if g.by == "depth" and g.strategy == whole.strategy}
        means = [number(own[d].k_reached) if d in own else "-" for d in depths]
        rows.append((whole.strategy, number(whole.k_reached), *means, str(whole.k_most)))
    return aligned(rows) if grown else ""


def _invalid(whole: Sequence[Group]) -> str:
    found = [g for g in whole if g.means["invalid"].value > 0]
    rows = [("invalid acts an episode", "mean", "95 %")]
    for g in found:
        estimate = g.means["invalid"]
        rows.append((g.strategy, number(estimate.value), f"({number(estimate.low)}–{number(estimate.high)})"))
    return aligned(rows) if found else ""


def _failures(whole: Sequence[Group]) -> str:
    labels = list(dict.fromkeys(label for g in whole for label in g.failures))
    labels += ["error"] if any(g.errors for g in whole) else []
    if not labels:
        return ""
    rows = [("why not", *(g.strategy for g in whole))]
    for label in labels:
        counts = [g.errors if label == "error" else g.failures.get(label, 0) for g in whole]
        rows.append((label, *(str(count or "-") for count in counts)))
    return aligned(rows)


def rated(count: int, of: int, rate: Estimate) -> tuple[str, str, str]:
    """Returns the cells of how many of how many, of the rate, and of its interval."""
    return f"{count}/{of}", f"{rate.value:.2f}", f"{rate.low:.2f} to {rate.high:.2f}"


def aligned(rows: Iterable[Sequence[str]]) -> str:
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
    """Formats a number with three significant digits."""
    if math.isnan(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def as_csv(outcomes: Iterable[Outcome]) -> str:
    """Returns the outcomes as CSV, one line each, without the ends of their nodes."""
    names = [f.name for f in fields(Outcome) if f.name not in _LEFT_OUT]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([getattr(outcome, name) for name in names] for outcome in outcomes)
    return text.getvalue()
