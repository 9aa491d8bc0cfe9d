"""`make hostile MINUTES=30`: inputs that are meant to do harm, and what comes of them. Linux only.

python -m tests.hostile short                        what `make test` runs, a few seconds for each sweep
python -m tests.hostile whole --minutes 30           each sweep in full, then with other seeds until the time is over
python -m tests.hostile again build/hostile/X.json   a saved case once more, with all that it prints
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a process with threads should not fork
os.environ.setdefault("OMP_NUM_THREADS", "1")

from tests.hostile import documents, expressions, foreign_python, foreign_xml, headers, journals, odd_files, servers
from tests.hostile.case import Case, Target, loaded, saved
from tests.hostile.frame import Broken, Frame, warmed
from tests.journal.mutations import HOSTILE, parts

TARGETS = (
    Target("journals", journals.cases, 16, 2000),
    Target("named", journals.named, 6, len(HOSTILE) + len(parts(b""))),
    Target("flips", journals.flips, 60, 2000),
    Target("servers", servers.cases, len(servers.MODES), 4 * len(servers.MODES)),
    Target("headers", headers.cases, 60, 800),
    Target("worlds", documents.worlds, 30, 2000),
    Target("memories", documents.memories, 30, 2000),
    Target("documents", documents.cases, 40, 2000),
    Target("expressions", expressions.cases, 80, 2000),
    Target("xml", foreign_xml.cases, len(foreign_xml.DOCUMENTS), 20 * len(foreign_xml.DOCUMENTS)),
    Target("python", foreign_python.cases, len(foreign_python.DOCUMENTS), 20 * len(foreign_python.DOCUMENTS)),
    Target("odd_files", odd_files.cases, 60, odd_files.ALL),
)
SAVED = Path("build/hostile")
WAITING = 16  # cases at a time that mostly wait for a server


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.hostile", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("short", "whole", "again"))
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--only", choices=[t.name for t in TARGETS], action="append")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--minutes", type=float, default=0.0)
    parser.add_argument("--count", type=int, help="mutations of each sweep, instead of its own number")
    asked = parser.parse_args()
    warmed()
    with servers.Serving() as address:
        if asked.what == "again":
            return again(asked.files, address)
        chosen = [t for t in TARGETS if not asked.only or t.name in asked.only]
        if asked.what == "short":
            return int(sum(sweep(t, asked.seed or 0, asked.count or t.short, address) for t in chosen) > 0)
        return whole(chosen, asked, address)


def whole(chosen: list[Target], asked: argparse.Namespace, address: str) -> int:
    """In full once, whatever it takes; then parts with new seeds until the minutes are over."""
    until, failed = time.monotonic() + asked.minutes * 60, 0
    seed = random.SystemRandom().randrange(10**6) if asked.seed is None else asked.seed
    for target in chosen:
        failed += sweep(target, seed, asked.count or target.whole, address)
    while time.monotonic() < until:
        seed += 1
        for target in chosen:
            if time.monotonic() < until:
                failed += sweep(target, seed, target.short, address)
    print(f"{failed} cases broke the rule" if failed else "every case held", flush=True)
    return int(failed > 0)


def sweep(target: Target, seed: int, count: int, address: str) -> int:
    """Prints what broke and where it is kept, and one line at the end; gives how many."""
    began, last, found = time.monotonic(), time.monotonic(), 0
    with Frame(WAITING if target.name == "servers" else 0, address) as frame:
        for broken in frame.broken(target.cases(seed, count)):
            found += 1
            told(broken)
            if time.monotonic() - last > 60:
                last = time.monotonic()
                print(f"{target.name}: {frame.done} cases so far, {found} broken", flush=True)
        seconds = time.monotonic() - began
        rate = frame.done / max(seconds, 0.001)
    print(
        f"{target.name}: {frame.done} cases, {found} broken, {seconds:.0f} s, {rate:.0f} a second, seed {seed}",
        flush=True,
    )
    return found


def told(broken: Broken) -> None:
    path = saved(broken.case, broken.why, broken.ended.output, SAVED)
    print(f"  {broken.case.name}: {'; '.join(broken.why)[:300]!a}", flush=True)
    print(f"    again: {sys.executable} -m tests.hostile again {path}", flush=True)


def again(files: list[Path], address: str) -> int:
    failed = 0

    def cases() -> Iterator[Case]:
        for path in files:
            yield loaded(path)

    with Frame(1, address) as frame:
        for broken in frame.broken(cases()):
            failed += 1
            ended = broken.ended
            print(f"{broken.case.name}: {' '.join(broken.case.words)!a}\n  broken: {'; '.join(broken.why)!a}")
            print(f"  exit {ended.code}, {ended.seconds:.1f} s, {ended.memory / 2**20:.0f} MB; it printed:")
            print(ascii(ended.output[-4000:]))
    print(f"{len(files) - failed} of {len(files)} hold")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
