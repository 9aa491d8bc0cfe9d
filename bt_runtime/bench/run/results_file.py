"""The folder of an evaluation: what it was made of, and every outcome, on disk as soon as it is there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bt_runtime.bench.run.outcome import Outcome, from_json
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.project import disk
from bt_runtime.types import Json

SETUP, RESULTS, TRAINED = "setup.json", "results.jsonl", "train.jsonl"


class ResultsFile:
    """One file of outcomes: appended while it goes on, in the order of the cases once it is complete."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._mend()
        self.outcomes: dict[str, Outcome] = {o.key: o for o in read(path)} if path.is_file() else {}

    def _mend(self) -> None:
        """A line that a kill left unfinished is taken away, so that the next one begins a line of its own."""
        if self.path.is_file():
            text = self.path.read_bytes()
            end = text.rfind(b"\n") + 1
            if end < len(text):
                with self.path.open("r+b") as file:
                    file.truncate(end)

    def add(self, outcome: Outcome) -> None:
        """On disk when this returns. A later outcome of the same case takes the place of the earlier one."""
        line = json.dumps(outcome.to_json(), ensure_ascii=False) + "\n"
        with self.path.open("ab") as file:
            file.write(line.encode("utf-8", "backslashreplace"))
            file.flush()
            os.fsync(file.fileno())
        self.outcomes[outcome.key] = outcome

    def sort(self) -> list[Outcome]:
        """The file again, in the order of the cases, whatever order they ended in."""
        found = sorted(self.outcomes.values(), key=lambda o: o.number)
        write(self.path, "".join(json.dumps(o.to_json(), ensure_ascii=False) + "\n" for o in found))
        return found


def read(path: Path) -> list[Outcome]:
    """The last line may be cut off by a kill; any other that cannot be read is an error."""
    found: list[Outcome] = []
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found.append(from_json(json.loads(line)))
        except (ValueError, TypeError) as fault:
            if number == len(lines):
                break
            raise BtError(f"{path}:{number} is not an outcome: {fault}", "the file was changed by hand?") from None
    return found


def write(path: Path, text: str) -> None:
    disk.write(path, [text], "backslashreplace")


def write_json(path: Path, value: Json) -> None:
    write(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def read_setup(folder: Path) -> Mapping[str, Any]:
    try:
        found = json.loads((folder / SETUP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise BtError(f"{folder} holds no evaluation", f"it has no {SETUP} that can be read") from None
    return found if isinstance(found, dict) else {}


def outcomes(folder: Path) -> list[Outcome]:
    """Those of an evaluation, whole or cut off, in the order of the cases."""
    read_setup(folder)
    path = folder / RESULTS
    latest = {o.key: o for o in read(path)} if path.is_file() else {}
    return sorted(latest.values(), key=lambda o: o.number)


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterable[str]:
    """Which parts of two set-ups are not the same."""
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            yield name
