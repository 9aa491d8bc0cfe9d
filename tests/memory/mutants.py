"""Seeds one fault at a time into a copy of the memory and sees whether its tests notice. A script, about 5 minutes.

python tests/memory/mutants.py [PART OF A NAME]
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import yaml

ROOT = Path(__file__).parents[2]


class Mutant(NamedTuple):
    name: str
    file: str
    old: str
    new: str
    tests: str


def survives(mutant: Mutant) -> bool:
    with TemporaryDirectory() as folder:
        copy = Path(folder)
        for part in ("bt_runtime", "memory"):
            shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
        target = copy / "bt_runtime" / "memory" / mutant.file
        text = target.read_text()
        if text.count(mutant.old) < 1:
            raise SystemExit(f"the place of the mutant `{mutant.name}` is gone from {mutant.file}")
        target.write_text(text.replace(mutant.old, mutant.new))
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-c", ROOT / "pyproject.toml"]
        ran = subprocess.run(
            [*command, ROOT / "tests" / "memory" / mutant.tests],
            cwd=copy,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "BTR_MUTANTS": "1"},
            capture_output=True,
            text=True,
        )
        if ran.returncode not in (0, 1):
            raise SystemExit(f"{mutant.name}: the tests could not run\n{ran.stdout[-2000:]}{ran.stderr[-2000:]}")
        return ran.returncode == 0


def main(part: str) -> int:
    listed = yaml.load(Path(__file__).with_suffix(".yaml").read_text(), yaml.CSafeLoader)
    chosen = [m for m in (Mutant(**one) for one in listed) if part in m.name]
    alive = 0
    for mutant in chosen:
        lives = survives(mutant)
        alive += lives
        print(f"{'SURVIVED' if lives else 'caught  '}  {mutant.name}  ({mutant.file}, {mutant.tests})", flush=True)
    print(f"{len(chosen) - alive} of {len(chosen)} caught")
    return 1 if alive else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
