"""Proposes what new runs would change in a compiled tree. Nothing is written: a person decides."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bt_runtime.agents.compile.compiling import Compiled, of_traces
from bt_runtime.agents.compile.fuzzing import fuzzed
from bt_runtime.agents.compile.keeping import WrittenFile, base_of, keep
from bt_runtime.agents.compile.trace import Trace, read
from bt_runtime.journal import folder
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import disk

AFTER = 10  # runs between two proposals
FUZZED = 20  # random worlds
_RUNS = re.compile(r"Compiled from (\d+) runs of ([^;\"]+?)(?: in [^;\"]+)?;")


@dataclass(slots=True)
class RecompileProposal:
    """What compiling again would change in the tree at `path`. `asked`: new runs in which its agent was asked."""

    path: Path
    compiled: Compiled
    kept: WrittenFile  # the file that `keep` would write
    runs: int  # since the tree was compiled
    asked: int
    fuzz: str
    difference: list[str] = field(default_factory=list)

    def accept(self, take: str = "") -> WrittenFile:
        """Writes the change, as `btr runs compile --out` does."""
        return keep(self.path, self.compiled.text, take, skills=self.compiled.lexicon.given.values())

    def lines(self) -> Iterator[str]:
        yield f"{self.runs} runs since {self.path} was compiled; its agent was asked in {self.asked}"
        if not self.difference and not self.kept.conflicts:
            yield "compiled again it stays as it is"
            return
        yield f"compiled again from {len(self.compiled.traces)} runs it would change:"
        yield from self.difference
        yield f"fuzzed: {self.fuzz}"


def check(path: Path) -> None:
    """Raises BtError for a tree that was not compiled."""
    if not base_of(path).is_file():
        raise BtError(
            f"{path} has nothing to learn from runs: it is not of `btr runs compile`, or {base_of(path).name} is gone",
            f"compile runs first: btr runs compile --out {path}",
        )


def proposal(path: Path, runs: Path, after: int = AFTER) -> RecompileProposal | None:
    """Returns a proposal each time that another `after` runs have ended since the tree was compiled.

    Raises BtError when the runs that it was compiled from are not in the folder: their cases would be lost."""
    check(path)
    base = base_of(path)
    since = base.stat().st_mtime
    new = [journal for journal in folder.journals(runs) if folder.touched(journal) > since]
    if not new or len(new) % after:
        return None
    found = _compiled(path, runs, base)
    names = {journal.stem for journal in new}
    asked = sum(trace.name in names and bool(trace.lives) for trace in found.traces if trace.compiled)
    kept = keep(path, found.text, write=False, skills=found.lexicon.given.values())
    text = kept.text if kept.state == "merged" else ""
    difference = _difference(path, text) if text else []
    return RecompileProposal(path, found, kept, len(new), asked, fuzzed(found, FUZZED), difference)


def _compiled(path: Path, runs: Path, base: Path) -> Compiled:
    told = _RUNS.search(disk.read_or_nothing(base).decode("utf-8", "replace"))
    count, strategy = (int(told[1]), told[2]) if told is not None else (0, "")
    found = of_traces([each for each in read(folder.journals(runs)) if _same(each, path.stem, strategy)], path.stem)
    if len(found.traces) < count:
        raise BtError(
            f"{path} was compiled from {count} runs, and {runs} holds {len(found.traces)}: its cases would be lost",
            "put them there, or name all that it is to be compiled from: `btr runs compile RUNS --out FILE`",
        )
    return found


def _same(trace: Trace, name: str, strategy: str) -> bool:
    return trace.strategy in (name, strategy)


def _difference(path: Path, text: str) -> list[str]:
    """Returns the changed lines with those around them, as `diff -u` shows them."""
    mine = disk.read_or_nothing(path).decode("utf-8", "replace")
    told = difflib.unified_diff(mine.splitlines(), text.splitlines(), path.name, "compiled again", n=2, lineterm="")
    return list(told)
