"""Draws a tree as a standalone SVG: light and dark, with selectable text, and no external program."""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

from bt_runtime.language.faults.format import visible
from bt_runtime.run.view.render.layout import Box, tidy
from bt_runtime.run.view.render.sketch import Sketch, cut

ROW, HEIGHT, GAP, MARGIN = 86, 44, 18, 20
TITLE, DETAIL = 8.3, 6.5  # width of a character of each line, generously
NARROWEST, PADDING = 64, 20
LINES = 34  # characters of a detail in a box

_STYLE = """
  .box { fill: #ffffff; stroke: #57606a; stroke-width: 1.2 }
  .control { fill: #ddf4ff; stroke: #0969da } .decorator { fill: #fff8c5; stroke: #9a6700 }
  .skill { fill: #dafbe1; stroke: #1a7f37 } .agent { fill: #fbefff; stroke: #8250df }
  .tree { fill: #eaeef2; stroke: #57606a } .paper { fill: #ffffff }
  .edge { fill: none; stroke: #8c959f; stroke-width: 1.2 }
  text { font-family: ui-sans-serif, system-ui, sans-serif; text-anchor: middle; fill: #1f2328 }
  .title { font-size: 13px; font-weight: 600 } .detail { font-size: 11px; fill: #57606a }
  .place { font-size: 10px; fill: #57606a; paint-order: stroke; stroke: #ffffff; stroke-width: 4px }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117 } .box { fill: #161b22; stroke: #8b949e } .control { fill: #0c2d6b; stroke: #388bfd }
    .decorator { fill: #341a00; stroke: #bb8009 } .skill { fill: #033a16; stroke: #2ea043 }
    .agent { fill: #3c1e70; stroke: #a371f7 } .tree { fill: #21262d; stroke: #8b949e }
    text { fill: #e6edf3 } .detail, .place { fill: #9ea7b3 } .place { stroke: #0d1117 } .edge { stroke: #6e7681 }
  }
"""


class Said(NamedTuple):
    title: str
    detail: str
    width: float


class Drawing(NamedTuple):
    """The boxes of a tree with their words, and the size of the page."""

    boxes: list[Box]
    said: dict[int, Said]
    width: float
    height: float


def laid_out(top: Sketch) -> Drawing:
    said = {id(node): _said(node) for node, _ in top.walk()}
    boxes = tidy(top, {key: s.width for key, s in said.items()}, GAP)
    width = max(b.x + b.width for b in boxes) + 2 * MARGIN
    return Drawing(boxes, said, width, max(b.level for b in boxes) * ROW + HEIGHT + 2 * MARGIN)


def edge(box: Box) -> str:
    """Returns the attributes of a strong edge around a box, without its colour."""
    at = f'x="{MARGIN + box.x:.1f}" y="{MARGIN + box.level * ROW}" width="{box.width:.1f}" height="{HEIGHT}"'
    return f'{at} rx="6" fill="none" stroke-width="3.5"'


def draw(top: Sketch) -> str:
    boxes, said, width, height = laid_out(top)
    name = _escaped(top.name)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="behaviour tree {name}">',
        f"<title>{name}</title>",
        f"<style>{_STYLE}</style>",
        f'<rect class="paper" width="{width:.0f}" height="{height:.0f}"/>',
    ]
    out += [_edge(boxes[b.parent], b) for b in boxes if b.parent >= 0]
    out += [_box(b, said[id(b.node)]) for b in boxes]
    return "\n".join([*out, "</svg>", ""])


def _said(node: Sketch) -> Said:
    title, detail = cut(visible(node.title), LINES), cut(visible(node.detail), LINES)
    wide = max(columns(title) * TITLE, columns(detail) * DETAIL) + PADDING
    return Said(title, detail, max(wide, NARROWEST))


def columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _edge(above: Box, box: Box) -> str:
    x1, y1 = MARGIN + above.x + above.width / 2, MARGIN + above.level * ROW + HEIGHT
    x2, y2 = MARGIN + box.x + box.width / 2, MARGIN + box.level * ROW
    bend = (y1 + y2) / 2
    line = f'<path class="edge" d="M{x1:.1f} {y1}C{x1:.1f} {bend} {x2:.1f} {bend} {x2:.1f} {y2}"/>'
    if not box.node.place:
        return line
    return f'{line}<text class="place" x="{x2:.1f}" y="{y2 - 5}">{_escaped(cut(visible(box.node.place), 16))}</text>'


def _box(box: Box, said: Said) -> str:
    x, y, middle = MARGIN + box.x, MARGIN + box.level * ROW, MARGIN + box.x + box.width / 2
    family = box.node.family if box.node.family in ("control", "decorator", "skill", "agent", "tree") else ""
    radius = {"control": 4, "decorator": 14}.get(box.node.family, 8)
    full = _escaped(visible(box.node.label))
    lines = [f'<g><title>{full}</title><rect class="box {family}" x="{x:.1f}" y="{y}" '
             f'width="{box.width:.1f}" height="{HEIGHT}" rx="{radius}"/>']  # fmt: skip
    lines.append(
        f'<text class="title" x="{middle:.1f}" y="{y + (18 if said.detail else 27)}">{_escaped(said.title)}</text>'
    )
    if said.detail:
        lines.append(f'<text class="detail" x="{middle:.1f}" y="{y + 34}">{_escaped(said.detail)}</text>')
    return "".join([*lines, "</g>"])


def _escaped(text: str) -> str:
    """Escapes for XML: control characters and direction marks become visible codes, five characters become entities."""
    text = visible(text)
    for sign, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#39;")):
        text = text.replace(sign, name)
    return text
