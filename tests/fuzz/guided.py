"""`make fuzz`: look for texts that reach new code, for a minute, and stop at the first that gives anything but a fault.

Guided by atheris, where it has a wheel; `make fuzz` installs it. What it learns is kept in .cache/fuzz. Elsewhere the
same mutations are tried without a guide, with a seed that is printed.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
CACHE = ROOT / ".cache" / "fuzz"


def unguided(seconds: float, again: Sequence[Path]) -> int:
    """Mutation after mutation, until the time is over or one gives anything but a fault, which is kept."""
    from tests.fuzz import check
    from tests.fuzz.mutate import documents

    for path in again:
        check.everything(path.read_bytes())
    if again:
        return 0
    seed = random.SystemRandom().randrange(10**6)
    print(f"atheris is not here (it has wheels for Linux on x86_64): mutations without a guide, seed {seed}")
    until, number = time.monotonic() + seconds, 0
    for number, text in enumerate(documents(sys.maxsize, seed), 1):
        data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
        try:
            check.everything(data)
        except Exception:
            CACHE.mkdir(parents=True, exist_ok=True)
            kept = CACHE / f"found-{seed}-{number}"
            kept.write_bytes(data)
            print(f"document {number} of seed {seed} breaks it; kept: {kept}", file=sys.stderr)
            raise
        if time.monotonic() > until:
            break
    print(f"{number} documents gave a tree or faults")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("again", nargs="*", type=Path, help="run these saved inputs only")
    asked = parser.parse_args()
    try:
        import atheris
    except ImportError:
        return unguided(asked.seconds, asked.again)
    with atheris.instrument_imports(include=["bt_runtime"]):
        from tests.fuzz import check
        from tests.fuzz.mutate import SEEDS, mutate

    def bend(data: bytes, most: int, seed: int) -> bytes:
        dice = random.Random(seed)
        if dice.random() < 0.5:
            return bytes(atheris.Mutate(data, most))
        bent = mutate(data.decode("utf-8", "surrogateescape"), dice)
        return (bent if isinstance(bent, bytes) else bent.encode("utf-8", "surrogatepass"))[:most]

    corpus = CACHE / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(SEEDS):
        (corpus / f"seed-{number}").write_text(text, encoding="utf-8")
    limits = [f"-max_total_time={asked.seconds}", "-timeout=10", "-rss_limit_mb=1024", "-max_len=8192", "-verbosity=1"]
    places = [*map(str, asked.again)] or [str(corpus), str(ROOT / "tests" / "language" / "faults" / "source")]
    atheris.Setup(
        [sys.argv[0], *limits, f"-artifact_prefix={CACHE}/found-", "-print_final_stats=1", *places],
        check.everything,
        custom_mutator=bend,
    )
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
