"""Installs the wheels in empty environments of each Python that is here, runs a program with each, and prints a table.

`python tests/packaging/pythons.py [EXTRA ...]`: without words the runtime alone and each extra that needs no compiler;
`base` is the runtime alone. Needs an index, or what pip can find, also in .cache/wheels (there `make llama` leaves its
wheel); a Python that is not here has no row.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
PYTHONS = [f"python3.{minor}" for minor in range(11, 16)] + ["python3.13t", "python3.14t"]
EXTRAS = ["", "author", "robots", "fleet", "lab", "envs", "mcp", "fuzz"]
# What is asked of an environment with that extra, besides the README's first program.
ASKS = {
    "": ["--help"], "author": ["check", "greet", "--always", "true"], "robots": ["export", "greet", "--for-viewing"],
    "fleet": ["fleet", "--help"], "lab": ["lab", "eval", "--help"], "envs": ["lab", "--help"],
    "mcp": ["serve", "mcp", "--help"], "demo": ["demo", "--plain"], "robot": ["init", "arm", "--example", "arm"],
    "fuzz": ["fuzz", "--help"],
}  # fmt: skip


def program() -> tuple[str, str]:
    """Returns the README's first program, and what it prints."""
    text = (ROOT / "README.md").read_text("utf-8")
    found = re.search(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1], found[2]


def built(folder: Path) -> Path:
    for home in [ROOT, ROOT / "envs", *sorted((ROOT / "packages").iterdir())]:
        command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(home)]
        subprocess.run(command, check=True, capture_output=True)
    return folder


def version(python: str) -> str:
    """Returns the version of a Python that runs, else ""."""
    if shutil.which(python) is None:
        return ""
    done = subprocess.run([python, "-c", "import sys; print(sys.version.split()[0])"], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def row(python: str, extra: str, wheels: Path, folder: Path) -> str:
    what = f"bt_runtime[{extra}]" if extra else "bt_runtime"
    env = folder / "env"
    if subprocess.run([python, "-m", "venv", str(env)], capture_output=True).returncode:
        return f"| `{what}` | not tried: {python} makes no environment | | | |"
    fresh, site = env / "bin" / "python", next((env / "lib").glob("python*/site-packages"))
    before, begun = _size(site), time.monotonic()
    pip = [str(fresh), "-m", "pip", "install", "-q", "--disable-pip-version-check", "--find-links", str(wheels)]
    pip += ["--find-links", str(ROOT / ".cache" / "wheels"), what]
    done = subprocess.run(pip, capture_output=True, text=True)
    seconds = time.monotonic() - begun
    if done.returncode:
        last = [line for line in done.stderr.splitlines() if line.startswith("ERROR")][-1:]
        return f"| `{what}` | not installed: {last[0] if last else 'pip failed'} | | | |"
    packages = len(list(site.glob("*.dist-info"))) - 1  # without pip
    code, expected = program()
    ran = subprocess.run([str(fresh), "-c", code], cwd=folder, capture_output=True, text=True)
    asked = subprocess.run(
        [str(env / "bin" / "btr"), *ASKS.get(extra, ["--help"])], cwd=folder, capture_output=True, text=True
    )
    sound = ran.stdout == expected and asked.returncode == 0
    told = "runs" if sound else f"FAILS: {(ran.stderr or asked.stderr or ran.stdout)[-120:]!r}"
    return f"| `{what}` | {told} | {packages} | {(_size(site) - before) / 1e6:.0f} | {seconds:.0f} |"


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def main(extras: list[str]) -> None:
    with tempfile.TemporaryDirectory() as made:
        wheels = built(Path(made))
        for python in PYTHONS:
            found = version(python)
            if not found:
                continue
            print(f"\n{python} ({found})\n\n| | | packages | MB | s |\n|---|---|---|---|---|", flush=True)
            for extra in extras:
                with tempfile.TemporaryDirectory() as folder:
                    print(row(python, extra, wheels, Path(folder)), flush=True)


if __name__ == "__main__":
    main([word.replace("base", "") for word in sys.argv[1:]] or EXTRAS)
