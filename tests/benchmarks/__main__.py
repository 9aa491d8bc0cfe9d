"""`make bench`: every module here named bench_*.py gives rows; one table is printed.

Ratios, never a verdict by absolute time.

A bench module has `rows() -> Iterable[Row]`. A module that cannot run says why in a row with `measured=None`.
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]  # what lies beside, and `tests`

from rows import Row, table  # noqa: E402


def load(path: Path) -> list[Row]:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
        return list(module.rows())
    except Exception as failure:
        traceback.print_exc()
        return [Row(path.stem, f"could not run: {failure}", None, "")]


def main(only: list[str]) -> int:
    rows: list[Row] = []
    for path in sorted(HERE.glob("bench_*.py")):
        if only and path.stem.removeprefix("bench_") not in only:
            continue
        print(f"… {path.stem}", file=sys.stderr, flush=True)
        rows += load(path)
    print(table(rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
