"""`make long`: the targets that take longer than `make test` has time for, one after the other, and a line for each.

python tests/long.py TARGET…
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
LOGS = ROOT / "build" / "long"
QUIET = re.compile(r"^make(\[\d+\])?:|^\s*$|^Done \d+ runs|^INFO|^stat::")  # lines of a log that tell no figure


class Ended(NamedTuple):
    name: str
    code: int
    seconds: float
    figure: str

    def line(self) -> str:
        said = "passed" if self.code == 0 else f"FAILED ({self.code})"
        return f"{self.name:<16} {said:<12} {self.seconds:7.0f} s   {self.figure}"


def figure(log: str) -> str:
    """The last line that says something: pytest's count, or a script's own last word."""
    lines = [line.strip(" =") for line in log.splitlines() if not QUIET.match(line)]
    return lines[-1][:100] if lines else ""


def one(name: str) -> Ended:
    began, path = time.monotonic(), LOGS / f"{name}.log"
    around = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    with path.open("wb") as log:
        done = subprocess.run(
            ["make", "--no-print-directory", name],
            cwd=ROOT,
            env=around,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    told = path.read_text(encoding="utf-8", errors="replace")
    return Ended(name, done.returncode, time.monotonic() - began, figure(told))


def main(names: list[str]) -> int:
    LOGS.mkdir(parents=True, exist_ok=True)
    print(f"logs: {LOGS.relative_to(ROOT)}/TARGET.log", flush=True)
    ended = []
    for name in names:
        ended.append(one(name))
        print(ended[-1].line(), flush=True)
    failed = [each.name for each in ended if each.code]
    print(f"{len(ended) - len(failed)} of {len(ended)} passed{'; failed: ' + ', '.join(failed) if failed else ''}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
