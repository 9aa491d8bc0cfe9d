"""The page of results: what the papers claim, what was measured here, and where it falls short. Text from a record."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bt_lab.report.table import number, signed
from bt_runtime.llm import settings
from recipes.results import record
from recipes.results.claims import Claim, Claims, Evaluation
from recipes.results.finding import SHARES, Finding

_WAYS = {"at_least": "at least", "at_most": "at most", "above": "above", "below": "below", "p_below": "p below"}
SEVEN = (
    "The same model, tasks and budget of decisions for each strategy of a world; n tells on how many tasks. A world "
    "whose extra or data was not there is told as not measured. The papers' figures are of general models that are "
    "prompted, on tasks of their own: they tell which way a comparison should fall, not how high. The arm example is "
    "a project with tasks of its own: `btr init my_arm --example arm`, there `btr lab eval tasks.yaml --strategy tidy`."
)
CARD = settings.starter().with_name("README.md")
TRADES = Path(__file__).parents[1] / "facts/results.md"  # of models that know none of the skills
_COSTS = ("steps", "decisions", "calls", "written", "invalid", "refused", "seconds")


def page(
    claims: Claims, found: Mapping[str, Any], pictures: Mapping[str, str], others: Mapping[str, Mapping[str, Any]] = {}
) -> str:
    """`pictures`: claim → where its picture lies, seen from the page; `others`: records of other models by name."""
    parts = [
        "# Results",
        _opening(found["made"]),
        _compared(claims, found["made"]),
        "## In short",
        _overview(claims, found),
        *(_beside(claims, found, name, other) for name, other in others.items()),
        *_worlds(claims, found, pictures),
        TRADES.read_text("utf-8").strip(),
        *(_section(claim, found, pictures.get(name, "")) for name, claim in claims.claims.items() if not claim.world),
        "## Why goals were missed",
        "ReAcTree's ten types, given by a rule where the journal tells, else `unlabelled`; `error` is what broke.",
        _failures(found),
        "## What it took",
        "Means of an episode. `saved` is the share of all prompts' tokens that was in the cache already.",
        _costs(found),
        "## How it was made",
        _making(claims, found),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _opening(made: Mapping[str, Any]) -> str:
    return (
        f"What the papers claim, measured with a small model. Made by `{made['command']}` on {made['date']}, "
        f"{_model(made)}, {made['episodes']} tasks an evaluation or a share of them (n tells how many), "
        f"seed {made['seed']}. `summary.json` beside the pictures holds every figure; `--check` holds another run "
        "against it."
        "\n\n"
        "Intervals are at 95 %: Wilson's for rates, drawn with replacement over tasks for all else. Two strategies on "
        "the same tasks are compared in pairs: McNemar's exact test for goals, sign flips for other numbers. A target "
        "is met by the number itself (and by its p where it names one), not by its interval."
    )


def _compared(claims: Claims, made: Mapping[str, Any]) -> str:
    """Says what the compared models are, and which rows chose ours."""
    file = str(made["model"].get("file", ""))
    trained = trained_on(file)
    ours = (
        f"**Our model is trained on these worlds**: `{file}` has read {trained} of lessons by these worlds' own "
        "teachers, in the forms of these very prompts, and its acts are constrained "
        "([its card](../packages/starter/bt_starter/starter/README.md))."
        if trained
        else "Our model is the one that is named above; its acts are constrained."
    )
    rows = ", ".join(f"[{each.world or each.claim}](#{each.name})" for each in claims.claims.values() if each.chose)
    chosen = f" The shipped weights were chosen by tasks of these rows: {rows}." if rows and trained else ""
    return (
        f"{ours} **The papers' models are general ones, hundreds of times as large, and prompted.** So no figure here "
        "says that a small model is as good as theirs: it says what a strategy does with one model. Beside each of the "
        "papers' figures stands whether ours is of the same tasks (`comparable`) or not, and why, in a few words; the "
        f"models never are of one kind.{chosen}"
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
    rows = []
    for name, claim in claims.claims.items():
        if claim.world:
            continue
        key = _key(record.of(found, name))
        here = "<br>".join(map(_figure, key)) or "not measured"
        paper = claim.paper + (f"<br>**{claim.beside}**" if claim.beside else "")
        if claim.comparable:
            there = [f for f in _key(record.of(found, claim.comparable)) if not f.difference]
            here += "".join(f"<br>comparable, [{claim.comparable}](#{claim.comparable}): {_figure(f)}" for f in there)
        targets = "<br>".join(filter(None, (target(f) for f in key))) or "none set"
        rows.append((f"[{claim.claim}](#{name})", paper, here, targets))
    return _table(("claim of the papers", "what the paper has", "here", "target"), rows)


def _figure(found: Finding) -> str:
    return f"{found.name}: **{value(found)}** {interval(found)}"


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
        f"Goals reached, of the first tasks of each row, by `{made['command']}` on {made['date']}, {_model(made)}. It "
        "decides many times as slowly, so fewer strategies and tasks were measured: n tells how many.",
        _table(("world", "strategy", f"`{first}`", "n", f"`{name}`", "n"), rows),
    ))  # fmt: skip


def _key(own: Sequence[Finding]) -> list[Finding]:
    """What a claim hangs on: what has a target, else the comparisons."""
    return [f for f in own if f.target] or [f for f in own if f.difference] or list(own)


def _worlds(claims: Claims, found: Mapping[str, Any], pictures: Mapping[str, str]) -> Iterable[str]:
    """A table a world, of every strategy."""
    own = [claim for claim in claims.claims.values() if claim.world]
    if own:
        yield "## Seven strategies"
        yield SEVEN
    yield from (_section(claim, found, pictures.get(claim.name, "")) for claim in own)


def _section(claim: Claim, found: Mapping[str, Any], picture: str) -> str:
    told = found["claims"].get(claim.name, {})
    own = record.of(found, claim.name)
    heading = f'<a id="{claim.name}"></a>\n' + (f"### {claim.world}" if claim.world else f"## Claim: {claim.claim}")
    there = f" Our figures that stand beside it: [{claim.comparable}](#{claim.comparable})." if claim.comparable else ""
    beside = f" **{claim.beside[:1].upper()}{claim.beside[1:]}.**{there}" if claim.beside else ""
    parts = [heading, f"In the paper: {claim.paper}.{beside}" if claim.paper else "", claim.about.strip()]
    if claim.chose:
        parts.append(
            "The shipped weights were chosen by tasks of these rows, among some ten trainings and their means."
        )
    if "missing" in told:
        parts.append(_missing(told, bool(own)))
    if own:
        column = [f"paper, {claim.beside.partition(':')[0]}" if claim.beside else "paper"]
        column = column if any(f.paper is not None for f in own) else []
        rows = [
            (f.name, *([_of_paper(f)] if column else []), value(f), interval(f), f.n, test(f), target(f)) for f in own
        ]
        parts.append(_table(("", *column, "here", "95 %", "n", "paired test", "target"), rows))
    if picture:
        parts.append(f"![{claim.claim}]({picture})")
    return "\n\n".join(part for part in parts if part)


def _missing(told: Mapping[str, Any], known: bool) -> str:
    """Earlier figures are shown, and it is said that they are earlier ones."""
    if not known:
        return f"**Not measured**: {told['missing']}."
    made = told["made"]
    return f"**Not part of this run**: {told['missing']}. The figures are of {made['date']}, {_model(made)}."


def _of_paper(found: Finding) -> str:
    return "" if found.paper is None else f"{found.paper:.1f} %"


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


def _failures(found: Mapping[str, Any]) -> str:
    whole = list(_whole(found))
    labels = list(dict.fromkeys(label for _, group in whole for label in group["failures"]))
    rows = [
        (
            name, f"{group['goals']}/{group['episodes']}",
            *(str(group["failures"].get(label) or "") for label in labels), str(group["errors"] or ""),
        )
        for name, group in whole
    ]  # fmt: skip
    return _table(("evaluation", "reached", *labels, "error"), rows)


def _costs(found: Mapping[str, Any]) -> str:
    rows = []
    for name, group in _whole(found):
        means = (number(_finite(group["means"][each]["value"])) for each in _COSTS)
        rows.append((name, str(group["episodes"]), *means, f"{100 * group['saved']:.0f} %"))
    return _table(("evaluation", "episodes", *_COSTS, "saved"), rows)


def _finite(found: float | None) -> float:
    return math.nan if found is None else found


def _whole(found: Mapping[str, Any]) -> Iterable[tuple[str, Mapping[str, Any]]]:
    """Every strategy of every evaluation, over all its tasks."""
    for name, each in found["evaluations"].items():
        yield from ((f"{name}/{group['strategy']}", group) for group in each["groups"] if group["by"] == "all")


def _making(claims: Claims, found: Mapping[str, Any]) -> str:
    rows = []
    for name, each in found["evaluations"].items():
        made, wanted = each["made"], claims.evaluations[name]
        rows.append((
            name, wanted.suite, ", ".join(_strategies(wanted)), _settings(wanted), str(each["tasks"]),
            f"{each['minutes']:.1f}", made["date"], each["digest"][:12],
        ))  # fmt: skip
    head = ("evaluation", "world", "strategies", "settings", "tasks", "minutes", "date", "set-up")
    made = found["made"]
    versions = ", ".join(f"{name} {version}" for name, version in made["versions"].items())
    return "\n\n".join((
        _table(head, rows),
        f"{made['jobs']} episodes at once on {made['cores']} cores; {versions}. The set-up's digest covers trees, "
        "prompts, tasks, budgets, seed and model. "
        "The claims and their evaluations are data, in `recipes/results/claims.yaml`; "
        "`python -m recipes.results --model FILE.gguf` measures them with another model.",
    ))  # fmt: skip


def _strategies(wanted: Evaluation) -> Iterable[str]:
    for each in wanted.strategies:
        inputs = ", ".join(f"{name}={given}" for name, given in each.inputs.items())
        yield f"{each.tree} ({inputs})" if inputs else each.tree


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
