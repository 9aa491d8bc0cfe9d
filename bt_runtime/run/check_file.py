"""Checks one file of a project, whatever it holds, and mends what is surely meant. `btr validate` and assistants ask
the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from bt_runtime.language import fixes
from bt_runtime.language.checks import doubts, plannable
from bt_runtime.language.faults.diagnostic import Diagnostic
from bt_runtime.language.import_policy import policy_of
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.loader import Checked, Loader
from bt_runtime.language.project import find_root, real, shown_path
from bt_runtime.language.project.selection import Selected
from bt_runtime.language.settings import read_project

MOST_ROUNDS = 20  # rounds of mending one text: a fault may hide another


def check(file: Selected, taken: Callable[[str], object] | None = None) -> Checked:
    """Checks a file by its content. `taken`: is told each shipped tree that was taken by its name alone."""
    if file.content == "tree":
        loader = Loader()
        checked = loader.file(real(file.path))
        for name in loader.taken if taken is not None else ():
            taken(name)  # type: ignore[misc]
        if checked.tree is not None:
            from bt_runtime.language.checks import free_slots

            return checked._replace(diagnostics=[*checked.diagnostics, *free_slots.faults(checked.tree)])
        return checked
    if file.content == "project":
        project = read_project(file.path.parent)
        faults = list(project.diagnostics)
        if project.path is not None and "policies" in project.text and not faults:
            from bt_runtime.run.check_policies import unknown_skills

            faults = unknown_skills(project.path)
        return Checked(None, faults, {str(project.path): project.text})
    shown = shown_path(real(file.path))
    if file.content == "plan":
        from bt_runtime.language import guide

        plan = guide.read(file.path, shown)
        return Checked(None, plan.diagnostics, {shown: plan.source})
    from bt_runtime.language import manifest

    home = real(file.path).parent
    read = manifest.read(file.path, shown, policy_of(find_root(home) or home))
    python = manifest.python_of(read, shown)
    doubts = plannable.faults(read.kinds, read.text, shown, _beside(home, file.path)) if not read.diagnostics else []
    return Checked(None, [*read.diagnostics, *python.faults, *doubts], {shown: read.text, **python.sources})


def _beside(home: Path, own: Path) -> list[Kind]:
    """The skills of the manifests in the same folder."""
    from bt_runtime.language import manifest

    return [kind for path in sorted(home.glob("*.yaml")) if path.name != own.name for kind in manifest.read(path).kinds]


def gathered(checked: Iterable[Checked]) -> tuple[list[Diagnostic], dict[str, str]]:
    """Collects all faults without duplicates: a subtree is checked with every tree that includes it."""
    checked, faults = list(checked), dict[Diagnostic, None]()
    sources: dict[str, str] = {}
    trees = [each.tree for each in checked if each.tree is not None]
    included = {node.subtree.file for tree in trees for node in tree.root.walk() if node.subtree is not None}
    for each in checked:
        own = fixes.fixable(each.diagnostics, each.sources)
        if each.tree is not None and each.tree.file in included:
            own = [found for found in own if not doubts.alone(found)]
        faults.update(dict.fromkeys(own))
        sources.update(each.sources)
    return list(faults), sources


def mended(text: str, name: str, again: Callable[[str], Checked]) -> tuple[str, int]:
    """Applies the certain fixes repeatedly; returns the text and their number. `again` checks a text; `name` is the
    file that faults name."""
    total = 0
    for _ in range(MOST_ROUNDS):
        own = [fault for fault in gathered([again(text)])[0] if fault.file == name]
        if any(fault.code == "BT002" for fault in own):
            break  # bytes that are no text are nothing to write back
        made, count = fixes.mended(text, own)
        if not count or made == text:
            break
        text, total = made, total + count
    return text, total
