"""The versions of a plan: a folder with one file for each. Files are written atomically and never overwritten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from bt_runtime.language import guide
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.guide import SUFFIX, Guide
from bt_runtime.language.project import disk
from bt_runtime.types import Json


class Version(NamedTuple):
    iteration: int
    path: Path
    guide: Guide

    def rate(self, of: str = "validation") -> float | None:
        """Returns the share of solved tasks, from 0 to 1; None when they were not tried."""
        score = self.guide.header.get(of)
        return score["reached"] / score["of"] if score else None


def versions(folder: Path) -> list[Version]:
    """Returns all stored versions in order. Raises for a faulty file."""
    named = [p for p in folder.glob(f"*{SUFFIX}") if p.stem.isdigit()] if folder.is_dir() else []
    return sorted(Version(int(path.stem), path, guide.sound(path)) for path in named)


def best(kept: Sequence[Version]) -> Version | None:
    """Returns the version with the highest score; of equals the earliest."""
    scored = [(rate, -v.iteration, v) for v in kept if (rate := v.rate()) is not None]
    return max(scored)[-1] if scored else (kept[-1] if kept else None)


def to_build_on(kept: list[Version]) -> Version | None:
    """Returns the version that the next one is based on: the highest score, of equals the latest, which includes the
    most lessons."""
    scored = [(rate, v.iteration, v) for v in kept if (rate := v.rate()) is not None]
    return max(scored)[-1] if scored else (kept[-1] if kept else None)


def keep(folder: Path, iteration: int, written: Guide) -> Path:
    """Puts a version on the disk. One that is there already may be given a score, but no other text."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{iteration}{SUFFIX}"
    if path.exists() and guide.sound(path).text != written.text.strip():
        raise BtError(f"{path} holds another plan, and no version is written over", "name another folder: --out")
    disk.write(path, [written.written()])
    with suppress(OSError):  # where folders can be synchronised, the new name is on the disk too
        disk.settle(folder)
    return path


def keep_plan(
    folder: str,
    iteration: int,
    text: str,
    header: Mapping[str, Json],
    training: Mapping[str, Json],
    validation: Mapping[str, Json],
) -> None:
    """Implements the skill `keep_plan` of skills/plans.yaml. A version that was scored before keeps its scores."""
    place = Path(folder)
    kept = versions(place)
    before = next((v.guide.header for v in kept if v.iteration == iteration), {})
    said = {**before, **header, "iteration": iteration}
    parent = to_build_on([v for v in kept if v.iteration < iteration])
    if parent is not None:
        said["parent"] = parent.path.name
    said |= {name: dict(score) for name, score in (("training", training), ("validation", validation)) if score}
    keep(place, iteration, Guide(text, said))
