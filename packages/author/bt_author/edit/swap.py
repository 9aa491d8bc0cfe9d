"""Changes the kind of a node; makes a new node of a kind."""

from __future__ import annotations

from bt_author.edit import values
from bt_author.edit.draft import Draft, reach
from bt_author.edit.lines import Untouchable
from bt_author.edit.moves import node_of, orphans, placed_apart, put
from bt_author.edit.outline import Item, Path, is_bare
from bt_runtime.language.fixes import sample
from bt_runtime.language.kinds.kind import COMMON_NAMES, Field, Kind
from bt_runtime.language.source import YamlMap


def swap(draft: Draft, path: Path, kind: Kind) -> Draft:
    """Changes the kind of this node; its children and the fields that both kinds share stay."""
    item = draft.item(path)
    data = draft.data()
    inside = reach(data, item.data)
    old = item.kind
    here, there = _into(old), _into(kind)
    plain = isinstance(item.value, YamlMap) and not (old and old.bare and _stands_bare(item))
    if here is not None and there is not None and here.type == there.type:
        lacking = [
            f for f in kind.fields if f.required and f is not there and not (plain and f.name in inside[item.key.text])
        ]
        lost = (
            [k.text for k, _ in item.value.pairs if not _knows(kind, k.text) and k.text != here.name]
            if plain and isinstance(item.value, YamlMap)
            else []
        )
        if not lacking and not lost and (not plain or here.name == there.name) and (plain or kind.bare == there.name):
            renamed = draft.text[: item.key.start.index] + kind.name + draft.text[item.key.end.index :]
            inside[kind.name] = inside.pop(item.key.text)
            return draft.means(renamed, data)
        return _rebuilt(draft, path, kind, here, there, lost, lacking, plain)
    if here is None and there is None:
        rows = fresh(kind)
        placed_item, where, draft = placed_apart(draft, path)
        body, meant = node_of(rows)
        return put(draft, placed_item, where, [[*orphans(draft, where, []), *body]], [meant])
    raise Untouchable(f"`{kind.name}` holds nodes otherwise than `{item.key.text}`", "wrap or unwrap it")


def _stands_bare(item: Item) -> bool:
    bare = item.kind.field(item.kind.bare) if item.kind is not None and item.kind.bare else None
    return bare is not None and item.kind is not None and is_bare(bare, item.kind, item.value)


def _knows(kind: Kind, name: str) -> bool:
    return kind.field(name) is not None or name in COMMON_NAMES


def _into(kind: Kind | None) -> Field | None:
    return next((f for f in kind.node_fields if f.type in ("nodes", "node")), None) if kind is not None else None


def _rebuilt(
    draft: Draft, path: Path, kind: Kind, here: Field, there: Field, lost: list[str], lacking: list[Field], plain: bool
) -> Draft:
    """Rebuilds the fields: those unknown to the new kind are removed, required ones are added."""
    if not plain:
        draft = values.named_bare(draft, path)
    for name in lost:
        draft = values.remove_field(draft, path, name)
    if here.name != there.name:
        draft = values.rename_field(draft, path, here.name, there.name)
    draft = draft.apart(path)
    item = draft.item(path)
    data = draft.data()
    inside = reach(data, item.data)
    inside[kind.name] = inside.pop(item.key.text)
    text = draft.text[: item.key.start.index] + kind.name + draft.text[item.key.end.index :]
    draft = draft.means(text, data)
    for field in lacking:
        draft = values.set_field(draft, path, field.name, sample(field))
    return draft


def fresh(kind: Kind) -> str:
    """Makes a node of this kind, with its required fields, which somebody has to fill: until then they are faults. A
    control node is empty, and a decorator has a child that succeeds."""
    needed = [f for f in kind.fields if f.required] or [f for f in kind.fields if f.name in kind.one_of[:1]]
    if not needed:
        return f"{kind.name}: {{}}"
    if len(needed) == 1 and kind.bare == needed[0].name:
        return f"{kind.name}: {_value(needed[0])}".rstrip()
    return "\n".join([f"{kind.name}:", *(f"  {f.name}: {_value(f)}".rstrip() for f in needed)])


def _value(field: Field) -> str:
    if field.type == "nodes":
        return "[]"
    return sample(field) if field.type in _FILLED else ""


_FILLED = frozenset({"node", "cases", "inputs", "outputs"})
