"""Finds a trial's tree, and the skills that its nodes need."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bt_runtime.language import manifest, source
from bt_runtime.language import project as projects
from bt_runtime.language.entry import SkillEntry, skill_kind
from bt_runtime.language.faults.diagnostic import BtError, Faults, nearest
from bt_runtime.language.kinds.kind import Field, Kind
from bt_runtime.language.spec import NodeSpec, TreeSpec
from bt_runtime.run.debug.script import Script
from bt_runtime.run.run import Tree, load
from bt_runtime.skills.skill import fields_of

_HEAD = re.compile(r"(\w+)(?:\(([\w\s,]*)\))?")


def scripts_of(skills: Mapping[str, Any]) -> dict[str, Script]:
    """Returns the scripts by skill name, in the order given."""
    found = {}
    for head, acts in skills.items():
        said = _HEAD.fullmatch(head.strip())
        if said is None:
            raise BtError(f"`{head}` names no skill", "write `go_to`, or with its parameters `go_to(place, speed)`")
        found[said[1]] = acts if isinstance(acts, Script) else Script(acts)
    return found


def loaded(text: str | Path | Tree, skills: Mapping[str, Any], project: Path | str | None) -> Tree:
    """Loads the tree. Skills that none of its manifests declares are declared by their scripts."""
    if isinstance(text, Tree):
        return text
    try:
        return load(text, project=project)
    except Faults:
        declared = _declared(text, Path(project) if project else None)
        heads = {head: _HEAD.fullmatch(head.strip()) for head in skills}
        kinds = [_kind(h[1], h[2], skills[head]) for head, h in heads.items() if h and h[1] not in declared]
        if not kinds:
            raise
    return load(text, skills=kinds, project=project)


def _kind(name: str, params: str | None, acts: Any) -> Kind:
    """Makes the kind of a scripted skill, from `go_to(place, speed)` or the signature of a function."""
    listed = acts.acts if isinstance(acts, Script) else acts if isinstance(acts, list) else [acts]
    act = listed[0] if listed else None
    fields = fields_of(act, name) if callable(act) and not isinstance(act, type) else ()
    if params is not None:
        fields = tuple(Field(p.strip(), "any", "") for p in params.split(",") if p.strip())
    sentence = " ".join([name.replace("_", " "), *(f"{{{f.name}}}" for f in fields)])
    return skill_kind(name, "", fields, SkillEntry(sentence, "python", "", {}))


def _declared(text: str | Path, root: Path | None) -> set[str]:
    """Returns the skills that the tree's own manifests declare."""
    if isinstance(text, str) and "\n" in text:
        document = source.parse(text, "tree")
    else:
        path = Path(text)
        found = path if path.is_file() else projects.find_tree(str(text), root).path
        if found is None:
            return set()
        document = source.read(found, str(found))
    listed = document.root.get("skills") if isinstance(document.root, source.YamlMap) else None
    names: set[str] = set()
    for item in listed if isinstance(listed, source.YamlList) else ():
        where = projects.find("skills", item.text, root=root) if isinstance(item, source.Scalar) else None
        if where is not None:
            names |= {kind.name for kind in manifest.read(where).kinds}
    return names


def trees_of(tree: TreeSpec) -> Iterator[TreeSpec]:
    """Yields the tree and all trees that it includes, each once."""
    seen: set[int] = set()
    todo = [tree]
    while todo:
        each = todo.pop()
        if id(each) not in seen:
            seen.add(id(each))
            yield each
            todo.extend(node.subtree for node in each.root.walk() if node.subtree is not None)


def nodes_of(tree: TreeSpec) -> Iterator[NodeSpec]:
    for each in trees_of(tree):
        yield from each.root.walk()


def skills_of(tree: TreeSpec) -> dict[str, Kind]:
    """Returns the skills that the tree uses as nodes."""
    return {node.kind.name: node.kind for node in nodes_of(tree) if node.kind.family == "skill"}


def given_by(tree: TreeSpec, impls: set[str]) -> set[str]:
    """Returns the skills of the objects that a test passes in, such as its own world."""
    kinds = (kind for each in trees_of(tree) for kind in each.registry if kind.family == "skill")
    return {kind.name for kind in kinds if kind.data["entry"].impl in impls}


def misnamed(scripts: Mapping[str, Script], used: Mapping[str, Kind], allowed: set[str]) -> None:
    """Raises when a script seems to name a skill that does not exist."""
    left = [name for name in used if name not in scripts and name not in allowed]
    for name in scripts if "*" not in allowed else ():
        close = nearest(name, left) if name not in used else None
        if close:
            raise BtError(f"`{name}` is scripted, and no node of the tree is called so", f"did you mean `{close}`?")
