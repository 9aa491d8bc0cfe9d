"""Forks of all failed runs of a folder: how many are saved at their most doubtful decisions, and what that teaches."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bt_lab.distill.journals import met
from bt_lab.forks.drawn import TEMPERATURE, DrawnModel
from bt_lab.forks.flip import doubts, flips
from bt_lab.forks.forking import Forking, How
from bt_lab.report.statistics import Estimate, mcnemar, mean, wilson
from bt_lab.report.table import aligned, rated
from bt_runtime.journal import folder
from bt_runtime.journal.reading import Recording
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import disk
from bt_runtime.run.replay.fork import Edits, outlives
from bt_runtime.types import Json

FILE = "forks.jsonl"
RUNS = "runs"  # folder in which an evaluation keeps its journals


class Tries(NamedTuple):
    """What is tried with each failed run."""

    flips: int  # decisions at most, the most doubtful first, until one saves the run
    tokens: float = math.inf  # token limit for the forks of one run
    anew: bool = False  # start each run anew, too, with drawn answers: its flips get as many tokens as that took

    def told(self, how: How, seed: int | None) -> dict[str, Json]:
        tokens = None if math.isinf(self.tokens) else self.tokens
        model = None if how.model is None else str(how.model)
        anew = TEMPERATURE if self.anew else None
        return {"flips": self.flips, "tokens": tokens, "anew": anew, "seed": seed, "model": model}


class Kept:
    """The file of what was tried, a line for each run: what is in it is not tried again."""

    def __init__(self, path: Path, about: dict[str, Json]) -> None:
        self.path, self.rows = path, dict[str, dict[str, Any]]()
        lines = disk.read_text(path).splitlines() if path.is_file() else []
        if not lines:
            disk.write(path, [json.dumps(about) + "\n"])
            return
        try:
            was, *rows = (json.loads(line) for line in lines)
            self.rows = {str(row["run"]): row for row in rows}
        except (ValueError, KeyError, TypeError):
            raise BtError(f"{path} is no file of forks", "name another one: --out FILE") from None
        if was != about:
            different = ", ".join(f"{name}: {was.get(name)}" for name in about if was.get(name) != about[name])
            raise BtError(f"{path} was made with other options ({different})", "name another one: --out FILE")

    def add(self, row: dict[str, Any]) -> None:
        self.rows[str(row["run"])] = row
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def journals(place: Path) -> list[Path]:
    """The journals of a folder, or of an evaluation's folder, by name."""
    inner = place / RUNS
    found = sorted(folder.journals(inner if inner.is_dir() else place))
    if not found:
        raise BtError(f"there are no journals in {place}", "`btr lab eval … --journals` keeps them")
    return found


def failed(paths: Sequence[Path], tell: Callable[[str], None]) -> Iterator[Recording]:
    """The runs that did not reach their goals, and can be forked. `tell` is told why another one is left out."""
    for path in paths:
        recording = Recording(path)
        if met(recording):
            continue
        lasting = outlives(recording)
        why = lasting or ("" if doubts(recording) else "it made no decision between several options")
        if why:
            tell(f"{recording.name}: left out: {why}")
        else:
            yield recording


def tried(recording: Recording, how: How, tries: Tries, seed: int | None) -> dict[str, Any]:
    """What became of one failed run, as a row of the file."""
    row: dict[str, Any] = {"run": recording.name, "tree": recording.head["tree"], "anew": None}
    with Forking(recording.path, how) as forking:
        tokens = tries.tokens
        if tries.anew:
            other = int(recording.head["seed"]) + 1 if seed is None else seed
            drawn = {role: DrawnModel(model, other) for role, model in forking.models.items()}
            played = forking.play("0", Edits(seed=other), drawn, tokens)
            row["anew"] = {"saved": played.passed, "tokens": played.tokens, "status": played.status}
            tokens = min(tokens, played.tokens)
        forking.pairs.clear()  # another beginning is no other answer to the same prompt
        row["allowed"] = None if math.isinf(tokens) else tokens
        row["flips"] = []
        for flip in flips(forking, doubts(recording)[: tries.flips], seed, tokens=tokens):
            margin = None if math.isnan(flip.doubt.margin) else flip.doubt.margin
            row["flips"].append({
                "decision": flip.doubt.number, "margin": margin, "answer": flip.doubt.answer, "instead": flip.instead,
                "saved": flip.played.passed, "status": flip.played.status, "tokens": flip.played.tokens,
            })  # fmt: skip
            if flip.played.passed:
                break
        row["pairs"] = list(forking.pairs.values())
    return row


class Share(NamedTuple):
    """A way to save runs: how many it saved, and the tokens that it computed for one run."""

    name: str
    saved: int
    runs: int
    tokens: float

    @property
    def rate(self) -> Estimate:
        return wilson(self.saved, self.runs)


def shares(rows: Sequence[dict[str, Any]]) -> list[Share]:
    first = [row["flips"][:1] for row in rows]
    found = [_share("flip the most doubtful decision", first)]
    if any(len(row["flips"]) > 1 for row in rows):
        found.append(_share("flip further ones, too", [row["flips"] for row in rows]))
    if rows and all(row["anew"] for row in rows):
        found.append(_share("start anew", [[row["anew"]] for row in rows]))
    return found


def _share(name: str, each: Sequence[list[dict[str, Any]]]) -> Share:
    saved = sum(any(one["saved"] for one in tried) for tried in each)
    return Share(name, saved, len(each), mean([sum(one["tokens"] for one in tried) for tried in each]))


def table(rows: Sequence[dict[str, Any]]) -> str:
    cells = [("way", "saved", "rate", "95 % interval", "tokens a run")]
    cells += [(each.name, *rated(each.saved, each.runs, each.rate), f"{each.tokens:.0f}") for each in shares(rows)]
    text = aligned(cells)
    if not rows or not all(row["anew"] for row in rows):
        return text
    forked = [any(one["saved"] for one in row["flips"]) for row in rows]
    begun = [bool(row["anew"]["saved"]) for row in rows]
    only = [sum(a and not b for a, b in zip(x, y, strict=True)) for x, y in ((forked, begun), (begun, forked))]
    return f"{text}\nsaved only by flips: {only[0]}, only anew: {only[1]} (p = {mcnemar(*only):.2f})"
