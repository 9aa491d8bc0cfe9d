from __future__ import annotations

import re
import xml.dom.minidom
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bt_runtime import load
from bt_runtime.run.view.render import FORMS, Sketch, draw, sketch
from bt_runtime.run.view.render.layout import tidy

TREES = Path(__file__).parents[4] / "trees"
HOSTILE = "<script>x</script> & \"q\" 'a' ]]> --> \x07\x1b[2J \u202e\n| `t` #; {{b}} \\ %%{init}%% \ud800 \ufffe \x00"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("path", sorted(TREES.glob("*.yaml")), ids=lambda p: p.stem)
def test_every_shipped_tree_can_be_drawn_in_every_form(path: Path, form: str) -> None:
    drawn = sketch(load(path).spec)
    text, nodes = draw(drawn, form), [node for node, _ in drawn.walk()]  # type: ignore[arg-type]
    assert [node.kind for node in nodes if node.kind not in text and node is not drawn] == []
    joins = {"dot": " -> ", "mermaid": " ---", "text": "─ ", "svg": '<rect class="box', "pdf": " c S\n"}[form]
    assert text.count(joins) == len(nodes) - (form != "svg")


def test_text_shows_names_fields_guards_branches_and_subtrees() -> None:
    text = draw(sketch(load(TREES / "night_watch.yaml").spec), "text")
    assert "charge (sequence): [when battery < 0.2 or charging]" in text
    assert "set: battery = 1.0, charging = false" in text
    assert "hall → set: found = 0" in text
    assert text.count("on the way to the {room}") == 3


def test_depth_cuts_and_says_how_much_was_cut() -> None:
    text = draw(sketch(load(TREES / "hello.yaml").spec, depth=1), "text")
    assert text.splitlines()[1:] == ["└─ sequence: …3 more below"]


def test_subtrees_can_be_left_out() -> None:
    assert "on the way" not in draw(sketch(load(TREES / "rounds.yaml").spec, subtrees=False), "text")


def test_a_tree_that_contains_itself_is_drawn_once() -> None:
    text = draw(sketch(load(TREES / "countdown.yaml").spec), "text")
    assert text.count("tree: countdown") == 1
    assert "(again)" in text


def _hostile() -> Sketch:
    top = Sketch("tree", "tree", HOSTILE, HOSTILE)
    top.children.append(Sketch("log", "leaf", HOSTILE, HOSTILE, HOSTILE))
    return top


def test_hostile_text_stays_text_in_svg() -> None:
    """The picture parses, and holds no element that the drawing did not put there."""
    text = draw(_hostile(), "svg")
    parsed = xml.dom.minidom.parseString(text.encode())
    names = {e.tagName for e in parsed.getElementsByTagName("*")}
    assert names == {"svg", "title", "style", "rect", "g", "path", "text"}


def test_hostile_text_stays_text_in_mermaid_dot_and_text() -> None:
    label = re.compile(r'"[^"\n]*"')
    for line in draw(_hostile(), "mermaid").splitlines()[1:]:
        assert re.fullmatch(r"  n\d+(\W*|\s---\|)L(\W*|\| n\d+)", label.sub("L", line)), line
    string = re.compile(r'"(?:[^"\\\n]|\\[\\"n])*"')
    for line in draw(_hostile(), "dot").splitlines():
        assert '"' not in string.sub("", line)
    for form in FORMS:
        assert not any(sign in draw(_hostile(), form) for sign in ("\x1b", "\x07", "\x00", "\u202e"))


def test_a_pdf_says_where_each_of_its_objects_begins() -> None:
    """The table of objects, the length of the page's content and the strings hold, whatever a text says."""
    text = draw(_hostile(), "pdf")
    assert text.isascii() and text.startswith("%PDF-1.4\n") and text.endswith("%%EOF\n")
    starts = [int(each) for each in re.findall(r"^(\d{10}) 00000 n $", text, re.MULTILINE)]
    assert len(starts) == 7
    for number, start in enumerate(starts, 1):
        assert text[start:].startswith(f"{number} 0 obj\n")
    assert text[int(text.rsplit("startxref\n", 1)[1].split()[0]) :].startswith("xref\n")
    length, rest = re.search(r"<< /Length (\d+) >>\nstream\n(.*)", text, re.DOTALL).groups()  # type: ignore[union-attr]
    content = rest[: int(length)]
    assert rest[int(length) :].startswith("\nendstream")
    bare = re.sub(r"\((?:[^()\\]|\\\d{3})*\)", "", content)
    assert not set(bare) & set("()\\")


def test_folded_nodes_hide_what_is_below_them() -> None:
    tree = load(TREES / "hello.yaml").spec
    assert draw(sketch(tree, folded=lambda spec: spec is tree.root), "text").splitlines()[1:] == [
        "└─ sequence: …3 more below"
    ]


SHAPES = st.recursive(st.just([]), lambda below: st.lists(below, max_size=5), max_leaves=60)


def _grown(shape: list, widths: list[float]) -> Sketch:  # type: ignore[type-arg]
    node = Sketch("n", "leaf", detail=str(len(widths)))
    widths.append(20.0 + 37 * (len(widths) % 5))
    node.children = [_grown(s, widths) for s in shape]
    return node


@settings(max_examples=200, derandomize=True)
@given(SHAPES)
def test_a_tidy_tree_keeps_its_gaps_order_and_centres(shape: list) -> None:  # type: ignore[type-arg]
    """No two boxes of a level overlap or come closer than the gap, siblings keep their order, and a parent stands
    above the middle of its first and last child."""
    widths: list[float] = []
    top = _grown(shape, widths)
    by_id = {id(node): widths[int(node.detail)] for node, _ in top.walk()}
    boxes = tidy(top, by_id, gap=10)
    assert len(boxes) == len(widths)
    assert min(b.x for b in boxes) == pytest.approx(0)
    middle = {id(b.node): b.x + b.width / 2 for b in boxes}
    for level in {b.level for b in boxes}:
        row = [b for b in boxes if b.level == level]
        ordered = sorted(row, key=lambda b: b.x)
        for left, right in pairwise(ordered):
            assert right.x - (left.x + left.width) >= 10 - 1e-6
    for box in boxes:
        children = [middle[id(c)] for c in box.node.children]
        assert children == sorted(children)
        if children:
            assert middle[id(box.node)] == pytest.approx((children[0] + children[-1]) / 2)


def test_a_chain_of_1000_and_a_row_of_5000_are_laid_out() -> None:
    """Depth does not use up the stack, nor width the patience."""
    top = node = Sketch("n", "leaf")
    for _ in range(1000):
        node.children = [Sketch("n", "leaf")]
        node = node.children[0]
    node.children = [Sketch("n", "leaf") for _ in range(5000)]
    assert draw(top, "svg").count("<rect") == 6002
