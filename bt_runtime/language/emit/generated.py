"""Writes the generated files: the schemas of `schemas/` and of any project, the pages of `docs/nodes/`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from bt_runtime.language import impls, manifest, project
from bt_runtime.language.emit.dialect import DEFAULT_LIMITS, expansion_schema
from bt_runtime.language.emit.editor import tree_schema
from bt_runtime.language.emit.manifests import manifest_schema
from bt_runtime.language.emit.pages import pages
from bt_runtime.language.guide_header import plan_schema
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.kinds.registry import registry_of, shipped_kinds
from bt_runtime.language.kinds.shape import Schema
from bt_runtime.language.project import disk
from bt_runtime.language.project_file import settings_schema


def project_schema(root: Path | None = None) -> Schema:
    """Returns the schema of a project's tree files.

    The schema covers all available kinds, the project's own skills, and the shipped skills that its trees name. The
    project's skills precede shipped ones of equal name."""
    every = registry_of(root or project.find_root())
    own, others = _skills(_own(root)), [_skills(folder) for folder in project.installed("skills")]
    shipped = {name: kinds for each in reversed(others) for name, kinds in each.items()}
    named = _named(root or project.find_root())
    known = {kind.name for kinds in own.values() for kind in kinds} | every.kinds.keys()
    fitting = [k for kinds in own.values() for k in kinds if k.name not in every]
    used = {name: kinds for name, kinds in shipped.items() if name not in own and name in named}
    fitting += [k for kinds in used.values() for k in kinds if k.name not in known]
    return tree_schema((*every, *fitting), {*own, *shipped})


def _named(root: Path | None) -> set[str]:
    """Returns the manifests that the project's trees list under `skills:`; one that is being named is included."""
    paths = sorted((root / "trees").rglob("*.yaml")) if root else []
    texts = [disk.read_or_nothing(path).decode("utf-8", "replace") for path in paths]
    return {word for text in texts if "skills:" in text for word in re.findall(r"[\w./-]+", text)}


def _own(root: Path | None) -> Path:
    home = root or project.find_root()
    return home / "skills" if home else project.packaged("skills")


def schemas(root: Path | None = None) -> dict[str, Schema]:
    """Returns every schema of a project by file name; without a project, the shipped ones."""
    tree = project_schema(root) if root else _shipped_schema()
    return {
        "tree.schema.json": tree,
        "skills.schema.json": manifest_schema(impls.keys_of(impls.every(ours=root is None))),
        "plan.schema.json": plan_schema(),
        "project.schema.json": settings_schema(),
        "expansion.schema.json": expansion_schema(shipped_kinds(), DEFAULT_LIMITS),
    }


def write(texts: Mapping[Path, str]) -> list[Path]:
    """Writes what has changed; gives the files that it wrote."""
    changed = [path for path, text in texts.items() if disk.read_or_nothing(path) != text.encode()]
    for path in changed:
        disk.folder(path.parent)
        disk.write(path, texts[path])
    return changed


def as_text(schema: Schema) -> str:
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def _shipped_schema() -> Schema:
    shipped = _skills(project.packaged("skills"))
    kinds = [k for kinds in shipped.values() for k in kinds if k.name not in shipped_kinds()]
    return tree_schema((*shipped_kinds(), *kinds), shipped)


def _skills(folder: Path) -> dict[str, list[Kind]]:
    """Returns the skills of each manifest by its name. A faulty manifest gives its readable skills."""
    paths = sorted(folder.rglob("*.yaml")) if folder.is_dir() else []
    return {str(path.relative_to(folder).with_suffix("")): manifest.read(path).kinds for path in paths}


def main() -> int:
    """Writes schemas/ and docs/nodes/ of this checkout; says what has changed."""
    home = Path(__file__).parents[3]
    texts = {home / "schemas" / name: as_text(schema) for name, schema in schemas().items()}
    texts |= {home / "docs" / "nodes" / name: text for name, text in pages(shipped_kinds()).items()}
    changed = write(texts)
    for path in stale(home / "docs" / "nodes", texts):
        path.unlink()
        changed.append(path)
    print("\n".join(str(p.relative_to(home)) for p in changed) or "nothing has changed")
    return 0


def stale(folder: Path, texts: Mapping[Path, str]) -> list[Path]:
    """Lists the pages of kinds that have been removed."""
    return [path for path in sorted(folder.glob("*.md")) if path not in texts]
