"""The folders of code of the workspace's wheels."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
# wheel → the folder of its code
WHEELS = {
    "bt_runtime": ROOT / "bt_runtime",
    "bt_envs": ROOT / "envs" / "bt_envs",
    **{folder.name: folder for folder in sorted(ROOT.glob("packages/*/bt_*"))},
}


def home_of(path: Path) -> Path:
    """Returns the folder that a file's module name begins in."""
    return next(home.parent for home in WHEELS.values() if home in path.parents)
