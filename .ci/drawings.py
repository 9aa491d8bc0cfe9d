"""Draws the trees of the documentation: the example of each kind, each whole tree that stands in a page, and the run of
the README's first program.

`python .ci/drawings.py` writes docs/nodes/drawn/ and docs/drawn/, and a line below each block that shows its drawing.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import bt_runtime as bt  # noqa: E402
from bt_runtime.events import Feedback, Placed, Tick  # noqa: E402
from bt_runtime.language.kinds.registry import shipped_kinds  # noqa: E402
from bt_runtime.language.loader import Loader  # noqa: E402
from bt_runtime.run.view.notebook import COLOURS  # noqa: E402
from bt_runtime.run.view.render import Sketch, draw, sketch  # noqa: E402
from bt_runtime.run.view.render.svg import edge, laid_out  # noqa: E402
from tests.language.kinds.samples import DOCK, MANIFEST, tree_text  # noqa: E402

DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.glob("*.md") if path.name not in ("faults.md", "api.md"))
FENCE = r'^```(?:yaml|python)(?: title="([^"]+)")?[^\n]*\n(.*?)^```\n'
BLOCK = re.compile(FENCE + r"(?:\n!\[[^\]]*\]\(drawn/[^)]*\)\n)?", re.MULTILINE | re.DOTALL)
WHOLE = re.compile(r"^tree: *([\w.-]+) *$", re.MULTILINE)


def examples(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yields the drawing of each kind's example, with the files that some of them name beside it."""
    (folder / "dock.yaml").write_text(DOCK, "utf-8")
    (folder / "house.yaml").write_text(MANIFEST, "utf-8")
    for kind in shipped_kinds():
        text = tree_text(kind.example).replace("tree: t\n", f"tree: {kind.name}\n", 1)
        (folder / "example.yaml").write_text(text, "utf-8")
        tree = Loader(folder).file(folder / "example.yaml").tree
        assert tree is not None, f"the example of {kind.name} is at fault"
        top = sketch(tree, None, False)
        yield (
            DOCS / "nodes" / "drawn" / f"{kind.name}.svg",
            draw(top.children[0] if len(top.children) == 1 else top, "svg"),
        )


SHIPPED = re.compile(r"\(drawn/gallery-(\w+)\.svg\)")


def gallery() -> Iterator[tuple[Path, str]]:
    """Yields the drawings of the shipped trees that the gallery shows."""
    for name in SHIPPED.findall((DOCS / "gallery.md").read_text("utf-8")):
        yield DOCS / "drawn" / f"gallery-{name}.svg", draw(sketch(bt.load(name).spec, 6, False), "svg")


def shown(page: Path, folder: Path) -> tuple[str, dict[Path, str]]:
    """Returns a page's text with a line for each of its drawings, and the drawings. Its files are laid out as it names
    them; a tree that is at fault, as some are on purpose, has no drawing."""
    drawings: dict[Path, str] = {}
    skills: list[Any] = []  # those that the page's Python lists

    def with_drawing(block: re.Match[str]) -> str:
        name, text = block[1], block[2]
        fence = block[0][: block[0].index("```\n", 3) + 4]
        if name:
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, "utf-8")
        if "\nSKILLS = [" in text:
            own: dict[str, Any] = {"__name__": "own"}
            exec(compile(text, str(name), "exec"), own)
            skills.extend(own["SKILLS"])
        named = WHOLE.search(text)
        if named is None or "\nroot:" not in text:
            return fence
        place = folder / (name or "trees/shown.yaml")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
        try:
            tree = bt.load(place, skills=skills).spec
        except bt.Faults:
            return fence
        at = DOCS / "drawn" / f"{page.stem}-{named[1]}.svg"
        drawings[at] = draw(sketch(tree, None, False), "svg")
        return f"{fence}\n![{named[1]}, drawn](drawn/{at.name})\n"

    return BLOCK.sub(with_drawing, page.read_text("utf-8")), drawings


class Frame(NamedTuple):
    """What a tick left: the status of each node by its number, and what the skills said in it."""

    statuses: dict[int, str]
    words: str


def played(program: str) -> tuple[Sketch, list[Placed], list[Frame]]:
    """Runs a program of one tree; returns the tree, its nodes as listeners see them, and a frame for each tick."""
    runs: list[bt.Run] = []
    nodes: list[Placed] = []
    numbers: dict[int, int] = {}
    statuses: dict[int, str] = {}
    frames: list[Frame] = []
    words: list[str] = []

    class Watched(bt.Run):
        def __init__(self, tree: bt.Tree, *rest: Any, **named: Any) -> None:
            super().__init__(tree, *rest, **named)
            runs.append(self)
            note(self.parts.engine.standing())
            frames.clear()
            self.listen(note, Tick)
            self.listen(lambda heard: words.append(heard.text), Feedback)

    def note(tick: Tick) -> None:
        if tick.shape is not None:
            nodes.extend(tick.shape.add)
            numbers.update({id(counted.node): counted.number for counted in tick.shape.nodes})
        for node in tick.resets:
            statuses.pop(numbers[id(node)], None)
        for node, status in tick.changes:
            statuses[numbers[id(node)]] = status.name.lower()
        for node, _ in tick.halts:
            statuses.pop(numbers[id(node)], None)
        told, words[:] = list(words), []
        frames.append(Frame(dict(statuses), told[-1] if told else ""))

    own = bt.Run
    bt.Run = Watched  # type: ignore[misc]
    try:
        exec(compile(program, "README.md", "exec"), {"__name__": "readme", "print": lambda *_: None})
    finally:
        bt.Run = own  # type: ignore[misc]
    return sketch(runs[0].parts.tree.spec, None, False), nodes, frames


EACH = 1.1  # seconds that a tick is shown


def moving(program: str) -> str:
    """Returns the drawing of a run as it goes: the edge of each box tells its status, tick by tick."""
    top, nodes, frames = played(program)
    guards = {
        node.parent: node.number for node in nodes if node.segment == "."
    }  # drawn as one box with what they guard
    shown = [node.number for node in nodes if node.number not in guards.values()]
    drawn = [node for node, _ in top.walk()][-len(shown) :]
    places = {id(node): number for node, number in zip(drawn, shown, strict=True)}
    length = EACH * (len(frames) + 1)  # the end stands twice as long
    rules, out = [], []

    def steps(values: Sequence[str]) -> str:
        """Returns the steps of an animation, each of which stands until the next one."""
        at = [f"{100 * number * EACH / length:.2f}% {{ {value} }}" for number, value in enumerate(values)]
        return " ".join([*at, f"100% {{ {values[-1]} }}"])

    picture = laid_out(top)
    lines = draw(top, "svg").splitlines()
    for box in picture.boxes:
        number = places.get(id(box.node))
        if number is not None:
            edges = [frame.statuses.get(number, "") for frame in frames]
            look = [f"stroke: {COLOURS.get(each.upper(), 'transparent')}" for each in edges]
            rules.append(f"@keyframes n{number} {{ {steps(look)} }}")
            goes = f"animation: n{number} {length:.1f}s step-end infinite"
            out.append(f'<rect {edge(box)} style="{goes}"/>')
    for number, frame in enumerate(frames):
        look = [f"opacity: {int(number == other)}" for other in range(len(frames))]
        rules.append(f"@keyframes t{number} {{ {steps(look)} }}")
        words = f"tick {number + 1}" + (f": {frame.words}" if frame.words else "")
        out.append(
            f'<text class="detail" x="{picture.width / 2:.0f}" y="{picture.height + 4:.0f}" opacity="0" '
            f'style="animation: t{number} {length:.1f}s step-end infinite">{escape(words)}</text>'
        )
    height = picture.height + 20
    text = "\n".join([*lines[:-1], *out, lines[-1], ""])
    text = text.replace("</style>", "  " + "\n  ".join(rules) + "\n</style>", 1)
    size = f'width="{picture.width:.0f}" height="{height:.0f}"'
    text = re.sub(r'width="[\d.]+" height="[\d.]+"', size, text, count=1)
    text = re.sub(r'viewBox="0 0 [\d.]+ [\d.]+"', f'viewBox="0 0 {picture.width:.0f} {height:.0f}"', text, count=1)
    return re.sub(r'<rect class="paper" [^>]*/>', f'<rect class="paper" {size}/>', text, count=1)


def everything() -> Mapping[Path, str]:
    """Returns each file of the documentation that is drawn or shows a drawing, with its text."""
    texts: dict[Path, str] = {}
    for page in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "btr.yaml").touch()
            os.chdir(folder)
            texts[page], drawings = shown(page, Path(folder))
            texts |= drawings
            os.chdir(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        texts |= dict(examples(Path(folder)))
    texts |= dict(gallery())
    program = re.search(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert program is not None
    texts[DOCS / "drawn" / "run.svg"] = moving(program[1])
    return texts


def main() -> None:
    texts = everything()
    for folder in (DOCS / "drawn", DOCS / "nodes" / "drawn"):
        folder.mkdir(exist_ok=True)
        for path in set(folder.glob("*.svg")) - texts.keys():
            path.unlink()
    for path, text in texts.items():
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
