"""Which interlocks a change of a file takes away: rules of policies, properties, consent, limits, bounds and locks of
skills, and what a project allows. What an assistant loosens needs a person's yes.

Everything that is not certainly as strict as before counts as looser. A file that is gone has no interlocks left, and
one that takes the place of an installed file is compared with that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from bt_author.skill_locks import deeds_alike, limits_of, locks_lost
from bt_runtime.language import manifest, project, source
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.loader import Loader
from bt_runtime.language.policies.label import OUTSIDE, Labels
from bt_runtime.language.policies.policy import Policies, meet
from bt_runtime.language.policies.reader import PolicyReader
from bt_runtime.language.source import YamlMap
from bt_runtime.language.spec import TreeSpec
from bt_runtime.types import Json

Sort = Literal["tree", "skills", "project"]
SETTINGS = ("allow", "servers", "kinds", "strict", "journal", "env", "models", "prompts")  # fields of btr.yaml


class Interlocks(NamedTuple):
    """The interlocks of one file."""

    policies: Policies
    properties: Mapping[str, Json]
    skills: Mapping[str, Kind] = {}
    settings: Mapping[str, Json] = {}

    @classmethod
    def of(cls, text: str, sort: Sort, folder: Path | None = None) -> Interlocks:
        root = source.parse(text, sort).root
        top = root if isinstance(root, YamlMap) else None
        said = top.get("properties") if top is not None else None
        held = said.data() if said is not None else None
        kinds = manifest.parse(text, "", folder).kinds if sort == "skills" else []
        data = {name: found.data() for name in SETTINGS if (found := top.get(name) if top is not None else None)}
        return cls(
            Policies(PolicyReader(top.get("policies") if top is not None else None, "", "tree").all),
            {name: _bare(of) for name, of in held.items()} if isinstance(held, dict) else {},
            {kind.name: kind for kind in kinds},
            data if sort == "project" else {},
        )


def loosened(root: Path, path: Path, before: str, after: str, sort: Sort = "tree") -> list[str]:
    """Returns in words what a new text of a file of this project loosens. `after` is "" for a file that goes."""
    if not before.strip():
        shadowed = _installed(root, path, sort)
        before = shadowed.read_text(encoding="utf-8", errors="replace") if shadowed is not None else before
    old, new = Interlocks.of(before, sort, path.parent), Interlocks.of(after, sort, path.parent)
    specs = [Loader(root).text(text, str(path), path.parent).tree for text in (before, after)] if sort == "tree" else []
    others = list(_kinds(root, path)) if sort == "skills" else []
    alone = bool(specs) and not old.policies.all and _alone(specs[1], path)
    return [
        *policies_lost(old.policies, new.policies, alone),
        *(f"the property `{name}` is changed or gone" for name, of in old.properties.items()
          if new.properties.get(name) != of),
        *_sources_lost(*specs),
        *_skills_lost(old.skills, new.skills, others),
        *(f"`{name}` of btr.yaml is changed" for name in SETTINGS if old.settings.get(name) != new.settings.get(name)),
    ]  # fmt: skip


def policies_lost(old: Policies, new: Policies, alone: bool = False) -> Iterator[str]:
    """Yields in words where the new policies allow more. `alone`: no other policy holds beside them, and none held
    before, so that no label of theirs makes another rule weaker."""
    for name in old.named:
        rules, now = old.rules(name), new.rules(name)
        slots = {slot for rule in (*rules, *now) for slot in rule.slots} | {""}
        if _looser(meet(r.start for r in rules), meet(r.start for r in now)) or any(
            _looser(meet(r.of(slot) for r in rules), meet(r.of(slot) for r in now)) for slot in slots
        ):
            yield f"the policy for `{name}` allows more, or is gone"
    for word, was, is_now in (("acts", old.acts, new.acts), ("plans", old.plans, new.plans)):
        if _looser(was, is_now):
            yield f"the policy `{word}` allows more, or is gone"
    if alone:
        return
    for word, more in (("reads", new.reads - old.reads), ("endorse", new.endorsed - old.endorsed)):
        yield from (f"the policy `{word}` names `{name}`" for name in sorted(more))
    for name, was, is_now in _labels(old, new):
        if was != is_now and not (is_now is not None and (is_now >= was if was is not None else OUTSIDE in is_now)):
            yield f"the labels of `{name}` are others, or gone"


def _looser(old: Labels | None, new: Labels | None) -> bool:
    return old is not None and (new is None or not new <= old)


def _labels(old: Policies, new: Policies) -> Iterator[tuple[str, Labels | None, Labels | None]]:
    entries = {name for policy in (*old.all, *new.all) for name in policy.entries}
    yield from ((name, old.entry(name), new.entry(name)) for name in sorted(entries))
    given = {name for policy in (*old.all, *new.all) for name in policy.gives}
    for name in sorted(given):
        skill, _, output = name.partition(".")
        yield name, old.gives(skill, output), new.gives(skill, output)
    yield "world", old.world, new.world
    yield "memory", old.memory, new.memory


def _bare(of: Json) -> Json:
    return {name: value for name, value in of.items() if name != "about"} if isinstance(of, dict) else of


def _skills_lost(old: Mapping[str, Kind], new: Mapping[str, Kind], others: Iterable[Kind]) -> Iterator[str]:
    for name, kind in old.items():
        if name not in new:
            gone = limits_of(kind)
            if gone:
                yield f"the skill `{name}` is gone, and with it {' and '.join(f'`{each}`' for each in gone)}"
            continue
        lost = locks_lost(kind, new[name])
        yield from (f"the skill `{name}` loses its `{each}`, or has a weaker one" for each in lost)
    known = [*old.values(), *others]
    for name, kind in new.items():
        same = old.get(name)
        if same is not None and same.data["entry"].sentence == kind.data["entry"].sentence:
            continue
        for twin in known:
            if twin is not same and deeds_alike(kind, twin):
                has = limits_of(twin)
                lacks = [each for each in locks_lost(twin, kind) if each in has]
                yield from (f"the skill `{name}` does what `{twin.name}` does, without its `{each}`" for each in lacks)


def _sources_lost(old: TreeSpec | None = None, new: TreeSpec | None = None) -> Iterator[str]:
    """Yields the manifests and included trees whose policies or properties do not hold any more."""
    if old is None:
        return
    for word in ("policies", "properties"):
        was, is_now = ({each.file for each in getattr(spec, word, ())} for spec in (old, new))
        for file in sorted(was - is_now - {old.file}):
            why = "the tree does not name it" if new is not None else "the tree is at fault"
            yield f"the {word} of {Path(file).name} hold no more: {why}"


def _alone(spec: TreeSpec | None, path: Path) -> bool:
    return spec is not None and all(each.file == str(path) for each in spec.policies)


def _installed(root: Path, path: Path, sort: Sort) -> Path | None:
    """Returns the installed file whose place a new file of the project takes."""
    if sort == "project":
        return None
    folder: Literal["trees", "skills"] = "trees" if sort == "tree" else "skills"
    home = project.real(root / folder)
    name = project.real(path)
    if not name.is_relative_to(home):
        return None
    relative = name.relative_to(home).with_suffix("")
    found = [place / f"{relative}.yaml" for place in project.installed(folder)]
    return next((each for each in found if each.is_file() and project.real(each) != name), None)


def _kinds(root: Path, path: Path) -> Iterator[Kind]:
    """Yields the skills of the project's other manifests."""
    for other in sorted((root / "skills").rglob("*.yaml")):
        if project.real(other) != project.real(path):
            yield from manifest.read(other).kinds
