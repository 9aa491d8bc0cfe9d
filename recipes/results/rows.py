"""Single rows of the tables of strategies, for a model that is too slow for all of them: `webshop/react:100`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bt_lab.run.outcome import Outcome
from bt_runtime.language.faults.diagnostic import BtError
from recipes.results.claims import ANY, Claim, Claims, Evaluation, Figure


class Row(NamedTuple):
    """A strategy of an evaluation, on its first tasks."""

    evaluation: str
    strategy: str
    tasks: int = 0  # 0: as many as the evaluation takes

    @property
    def name(self) -> str:
        return f"{self.evaluation}-{self.strategy}"


def row(text: str) -> Row:
    """`webshop/react:100` → Row; raises ValueError."""
    named, colon, tasks = text.partition(":")
    evaluation, _, strategy = named.partition("/")
    if not (evaluation and strategy) or (colon and not (tasks.isdecimal() and int(tasks) > 0)):
        raise ValueError(text)
    return Row(evaluation, strategy, int(tasks) if colon else 0)


def only(claims: Claims, rows: Sequence[Row], episodes: int) -> Claims:
    """The claims of these rows: each is an evaluation of its own, which is gone on with by itself."""
    names = {(each.evaluation, each.strategy): each.name for each in rows}
    found = {each.name: _evaluation(claims, each, episodes) for each in rows}
    tables = {name: _claim(claim, names) for name, claim in claims.claims.items() if claim.world}
    tables = {name: claim for name, claim in tables.items() if claim.figures}
    shown = {evaluation for claim in tables.values() for evaluation in claim.needs}
    if lost := [each for each in rows if each.name not in shown]:
        one = f"{lost[0].evaluation}/{lost[0].strategy}"
        known = dict.fromkeys("/".join(f.of) for c in claims.claims.values() if c.world for f in c.figures)
        raise BtError(f"no table of a world has the row {one}", f"rows: {', '.join(known)}")
    return Claims({}, found, tables)


def _evaluation(claims: Claims, wanted: Row, episodes: int) -> Evaluation:
    found = claims.evaluations.get(wanted.evaluation)
    if found is None or wanted.strategy not in (names := {s.name: s for s in found.strategies}):
        raise BtError(f"there is no row {wanted.evaluation}/{wanted.strategy}", "see recipes/results/claims.yaml")
    share = (wanted.tasks - 0.5) / episodes if wanted.tasks else found.share  # it is rounded up
    return found._replace(strategies=(names[wanted.strategy],), share=share)


def _claim(claim: Claim, names: dict[tuple[str, str], str]) -> Claim:
    figures = tuple(_figure(figure, names) for figure in claim.figures if _is_row(figure, names))
    return claim._replace(figures=figures, picture={})


def _is_row(figure: Figure, names: dict[tuple[str, str], str]) -> bool:
    plain = figure.against is None and figure.like is None and figure.depth == ANY
    return plain and figure.measure == "goal" and figure.among == "all" and figure.of in names


def _figure(figure: Figure, names: dict[tuple[str, str], str]) -> Figure:
    return figure._replace(of=(names[figure.of], figure.of[1]), target={}, paper=None)


def first_ended(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """The outcomes before the first task that has none: what a cut-off run may be judged by, since tasks that take
    long are not left out."""
    ordered = sorted(outcomes, key=lambda outcome: outcome.number)
    return [outcome for number, outcome in enumerate(ordered) if outcome.number == number]
