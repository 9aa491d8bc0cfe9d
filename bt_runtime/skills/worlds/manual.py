"""Writes the introduction to a world for a new agent: a few rules, and the available actions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from pathlib import Path

from bt_runtime.language import manifest, project
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.types import Introduced, Json


def manual(skills: str, rules: Sequence[str], examples: str = "", without: Collection[str] = ()) -> dict[str, Json]:
    """Builds a world's manual. `skills`: a manifest, minus the kinds in `without`. `examples`: a file of experiences
    in memory/."""
    told = patterns(skills, without)
    return {"rules": list(rules), "skills": told, "examples": examples, "manifest": skills, "without": [*without]}


def manifest_of(world: object) -> Sequence[Kind]:
    """The skills of the manifest that a world names in its manual."""
    told = world.manual() if isinstance(world, Introduced) else {}
    path = project.find("skills", str(told["manifest"])) if told.get("manifest") else None
    return [kind for kind in _kinds(path) if kind.name not in told.get("without", ())] if path is not None else ()


def patterns(name: str, without: Collection[str] = ()) -> list[Json]:
    """Returns a manifest's sentences with their slots, and the conditions of each."""
    path = project.find("skills", name)
    kinds = _kinds(path) if path is not None else ()
    told = [kind.data["entry"] for kind in kinds if kind.name not in without and kind.data["entry"].impl == "world"]
    return [entry.sentence + (f" (needs: {', '.join(entry.needs)})" if entry.needs else "") for entry in told]


@lru_cache(maxsize=16)
def _kinds(path: Path) -> Sequence[Kind]:
    """Returns a manifest's kinds, cached: every agent reads its world's manifest at its start."""
    return manifest.read(path).kinds
