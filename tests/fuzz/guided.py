"""`make fuzz`: look for texts that reach new code, for a minute, and stop at the first that gives anything but a fault.

Optional: needs atheris (tried with 3.0 on CPython 3.11, Linux). What it learns is kept in .cache/fuzz.
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
CACHE = ROOT / ".cache" / "fuzz"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("again", nargs="*", type=Path, help="run these saved inputs only")
    asked = parser.parse_args()
    try:
        import atheris
    except ImportError:
        print("this run is optional and needs atheris: pip install atheris", file=sys.stderr)
        return 2
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
    places = [*map(str, asked.again)] or [str(corpus), str(ROOT / "tests" / "faults" / "source")]
    atheris.Setup(
        [sys.argv[0], *limits, f"-artifact_prefix={CACHE}/found-", "-print_final_stats=1", *places],
        check.everything,
        custom_mutator=bend,
    )
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
