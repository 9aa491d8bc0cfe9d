"""The page of results: what the papers claim, what was measured here, and where it falls short. Text from a record."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bt_lab.report.table import number, signed
from bt_runtime.llm import settings
from recipes.results import record
from recipes.results.claims import Claim, Claims, Evaluation
from recipes.results.finding import SHARES, Finding

_WAYS = {"at_least": "at least", "at_most": "at most", "above": "above", "below": "below", "p_below": "p below"}
CARD = settings.starter().with_name("README.md")
# Short names of the strategies, in the order of the columns.
STRATEGIES = ("ReAct", "ReAcTree", "ADaPT", "Plan-and-Execute", "Try Again", "Reflexion", "LoTa-Bench", "Facts")


def page(
    claims: Claims,
    found: Mapping[str, Any],
    pictures: Mapping[str, str],
    others: Mapping[str, Mapping[str, Any]] = {},
    studies: Sequence[str] = (),
) -> str:
    """Returns the one page of results.

    `pictures`: claim → where its picture lies, seen from the page; `others`: records of other models by name;
    `studies`: the sections of other measurements, as they stand in their files.
    """
    parts = [
        "# Results",
        _opening(found["made"]),
        _compared(claims, found["made"]),
        "## What the papers claim",
        _overview(claims, found),
        *(f"![{claims.claims[name].claim}]({where})" for name, where in pictures.items()),
        *_worlds(claims, found),
        *(_beside(claims, found, name, other) for name, other in others.items()),
        *(text.strip() for text in studies),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _opening(made: Mapping[str, Any]) -> str:
    return (
        f"Made by `{made['command']}` on {made['date']}: {_model(made)}. "
        "Intervals are at 95 %: Wilson's for rates, bootstrap over tasks for the rest. Strategies are "
        "compared on the same tasks: goals by McNemar's exact test, the rest by sign flips.\n\n"
        "`results/summary.json` holds every figure, failure and cost: `python -m recipes.results --show` prints them, "
        "`--show reactree` those of one claim, and `--check` compares another run with them."
    )


def _compared(claims: Claims, made: Mapping[str, Any]) -> str:
    """Says what the compared models are, and which rows chose ours."""
    file = str(made["model"].get("file", ""))
    trained = trained_on(file)
    ours = (
        f"**Our model is trained on these worlds**: `{file}` has read {trained} of lessons in them "
        "([its card](../packages/starter/bt_starter/starter/README.md)), and its acts are constrained. "
        if trained
        else ""
    )
    rows = ", ".join(each.world or each.claim for each in claims.claims.values() if each.chose)
    chosen = f" Its weights were chosen by tasks of: {rows}." if rows and trained else ""
    return (
        f"{ours}**The papers' models are general ones, hundreds of times as large, and prompted.** The figures compare "
        f"strategies with one model; they do not compare models.{chosen}"
    )


def trained_on(file: str) -> str:
    """Returns what the shipped model's card says that it was trained on: `231 million tokens`; "" for other models."""
    told = re.search(r"^\| trained on \| ([\d.]+ million tokens)", CARD.read_text("utf-8"), re.MULTILINE)
    return told[1] if told is not None and file == CARD.with_name("starter.gguf").name else ""


def _model(made: Mapping[str, Any]) -> str:
    model = made["model"]
    named = model.get("file") or model.get("model", "?")
    laid = "".join(f", adapter `{file}` (sha256 {digest[:12]}…)" for file, digest, _ in model.get("lora", ()))
    return f"model `{named}`" + (f" (sha256 {model['digest'][:12]}…)" if "digest" in model else "") + laid


def _overview(claims: Claims, found: Mapping[str, Any]) -> str:
    """A row a claim that was measured; the others by name, with the reason."""
    rows, missing = [], []
    for name, claim in claims.claims.items():
        if claim.world:
            continue
        key = _key(record.of(found, name))
        told = found["claims"].get(name, {})
        if not key:
            why = told.get("missing", "not asked for")
            missing.append(f"`{name}`" + ("" if claim.named_only else f": {why}"))
            continue
        here = "<br>".join(map(_figure, key))
        if "missing" in told:
            here += f"<br>of {told['made']['date']}, not part of this run: {told['missing']}"
        paper = claim.paper + (f"<br>**{claim.beside}**" if claim.beside else "")
        targets = "<br>".join(filter(None, (target(f) for f in key)))
        rows.append((f'<a id="{name}"></a>{claim.claim}', paper, here, targets))
    left_out = f"\n\nNot measured in this run: {'; '.join(missing)}." if missing else ""
    return _table(("claim", "paper", "here", "target"), rows) + left_out


def _figure(found: Finding) -> str:
    tested = f", {test(found).partition(' (')[0]}" if test(found) else ""
    return f"{found.name}: **{value(found)}** {interval(found)}, n {found.n}{tested}"


def _beside(claims: Claims, found: Mapping[str, Any], name: str, other: Mapping[str, Any]) -> str:
    """What was measured of another model, beside the same rows of this one."""
    first = found["made"]["model"].get("file", "").removesuffix(".gguf") or "the first"
    rows = []
    for claim in claims.claims.values():
        own = {f.name: f for f in record.of(found, claim.name)}
        for f in record.of(other, claim.name) if claim.world else ():
            known = own.get(f.name)
            was = (f"{value(known)} {interval(known)}", known.n) if known else ("not measured", "")
            rows.append((claim.world, f.name, *was, f"**{value(f)}** {interval(f)}", f.n))
    made = other["made"]
    return "\n\n".join((
        f'<a id="both"></a>\n## Both models: `{first}` and `{name}`',
        f"Goals reached of each row's first tasks: `{made['command']}`, {made['date']}, {_model(made)}.",
        _table(("world", "strategy", f"`{first}`", "n", f"`{name}`", "n"), rows),
    ))  # fmt: skip


def _key(own: Sequence[Finding]) -> list[Finding]:
    """What a claim hangs on: what has a target, else the comparisons."""
    return [f for f in own if f.target] or [f for f in own if f.difference] or list(own)


def _worlds(claims: Claims, found: Mapping[str, Any]) -> Iterable[str]:
    """One table: a row a world, a column a strategy; then the worlds' targets that were missed."""
    own = [claim for claim in claims.claims.values() if claim.world]
    if not own:
        return
    yield "## Strategies in worlds"
    measured = {f.name for claim in own for f in record.of(found, claim.name)}
    names = [name for name in STRATEGIES if name in measured]
    facts = " Facts: the model says what shall be true, and a planner that is told what each act does finds the way."
    yield (
        "Goals reached in percent (95 % interval); a row has the same model, tasks and budget of decisions."
        f"{facts if 'Facts' in names else ''}"
    )
    rows, missed = [], []
    for claim in own:
        figures = {f.name: f for f in record.of(found, claim.name)}
        told = found["claims"].get(claim.name, {})
        cells = [_cell(figures[name]) if name in figures else "" for name in names]
        most = str(max((f.n for name, f in figures.items() if name in names), default=""))
        name = f'<a id="{claim.name}"></a>{claim.world}'
        note = f" (not measured: {told['missing']})" if "missing" in told and not figures else ""
        rows.append((name + note, most, *cells))
        missed += [
            f"- {claim.world}: {f.name} {value(f)}; {target(f)}" for f in figures.values() if f.target and not f.met
        ]
    yield _table(("world", "n", *names), rows)
    if missed:
        yield "Targets missed here:\n\n" + "\n".join(missed)


def _cell(found: Finding) -> str:
    """Whole percents: a table of so many worlds and strategies is read for its large differences."""
    if math.isnan(found.value):
        return "-"
    return f"{100 * found.value:.0f} ({100 * found.low:.0f}–{100 * found.high:.0f})"


def value(found: Finding) -> str:
    if math.isnan(found.value):
        return "-"
    if found.measure in SHARES or found.share:
        return f"{100 * found.value:+.1f} points" if found.difference else f"{100 * found.value:.1f} %"
    return signed(found.value) if found.difference else number(found.value)


def interval(found: Finding) -> str:
    if math.isnan(found.low) or math.isnan(found.high) or math.isnan(found.value):
        return ""
    if found.measure in SHARES or found.share:
        ends = [f"{100 * end:+.1f}" if found.difference else f"{100 * end:.1f}" for end in (found.low, found.high)]
    else:
        ends = [signed(end) if found.difference else number(end) for end in (found.low, found.high)]
    return f"({ends[0]} to {ends[1]})"


def test(found: Finding) -> str:
    if not found.test or math.isnan(found.p):
        return ""
    return f"p {'< 0.001' if found.p < 0.001 else f'= {found.p:.3f}'} ({found.test})"


def target(found: Finding) -> str:
    if not found.target:
        return ""
    unit = (" points" if found.difference else " %") if found.measure in SHARES or found.share else ""
    wanted = " and ".join(
        f"{_WAYS[way]} {bound:g}{'' if way == 'p_below' else unit}" for way, bound in found.target.items()
    )
    return f"{wanted}: {'met' if found.met else 'none to count' if math.isnan(found.value) else '**missed**'}"


def lines(claim: Claim, found: Mapping[str, Any]) -> Iterable[str]:
    """Yields a claim's figures as lines of a terminal."""
    yield f"{claim.name}: {claim.claim}"
    rows = [
        (f.name, value(f), interval(f), f.n, test(f), target(f).replace("**", "")) for f in record.of(found, claim.name)
    ]
    told = found["claims"].get(claim.name, {})
    if "missing" in told:
        yield f"  not part of this run: {told['missing']}"
    widths = [max(len(row[at]) for row in rows) for at in range(6)] if rows else []
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def whole(claim: Claim, claims: Claims, found: Mapping[str, Any]) -> Iterable[str]:
    """Yields all that the record holds of a claim: what was done, its figures, why goals were missed, the costs."""
    yield claim.about.strip()
    yield from lines(claim, found)
    names = dict.fromkeys(side[0] for figure in claim.figures for side in (figure.of, figure.against) if side)
    for name in names:
        each = found["evaluations"].get(name)
        for group in each["groups"] if each else ():
            if group["by"] == "all":
                yield f"  {name}/{group['strategy']}: {_reasons(group)}"
                yield f"    means: {_means(group)}"
        if each:
            wanted = claims.evaluations[name]
            yield f"    {wanted.suite}, {_settings(wanted)}; set-up {each['digest'][:12]}, {each['made']['date']}"


def _reasons(group: Mapping[str, Any]) -> str:
    reached = f"{group['goals']} of {group['episodes']} reached"
    failures = [f"{label} {count}" for label, count in group["failures"].items()]
    broken = [f"error {group['errors']}"] if group["errors"] else []
    return "; ".join([reached, *failures, *broken])


def _means(group: Mapping[str, Any]) -> str:
    means = {name: each["value"] for name, each in group["means"].items()}
    told = [f"{name} {number(math.nan if mean is None else mean)}" for name, mean in means.items()]
    return ", ".join([*told, f"cached {100 * group['saved']:.0f} %"])


def _settings(wanted: Evaluation) -> str:
    told = [f"{wanted.budget} decisions"]
    told += [", ".join(wanted.kinds)] if wanted.kinds else []
    told += [f"{name}={given}" for name, given in wanted.options.items()]
    told += ["no recall"] if not wanted.recall else []
    told += ["free decoding"] if wanted.free else []
    told += [f"experiences of {wanted.level}s, {wanted.example_tokens} tokens"] if wanted.lessons else []
    return "; ".join(told)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(str(cell).replace('|', '/') for cell in line)} |" for line in lines)
