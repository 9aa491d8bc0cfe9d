"""Shows a kind of node in the terminal: the content of docs/nodes/, also for a project's skills."""

from __future__ import annotations

from bt_runtime.language import manifest, project
from bt_runtime.language.emit.pages import default_of, notes, takes
from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.language.foreign_names import done, meant
from bt_runtime.language.kinds.kind import COMMON, Field, Kind, Registry
from bt_runtime.language.kinds.registry import registry_of


def known() -> Registry:
    """Returns every kind that a tree of this project may use, with the skills of all manifests."""
    registry = registry_of(project.find_root())
    for name in project.names("skills"):
        path = project.find("skills", name)
        registry = registry.with_kinds(tuple(manifest.read(path).kinds) if path is not None else ())
    return registry


def listed() -> list[str]:
    kinds = list(known())
    width = max(len(kind.name) for kind in kinds)
    families = dict.fromkeys(kind.family for kind in kinds)
    ordered = [kind for family in families for kind in kinds if kind.family == family]
    return [f"{kind.name:<{width}}  {kind.about}" for kind in ordered]


def found(name: str) -> Kind:
    """Raises for a name that no kind has; another library's name leads to ours."""
    registry = known()
    kind = registry.get(name)
    if kind is not None:
        return kind
    ours = meant(name)
    hint = (
        f"{ours.label} `btr explain {ours.kind}`"
        if ours is not None
        else done(name)
        or (did_you_mean(name, registry.kinds, "`btr explain kinds` lists the kinds, `btr explain` the faults"))
    )
    raise BtError(f"there is no kind of node and no fault `{name:.40}`", hint)


def page(kind: Kind) -> str:
    fields = [_line(field, max(len(f.name) for f in kind.fields)) for field in kind.fields]
    rules = [f"  {n}. {rule}" for n, rule in enumerate(kind.rules, 1)]
    bare = f"\n  In short: `{kind.name}:` may hold its `{kind.bare}` alone." if kind.bare else ""
    parts = [
        f"# {kind.name}: {kind.family}",
        kind.about,
        "## Fields\n" + "\n".join(fields or ["  It has no fields of its own."]) + bare,
        f"## Any node\n  {', '.join(f.name for f in COMMON)}",
        "## Rules\n" + "\n".join(rules) if rules else "",
        "## Also\n" + "\n".join(f"  {note}" for note in notes(kind)) if notes(kind) else "",
        f"## Example\n```yaml\n{kind.example}```" if kind.example else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _line(field: Field, width: int) -> str:
    default = default_of(field).replace("`", "")
    said = f"{takes(field).replace('`', '')}; {default if field.required else f'default: {default}'}"
    return f"  {field.name:<{width}}  {field.about}\n  {'':<{width}}  ({said})"


def data(kind: Kind) -> dict[str, object]:
    fields = [
        {"name": f.name, "type": f.type, "takes": takes(f), "required": f.required, "default": f.default,
         "about": f.about} for f in kind.fields
    ]  # fmt: skip
    given = {"kind": kind.name, "family": kind.family, "about": kind.about, "bare": kind.bare}
    return {**given, "fields": fields, "rules": list(kind.rules), "example": kind.example}
