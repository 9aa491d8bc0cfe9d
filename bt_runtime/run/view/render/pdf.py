"""Draws a tree as a PDF of one page, with the boxes of the SVG: lines and text, in the fonts that every reader has.

The text is ASCII throughout. Letters outside of Western Europe's code page become `?`."""

from __future__ import annotations

from bt_runtime.language.faults.format import visible
from bt_runtime.run.view.render.layout import Box
from bt_runtime.run.view.render.sketch import Sketch, cut
from bt_runtime.run.view.render.svg import HEIGHT, MARGIN, ROW, Drawing, Said, laid_out

_COLOURS = {  # (fill, line)
    "control": ("0.87 0.96 1", "0.04 0.41 0.85"), "decorator": ("1 0.97 0.77", "0.6 0.4 0"),
    "skill": ("0.85 0.98 0.88", "0.1 0.5 0.22"), "agent": ("0.98 0.94 1", "0.51 0.31 0.87"),
    "tree": ("0.92 0.93 0.95", "0.34 0.38 0.42"),
}  # fmt: skip
_PLAIN = ("1 1 1", "0.34 0.38 0.42")
_RADIUS = {"control": 4, "decorator": 14}
_ROUND = 0.5523  # share of a radius at which a Bézier curve is nearly a quarter circle
# widths of Helvetica's letters from the space to `~`, in thousandths of the size
_WIDTHS = """
278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 278 584 584
584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 667 667 611 278
278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 278 556 500 722 500 500
500 334 260 334 584
"""
_REGULAR = tuple(map(int, _WIDTHS.split()))
_BOLDER = 1.06  # about: how much wider the bold letters are


def draw(top: Sketch) -> str:
    drawing = laid_out(top)
    height = drawing.height
    rows = ["1 w", "0.55 0.58 0.62 RG"]
    rows += [_edge(drawing.boxes[box.parent], box, height) for box in drawing.boxes if box.parent >= 0]
    for box in drawing.boxes:
        rows += _box(box, drawing.said[id(box.node)], height)
    return _file(drawing, "\n".join(rows), top.name)


def _edge(above: Box, box: Box, height: float) -> str:
    x1, y1 = MARGIN + above.x + above.width / 2, height - (MARGIN + above.level * ROW + HEIGHT)
    x2, y2 = MARGIN + box.x + box.width / 2, height - (MARGIN + box.level * ROW)
    bend = (y1 + y2) / 2
    return f"{x1:.1f} {y1:.1f} m {x1:.1f} {bend:.1f} {x2:.1f} {bend:.1f} {x2:.1f} {y2:.1f} c S"


def _box(box: Box, said: Said, height: float) -> list[str]:
    x, y = MARGIN + box.x, height - (MARGIN + box.level * ROW) - HEIGHT
    middle = x + box.width / 2
    fill, line = _COLOURS.get(box.node.family, _PLAIN)
    rows = [f"{fill} rg {line} RG", _rounded(x, y, box.width, _RADIUS.get(box.node.family, 8))]
    rows.append(_text(said.title, middle, y + HEIGHT - (18 if said.detail else 27), 13, "0.12 0.14 0.16", bold=True))
    if said.detail:
        rows.append(_text(said.detail, middle, y + HEIGHT - 34, 11, "0.34 0.38 0.42"))
    if box.node.place:
        rows.append(_text(cut(visible(box.node.place), 16), middle, y + HEIGHT + 5, 10, "0.34 0.38 0.42"))
    return rows


def _rounded(x: float, y: float, width: float, radius: float) -> str:
    right, top, k = x + width, y + HEIGHT, radius * (1 - _ROUND)
    ends = [(x + radius, y), (right - radius, y), (right, y + radius), (right, top - radius)]
    ends += [(right - radius, top), (x + radius, top), (x, top - radius), (x, y + radius)]
    bends = (((right - k, y), (right, y + k)), ((right, top - k), (right - k, top)),
             ((x + k, top), (x, top - k)), ((x, y + k), (x + k, y)))  # fmt: skip
    rows = [f"{_points(ends[0])} m"]
    for corner, bend in enumerate(bends):
        rows.append(f"{_points(ends[2 * corner + 1])} l")
        rows.append(f"{_points(*bend, ends[(2 * corner + 2) % 8])} c")
    return " ".join([*rows, "b"])


def _points(*points: tuple[float, float]) -> str:
    return " ".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _text(text: str, middle: float, y: float, size: int, colour: str, bold: bool = False) -> str:
    data = visible(text).encode("cp1252", "replace")
    wide = (
        sum(_REGULAR[code - 32] if 32 <= code < 127 else 556 for code in data) * size / 1000 * (_BOLDER if bold else 1)
    )
    said = _string(data)
    return f"BT {colour} rg /{'B' if bold else 'R'} {size} Tf {middle - wide / 2:.1f} {y:.1f} Td {said} Tj ET"


def _string(data: bytes) -> str:
    return "(" + "".join(chr(c) if 32 <= c < 127 and chr(c) not in "()\\" else f"\\{c:03o}" for c in data) + ")"


def _file(drawing: Drawing, content: str, name: str) -> str:
    """Puts the objects of the file together, with the table of where each begins."""
    fonts = (f"<< /Type /Font /Subtype /Type1 /BaseFont /{font} /Encoding /WinAnsiEncoding >>"
             for font in ("Helvetica", "Helvetica-Bold"))  # fmt: skip
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {drawing.width:.0f} {drawing.height:.0f}] /Contents 4 0 R "
        "/Resources << /Font << /R 5 0 R /B 6 0 R >> >> >>",
        f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
        *fonts,
        f"<< /Title {_string(visible(name).encode('cp1252', 'replace'))} /Producer (bt_runtime) >>",
    ]
    text, starts = "%PDF-1.4\n", list[int]()
    for number, each in enumerate(objects, 1):
        starts.append(len(text))
        text += f"{number} 0 obj\n{each}\nendobj\n"
    table = "".join(f"{start:010d} 00000 n \n" for start in starts)
    end = (
        f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>\nstartxref\n{len(text)}\n%%EOF\n"
    )
    return f"{text}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{end}"
