"""What is written out from the registry: the schemas of `schemas/` and of any project, the pages of `docs/nodes/`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from bt_runtime import project
from bt_runtime.schema.dialect import DEFAULT_BUDGET, expansion_schema
from bt_runtime.schema.editor import tree_schema
from bt_runtime.schema.kind import Kind
from bt_runtime.schema.manifests import manifest_schema
from bt_runtime.schema.pages import pages
from bt_runtime.schema.registry import BUILT_IN
from bt_runtime.schema.shape import Schema
from bt_runtime.skills import manifest


def project_schema(root: Path | None = None) -> Schema:
    """The schema of a project's tree files: the built-in kinds, and the skills of every manifest it can see."""
    names, kinds = _skills(project.folders("skills", root))
    return tree_schema((*BUILT_IN, *(k for k in kinds if k.name not in BUILT_IN)), names)


def schemas(root: Path | None = None) -> dict[str, Schema]:
    """Every schema of a project by its file name; without a project those that are shipped."""
    tree = project_schema(root) if root else _shipped_schema()
    return {
        "tree.schema.json": tree,
        "skills.schema.json": manifest_schema(),
        "expansion.schema.json": expansion_schema(BUILT_IN, DEFAULT_BUDGET),
    }


def write(texts: Mapping[Path, str]) -> list[Path]:
    """Writes what has changed; gives the files that it wrote."""
    changed = [path for path, text in texts.items() if not path.is_file() or path.read_text("utf-8") != text]
    for path in changed:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(texts[path], "utf-8")
    return changed


def as_text(schema: Schema) -> str:
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def _shipped_schema() -> Schema:
    names, kinds = _skills([project.packaged("skills")])
    return tree_schema((*BUILT_IN, *(k for k in kinds if k.name not in BUILT_IN)), names)


def _skills(folders: list[Path]) -> tuple[list[str], list[Kind]]:
    """The manifests' names and their skills; one that is at fault gives what could be read of it."""
    found: dict[str, list[Kind]] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*.yaml")) if folder.is_dir() else ():
            name = str(path.relative_to(folder).with_suffix(""))
            if name not in found:
                found[name] = manifest.read(path).kinds
    return list(found), [kind for kinds in found.values() for kind in kinds]


def main() -> int:
    """Writes schemas/ and docs/nodes/ of this checkout; says what has changed."""
    home = Path(__file__).parent.parent
    texts = {home / "schemas" / name: as_text(schema) for name, schema in schemas().items()}
    texts |= {home / "docs" / "nodes" / name: text for name, text in pages(BUILT_IN).items()}
    changed = write(texts)
    for path in stale(home / "docs" / "nodes", texts):
        path.unlink()
        changed.append(path)
    print("\n".join(str(p.relative_to(home)) for p in changed) or "nothing has changed")
    return 0


def stale(folder: Path, texts: Mapping[Path, str]) -> list[Path]:
    """Pages of kinds that are no more."""
    return [path for path in sorted(folder.glob("*.md")) if path not in texts]
