"""Gives a tree its properties and policies: its own, those of its manifests, and those of the project file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from bt_runtime.language import source
from bt_runtime.language.diagnostics import Diagnostics
from bt_runtime.language.policies.policy import Policy
from bt_runtime.language.policies.reader import PolicyReader
from bt_runtime.language.properties.property import Property
from bt_runtime.language.properties.reader import Properties
from bt_runtime.language.source import YamlMap
from bt_runtime.language.spec import TreeSpec


class SeenManifest(Protocol):
    """A manifest as its tree sees it."""

    @property
    def properties(self) -> tuple[Property, ...]: ...
    @property
    def policies(self) -> tuple[Policy, ...]: ...


def of_tree(
    top: YamlMap, spec: TreeSpec, manifests: Sequence[SeenManifest], file: Path | None, diagnostics: Diagnostics
) -> None:
    """Reads what the head of a tree says, and adds the rest. `file`: the project's."""
    properties = Properties(top.get("properties"), spec.file, "tree")
    policies = PolicyReader(top.get("policies"), spec.file, "tree")
    policies.known(spec.registry.skills())
    diagnostics.add(*properties.faults, *policies.faults)
    all_properties, all_policies = of_project(file, diagnostics)
    spec.properties = (*properties.all, *(p for each in manifests for p in each.properties), *all_properties)
    spec.watched = bool(spec.properties)
    spec.policies = (*policies.all, *(p for each in manifests for p in each.policies), *all_policies)


def of_project(file: Path | None, diagnostics: Diagnostics) -> tuple[tuple[Property, ...], tuple[Policy, ...]]:
    """Reads the properties and the policy of a project file; its faults and its text are added to the diagnostics."""
    if file is None or not file.is_file():
        return (), ()
    document = source.read(file, str(file))
    top = document.root if isinstance(document.root, YamlMap) else None
    properties = Properties(top.get("properties") if top is not None else None, document.name, "project")
    policies = PolicyReader(top.get("policies") if top is not None else None, document.name, "project")
    diagnostics.sources[document.name] = document.text
    diagnostics.add(*properties.faults, *policies.faults)
    return properties.all, policies.all
