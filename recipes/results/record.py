"""What a study has found, as one JSON file: the page is made of it, and a second run is held against it.

A claim that could not be looked at keeps what an earlier run has found, with that run's date.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bt_lab.report.summary import groups
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.types import Json
from recipes.results.claims import Claim, Claims
from recipes.results.finding import Finding, find, from_json
from recipes.results.study import Measured

Record = dict[str, Any]
LONG = "it takes long, and waits until it is named (`python -m recipes.results {name}`)"


def make(
    claims: Claims,
    measured: Mapping[str, Measured],
    missing: Mapping[str, str],
    made: Mapping[str, Json],
    before: Mapping[str, Any],
) -> Record:
    """`missing`: evaluation → why it was not run; `made`: date, model, seed, … of this run."""
    old_evaluations, old_claims = before.get("evaluations", {}), before.get("claims", {})
    seed = int(made["seed"])
    told = {name: _evaluation(each, made, seed) for name, each in measured.items()}
    found: dict[str, Any] = {}
    for name, claim in claims.claims.items():
        lacking = [each for each in claim.needs if each not in measured]
        if not lacking:
            found[name] = {"made": dict(made), "findings": findings(claim, measured, seed)}
        else:
            unasked = LONG.format(name=name) if claim.named_only else "it was not asked for"
            why = next((missing[each] for each in lacking if each in missing), unasked)
            found[name] = {**old_claims.get(name, {}), "missing": why}
    kept = {name: old_evaluations[name] for name in claims.evaluations if name in old_evaluations}
    order = [name for name in claims.evaluations if name in kept or name in told]
    return {
        "version": 1,
        "made": dict(made),
        "evaluations": {name: told.get(name, kept.get(name)) for name in order},
        "claims": found,
    }


def findings(claim: Claim, measured: Mapping[str, Measured], seed: int) -> list[dict[str, Json]]:
    sides = {
        (name, strategy): measured[name].of(strategy)
        for name in claim.needs
        for strategy in dict.fromkeys(o.strategy for o in measured[name].outcomes)
    }
    return [find(figure, sides, seed).to_json() for figure in claim.figures]


def _evaluation(each: Measured, made: Mapping[str, Json], seed: int) -> dict[str, Json]:
    found = [group.to_json() for group in groups(each.outcomes, seed) if group.by != "kind"]
    minutes = sum(o.seconds for o in each.outcomes) / int(made["jobs"]) / 60  # they ran side by side
    return {
        "made": dict(made), "digest": each.digest, "tasks": each.tasks, "minutes": round(minutes, 2), "groups": found
    }  # fmt: skip


def read(path: Path) -> Record:
    """An empty one where there is no such file yet."""
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as fault:
        raise BtError(f"{path} cannot be read: {fault}", "take it away, or get it back from version control") from None
    if not isinstance(found, dict) or found.get("version") != 1:
        raise BtError(f"{path} is not a summary of claims", "it is written by `python -m recipes.results`")
    return found


def of(record: Mapping[str, Any], claim: str) -> list[Finding]:
    return [from_json(each) for each in record.get("claims", {}).get(claim, {}).get("findings", ())]


class Return(NamedTuple):
    """One figure in two runs."""

    claim: str
    name: str
    first: Finding
    second: Finding

    @property
    def within(self) -> bool:
        """Does the second run's number lie in the first run's interval? No number twice is the same number."""
        first, second = self.first, self.second
        if math.isnan(first.value) or math.isnan(second.value):
            return math.isnan(first.value) == math.isnan(second.value)
        return first.low <= second.value <= first.high


def returns(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Return]:
    """Every figure that both have measured; what the second has only kept from the first says nothing."""
    found = []
    for claim, told in second.get("claims", {}).items():
        known = {each.name: each for each in of(first, claim)}
        if "missing" not in told:
            found += [Return(claim, f.name, known[f.name], f) for f in of(second, claim) if f.name in known]
    return found


def unlike(first: Mapping[str, Any], second: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """In what the two runs differ, of these."""
    one, two = first.get("made", {}), second.get("made", {})
    return [name for name in names if one.get(name) != two.get(name)]
