"""What a stranger must know of a world before the first step: a few rules, and what can be done there."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bt_runtime import project
from bt_runtime.language import manifest
from bt_runtime.types import Json


def manual(skills: str, rules: Sequence[str], examples: str = "", without: Collection[str] = ()) -> dict[str, Json]:
    """`skills`: a manifest, `without` some of its kinds; `examples`: a file of experiences in memory/."""
    return {"rules": list(rules), "skills": patterns(skills, without), "examples": examples}


def patterns(name: str, without: Collection[str] = ()) -> list[Json]:
    """The sentences of a manifest with their slots, and what each needs."""
    path = project.find("skills", name)
    kinds = manifest.read(path).kinds if path is not None else ()
    told = [kind.data["entry"] for kind in kinds if kind.name not in without and kind.data["entry"].impl == "world"]
    return [entry.sentence + (f" (needs: {', '.join(entry.needs)})" if entry.needs else "") for entry in told]
