"""A tree for drawing: name, kind and a few words for each node; nothing in it can run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from bt_runtime.language.expression import Expression
from bt_runtime.language.spec import label
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.language.spec import NodeSpec, TreeSpec

WIDEST = 60  # characters of a detail


class Sketch:
    """A node for drawing."""

    __slots__ = ("children", "detail", "family", "kind", "name", "place")

    def __init__(self, kind: str, family: str, name: str = "", detail: str = "", place: str = "") -> None:
        self.kind = kind
        self.family = family
        self.name = name  # the file's name as a person gave it
        self.detail = detail
        self.place = place  # the field it stands in, where that tells something: `then`, `catch`
        self.children: list[Sketch] = []

    @property
    def title(self) -> str:
        return f"{self.name} ({self.kind})" if self.name and self.name != self.kind else self.kind

    @property
    def label(self) -> str:
        """Title and detail on one line."""
        said = f"{self.title}: {self.detail}" if self.detail else self.title
        return f"{self.place} → {said}" if self.place else said

    def walk(self) -> Iterator[tuple[Sketch, int]]:
        """This node and all below with their depth, parents first."""
        todo = [(self, 0)]
        while todo:
            node, depth = todo.pop()
            yield node, depth
            todo.extend((child, depth + 1) for child in reversed(node.children))


def sketch(
    tree: TreeSpec, depth: int | None = None, subtrees: bool = True, folded: Callable[[NodeSpec], bool] | None = None
) -> Sketch:
    """Sketches a tree. `depth` limits the depth, `folded` chooses nodes that hide what is below them; the sketch notes
    how much was left out."""
    top = Sketch("tree", "tree", tree.name, tree.about)
    todo: list[tuple[NodeSpec, str, Sketch, int]] = [(tree.root, "", top, 1)]
    while todo:
        spec, place, above, level = todo.pop()
        drawn, inner = _drawn(spec, place)
        above.children.append(drawn)
        below = [(child, label(field)) for child, field in zip(inner.children, inner.places, strict=True)]
        if subtrees and inner.subtree is not None:
            below.append((inner.subtree.root, ""))
        if below and ((depth is not None and level >= depth) or (folded is not None and folded(inner))):
            drawn.detail = f"{drawn.detail} …{_count(inner, subtrees) - 1} more below".strip()
        else:
            todo.extend((child, at, drawn, level + 1) for child, at in reversed(below))
    return top


def of_node(spec: NodeSpec) -> Sketch:
    """Sketches a node by itself, with the guard around it."""
    return _drawn(spec, "")[0]


def _drawn(spec: NodeSpec, place: str) -> tuple[Sketch, NodeSpec]:
    """The sketch of a node, and the node itself when a guard stands around it."""
    notes: list[str] = []
    while spec.kind.transparent:
        notes += [f"{name} {spec.values[name].text}" for name in ("when", "unless") if name in spec.values]
        notes += [
            f"{name} {asked.kind.name} {words(asked)}".strip() for name in sorted(spec.asks) if (asked := spec.at(name))
        ]
        notes += [f"{name} sets {', '.join(value)}" for name, value in spec.values.items() if name.startswith("on_")]
        spec = spec.children[0]
    detail = [words(spec), *(f"[{note}]" for note in notes)]
    if spec.again is not None:
        detail.append("(again)")
    return Sketch(spec.kind.name, spec.kind.family, spec.name or "", cut(" ".join(d for d in detail if d)), place), spec


def words(spec: NodeSpec) -> str:
    """Describes the given fields: the main field without its name, defaults left out."""
    found = []
    for name, value in spec.values.items():
        field = spec.kind.field(name)
        if field is None or (not field.required and value == field.default):
            continue
        said = value.text if field.type == "expression" and isinstance(value, Expression) else _said(value)
        found.append(said if name == spec.kind.bare else f"{name} {said}")
    return ", ".join(found)


def _said(value: Json) -> str:
    if isinstance(value, Expression):
        return f"{{{value.text}}}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {_said(inside)}" for key, inside in value.items())
    if isinstance(value, list):
        return f"[{', '.join(_said(v) for v in value)}]"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if hasattr(value, "shape"):
        return _said(value.shape)
    return " ".join(str(getattr(value, "text", value)).split())


def _count(spec: NodeSpec, subtrees: bool) -> int:
    total, todo = 0, [spec]
    while todo:
        node = todo.pop()
        total += not node.kind.transparent
        todo.extend(node.children)
        if subtrees and node.subtree is not None:
            todo.append(node.subtree.root)
    return total


def cut(text: str, widest: int = WIDEST) -> str:
    return text if len(text) <= widest else f"{text[: widest - 1]}…"
