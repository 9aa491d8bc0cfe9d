"""The reference pages of the kinds, written from the registry: docs/nodes/."""

from __future__ import annotations

from collections.abc import Iterable

from bt_runtime.language.kinds.kind import COMMON, Family, Field, Kind

_FAMILIES: dict[Family, str] = {
    "control": "Control: which child runs, and what the results make together",
    "decorator": "Decorators: one child, and something done to it",
    "leaf": "Leaves: tests, values, time, text, subtrees",
    "agent": "Agents: decided by a model",
    "skill": "Skills",
}
_TYPES = {
    "node": "a node", "nodes": "a list of nodes", "cases": "a mapping of values to nodes", "word": "a word",
    "expression": "an expression", "key": "the name of an entry", "assignments": "a mapping of entries to values",
    "inputs": "a mapping of ports to values", "outputs": "a mapping of entries to what they may be",
    "text": "text as it stands", "any": "any value",
}  # fmt: skip
_NOTE = "<!-- Written by `python -m bt_runtime.language.emit` from the registry: change it there. -->"


def pages(kinds: Iterable[Kind]) -> dict[str, str]:
    """Returns the pages by file name, the index included."""
    listed = list(kinds)
    return {"README.md": index(listed), **{f"{kind.name}.md": page(kind) for kind in listed}}


def index(kinds: list[Kind]) -> str:
    parts = [_NOTE, "# Nodes", "A page for each kind. What any node may carry is [below](#any-node)."]
    for family, title in _FAMILIES.items():
        rows = [f"| [`{k.name}`]({k.name}.md) | {k.about} |" for k in kinds if k.family == family]
        if rows:
            parts.append(f"## {title}\n\n| kind | what it does |\n|---|---|\n" + "\n".join(rows))
    rest = "Any kind has these fields besides its own. They need the mapping form: `check: {expr: ..., when: ...}`."
    parts.append(f"## Any node\n\n{rest}\n\n{_table(COMMON)}")
    return "\n\n".join(parts) + "\n"


def page(kind: Kind) -> str:
    drawn = f"![{kind.name}, drawn](drawn/{kind.name}.svg)"
    parts = [_NOTE, f"# {kind.name}", kind.about, f"```yaml\n{kind.example}```", drawn]
    if kind.fields:
        parts.append(f"## Fields\n\n{_table(kind.fields)}")
        bare = kind.field(kind.bare) if kind.bare else None
        if bare is not None:
            short = _TYPES.get(bare.type, f"{_article(bare.type)}")
            parts.append(f"In short, `{kind.name}:` may hold {short} alone: that is its `{bare.name}`.")
    else:
        parts.append("It has no fields of its own.")
    if kind.rules:
        parts.append("## Rules\n\n" + "\n".join(f"{n}. {rule}" for n, rule in enumerate(kind.rules, 1)))
    also = notes(kind)
    if also:
        parts.append("## Also\n\n" + "\n".join(f"- {note}" for note in also))
    parts.append("[All nodes](README.md); any of them may also carry [these fields](README.md#any-node).")
    return "\n\n".join(parts) + "\n"


def notes(kind: Kind) -> list[str]:
    notes: list[str] = []
    if kind.waits:
        notes.append(
            "It may be RUNNING by itself: before the last place of a reactive node it is started again and again."
        )
    if kind.reactive:
        notes.append("It is reactive: its tests are made again at every tick.")
    if kind.emit:
        notes.append("A model may write it in an expansion.")
    return notes


def _table(fields: Iterable[Field]) -> str:
    rows = [f"| `{f.name}` | {takes(f)} | {default_of(f)} | {_cell(f.about)} |" for f in fields]
    return "| field | takes | default | |\n|---|---|---|---|\n" + "\n".join(rows)


def takes(field: Field) -> str:
    if field.choices:
        return " or ".join(f"`{c}`" for c in field.choices)
    said = _TYPES.get(field.type, _article(field.type))
    low, high = field.minimum, field.maximum
    if low is not None and high is not None:
        said += f" from {low:g} to {high:g}"
    elif low is not None:
        said += f", {low:g} or more"
    elif high is not None:
        said += f", at most {high:g}"
    return said + "".join(f", or {e}" for e in field.extra)


def default_of(field: Field) -> str:
    if field.required:
        return "must be given"
    return "none" if field.default is None else f"`{_shown(field.default)}`"


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(str, value))}]"
    return '""' if value == "" else str(value)


def _article(type: str) -> str:
    return f"{'an' if type[0] in 'aeiou' else 'a'} {type}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
