"""A tidy tree: parents above the middle of their children, no two boxes closer than the gap, as narrow as that allows.

The outline of each subtree (its leftmost and rightmost edge on every level) is kept relative to its root, so that two
neighbours are pushed apart by what their outlines need. Iterative: depth is bounded by the language, not by the stack.
"""

from __future__ import annotations

from typing import NamedTuple

from bt_runtime.run.view.render.sketch import Sketch


class Box(NamedTuple):
    node: Sketch
    x: float  # the left edge
    width: float
    level: int
    parent: int  # the parent's place among the boxes; -1: none


class _Outline:
    """The left and right edge of each level, the root's first, relative to the middle of the root."""

    __slots__ = ("left", "right")

    def __init__(self, half: float) -> None:
        self.left, self.right = [-half], [half]


def tidy(top: Sketch, widths: dict[int, float], gap: float) -> list[Box]:
    """Returns every node's box, parents first. `widths`: by id of the node. The leftmost edge is at 0."""
    nodes = [node for node, _ in top.walk()]
    shifts: dict[int, float] = {}  # a child's middle relative to its parent's
    outlines: dict[int, _Outline] = {}
    for node in reversed(nodes):
        outlines[id(node)] = _joined(node, widths[id(node)] / 2, outlines, shifts, gap)
    whole = outlines[id(top)]
    middle: dict[int, float] = {id(top): -min(whole.left)}
    places = {id(top): (0, -1)}
    boxes: list[Box] = []
    for node in nodes:
        level, parent = places[id(node)]
        width = widths[id(node)]
        for child in node.children:
            middle[id(child)] = middle[id(node)] + shifts[id(child)]
            places[id(child)] = (level + 1, len(boxes))
        boxes.append(Box(node, middle[id(node)] - width / 2, width, level, parent))
    return boxes


def _joined(node: Sketch, half: float, outlines: dict[int, _Outline], shifts: dict[int, float], gap: float) -> _Outline:
    """Puts the subtrees of a node side by side and itself above their middle."""
    mine = _Outline(half)
    if not node.children:
        return mine
    first, *others = node.children
    joint = outlines.pop(id(first))  # outline of the children so far, from the first one's middle
    at = {id(first): 0.0}
    for child in others:
        outline = outlines.pop(id(child))
        shift = max(end - start for end, start in zip(joint.right, outline.left, strict=False)) + gap
        at[id(child)] = shift
        _merge(joint, outline, shift)
    centre = (at[id(first)] + at[id(node.children[-1])]) / 2
    for child in node.children:
        shifts[id(child)] = at[id(child)] - centre
    mine.left += [edge - centre for edge in joint.left]
    mine.right += [edge - centre for edge in joint.right]
    return mine


def _merge(joint: _Outline, outline: _Outline, shift: float) -> None:
    for level, (left, right) in enumerate(zip(outline.left, outline.right, strict=True)):
        if level < len(joint.left):
            joint.left[level] = min(joint.left[level], left + shift)
            joint.right[level] = max(joint.right[level], right + shift)
        else:
            joint.left.append(left + shift)
            joint.right.append(right + shift)
