"""The folder of an evaluation: its set-up and every outcome, each on disk as soon as it exists."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bt_lab.run.outcome import Outcome, from_json
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import disk
from bt_runtime.types import Json

SETUP, RESULTS, TRAINED = "setup.json", "results.jsonl", "train.jsonl"


class ResultsFile:
    """A file of outcomes, appended during the evaluation and sorted by case at its end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._mend()
        self.outcomes: dict[str, Outcome] = {o.key: o for o in read(path)} if path.is_file() else {}

    def _mend(self) -> None:
        """Removes a last line that an interrupted process left unfinished."""
        if self.path.is_file():
            text = self.path.read_bytes()
            end = text.rfind(b"\n") + 1
            if end < len(text):
                with self.path.open("r+b") as file:
                    file.truncate(end)

    def add(self, outcome: Outcome) -> None:
        """Writes an outcome to the disk before it returns. A later outcome replaces an earlier one of its case."""
        line = json.dumps(outcome.to_json(), ensure_ascii=False) + "\n"
        with self.path.open("ab") as file:
            file.write(line.encode("utf-8", "backslashreplace"))
            file.flush()
            os.fsync(file.fileno())
        self.outcomes[outcome.key] = outcome

    def sort(self) -> list[Outcome]:
        """Rewrites the file in the order of the cases."""
        found = sorted(self.outcomes.values(), key=lambda o: o.number)
        write(self.path, "".join(json.dumps(o.to_json(), ensure_ascii=False) + "\n" for o in found))
        return found


def read(path: Path) -> list[Outcome]:
    """Reads the outcomes. A last line that a kill cut off is ignored; any other unreadable line is an error."""
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
    """Returns an evaluation's outcomes in the order of the cases, also of an interrupted one."""
    read_setup(folder)
    path = folder / RESULTS
    latest = {o.key: o for o in read(path)} if path.is_file() else {}
    return sorted(latest.values(), key=lambda o: o.number)


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterable[str]:
    """Yields the names of the parts in which two set-ups differ."""
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            yield name
