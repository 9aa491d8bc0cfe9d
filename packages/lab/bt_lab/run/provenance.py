"""Everything that an evaluation depends on, as plain values and digests. Equal digests mean equal measurements."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bt_lab.run.case import Setup, Strategy
from bt_runtime.journal import sources
from bt_runtime.language import project
from bt_runtime.language.project import plugins
from bt_runtime.run.run import Tree
from bt_runtime.types import Json, Task

_CHUNK = 1 << 20


def versions() -> dict[str, str]:
    """Ours, of plugins, and of what computes the answers: another build may round in another way."""
    found = {**sources.versions(), **plugins.versions()}
    for package in ("llama-cpp-python", "llguidance"):
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def digest(value: Json) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def file_digest(path: Path) -> str:
    found = sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            found.update(chunk)
    return found.hexdigest()[:32]


def of_tree(tree: Tree) -> str:
    """Returns a digest of all files of the tree, skills included."""
    loader = tree.first
    return sources.tree_digest(sources.files_kept(loader.files, loader.project, loader.home), tree.spec.text)[:32]


def of_prompts() -> dict[str, str]:
    """Returns a digest of all prompt files that a tree could name, the project's before ours."""
    found: dict[str, str] = {}
    for folder in project.folders("trees"):
        place = folder / "prompts"
        for path in sorted(place.rglob("*.md")):
            found.setdefault(path.relative_to(place).with_suffix("").as_posix(), file_digest(path))
    return found


def of_model(model: Any) -> dict[str, Json]:
    """Identifies a model: a file by its digest, a server by its address, because its content is unknown."""
    settings = model.settings
    if settings is not None and Path(settings.model).is_file():
        file = Path(settings.model)
        told: dict[str, Json] = {"file": file.name, "digest": file_digest(file), "repeatable": settings.repeatable}
        laid = [[Path(each.file).name, file_digest(Path(each.file)), each.scale] for each in settings.lora]
        return {**told, "lora": laid} if laid else told
    return {"model": str(model.stats().get("model", type(model).__name__))}


def of_tasks(tasks: Iterable[Task]) -> str:
    return digest([task._asdict() for task in tasks])


def depends(
    setup: Setup,
    strategies: Sequence[Strategy],
    trees: Mapping[str, Tree],
    tasks: Sequence[Task],
    models: Mapping[str, Any],
    given: Mapping[str, Json],
) -> dict[str, Json]:
    """Returns everything that determines the results; parallelism and journals do not."""
    held = {k: v for k, v in setup._asdict().items() if k not in ("journals", "budget", "seconds")}
    spent = setup.budget._asdict() if setup.budget is not None else {}
    return {
        **held,
        **given,
        "budget": {name: str(value) for name, value in spent.items()},
        "seconds": str(setup.seconds),
        "tasks": {"count": len(tasks), "digest": of_tasks(tasks)},
        "strategies": {
            s.name: {
                "tree": s.tree,
                "digest": of_tree(trees[s.tree]),
                "inputs": dict(s.inputs),
                "memory": file_digest(Path(s.memory)) if s.memory else "",
            }
            for s in strategies
        },
        "prompts": of_prompts(),
        "models": {role: of_model(model) for role, model in models.items()},
    }
