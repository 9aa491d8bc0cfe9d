"""Tries the README's and the pages' programs and commands with the wheels alone: no folder of code is beside them.

`python tests/packaging/pages.py`: builds the wheels, installs them in an environment where only what they depend on is
found besides, copies the pages and their tests elsewhere, and runs these there.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
HOMES = [ROOT, ROOT / "envs", *sorted((ROOT / "packages").iterdir())]
PAGES = ("page_programs", "start_pages", "own_skills_page", "testing_page", "local_model_page", "robots_page")
TESTS = [*(f"tests/test_{name}.py" for name in PAGES), "tests/packaging/test_documents.py"]
OURS = ("bt_runtime", "bt_envs", "bt_author", "bt_robots", "bt_fleet", "bt_lab", "bt_starter")
CHECK = f"""
import importlib, sys
for name in {OURS!r}:
    print(importlib.import_module(name).__file__)
"""


def main() -> int:
    with tempfile.TemporaryDirectory() as made:
        dist, env, away = Path(made, "dist"), Path(made, "env"), Path(made, "away")
        for home in HOMES:
            build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(dist), str(home)]
            subprocess.run(build, check=True, capture_output=True)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(env)], check=True)
        python, site = env / "bin" / "python", next((env / "lib").glob("python*/site-packages"))
        # the folders in which this environment finds ours are named by .pth files there, which are not read from here
        (site / "others.pth").write_text(sysconfig.get_path("purelib") + "\n", "utf-8")
        pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps", "--no-index"]
        subprocess.run([*pip, "--ignore-installed", *map(str, sorted(dist.glob("*.whl")))], check=True)
        for name in ("docs", "tests", "examples"):
            shutil.copytree(ROOT / name, away / name, ignore=shutil.ignore_patterns("__pycache__", "*.png"))
        for path in (*ROOT.glob("*.md"), ROOT / "LICENSE", ROOT / "conftest.py", ROOT / "pyproject.toml"):
            shutil.copy(path, away / path.name)
        found = subprocess.run([str(python), "-c", CHECK], cwd=away, capture_output=True, text=True, check=True)
        strange = [line for line in found.stdout.splitlines() if not line.startswith(str(env))]
        if strange:
            print("not from the wheels:", *strange, sep="\n  ")
            return 1
        pytest = [str(python), "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *TESTS]
        return subprocess.run(pytest, cwd=away).returncode


if __name__ == "__main__":
    sys.exit(main())
