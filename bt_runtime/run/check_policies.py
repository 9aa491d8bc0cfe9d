"""Reports rules of a project's policies that name a skill which none of its trees and manifests has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bt_runtime.language import manifest, source
from bt_runtime.language.faults.diagnostic import Diagnostic
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.loader import Loader
from bt_runtime.language.policies.reader import PolicyReader
from bt_runtime.language.project import real
from bt_runtime.language.project.selection import select
from bt_runtime.language.source import YamlMap


def unknown_skills(file: Path) -> list[Diagnostic]:
    """Returns a warning for each; a program may give skills of its own, which no file shows."""
    document = source.read(file, str(file))
    top = document.root if isinstance(document.root, YamlMap) else None
    policies = PolicyReader(top.get("policies") if top is not None else None, document.name, "project")
    if not any(each.skills or each.gives or each.reads for each in policies.all):
        return []
    before = len(policies.faults)
    policies.known(_skills(file.parent))
    return [fault._replace(severity="warning") for fault in policies.faults[before:]]


def _skills(project: Path) -> Iterator[Kind]:
    for each in select([str(project)]):
        if each.content == "tree":
            tree = Loader().file(real(each.path)).tree
            yield from tree.registry.skills() if tree is not None else ()
        elif each.content == "skills":
            yield from manifest.read(each.path).kinds
