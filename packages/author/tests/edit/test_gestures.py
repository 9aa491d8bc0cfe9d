"""Gestures on texts: each means what it says, and leaves every comment and every byte of the rest where it was.

BTR_GESTURES=10000 tries more sequences (`make gestures`).
"""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path

import pytest

from bt_author.edit import moves, swap, values
from bt_author.edit.comments import comments
from bt_author.edit.draft import Draft
from bt_author.edit.history import History, TextChange
from bt_author.edit.lines import Untouchable
from bt_runtime.language.kinds.registry import registry_of
from bt_runtime.language.loader import Loader
from packages.author.tests.edit.gestures import KEEPS, drawn, text

ROOT = Path(__file__).parents[4]
KINDS = registry_of(None)
SHIPPED = [path for path in sorted((ROOT / "trees").rglob("*.yaml")) if "\nroot:" in path.read_text(encoding="utf-8")]
ROUNDS = int(os.environ.get("BTR_GESTURES", "60"))
PATROL = """\
# head
version: 1
tree: patrol   # name
root:
  sequence:   # main
    # first says
    - log: hello   # greet
    - {retry: {times: 3, child: {check: a > 1}}}
    - fallback: [{succeed: {}}, {log: "x # y"}]

    # the last
    - wait: 1
"""


def draft_of(seed: int, draw: random.Random) -> Draft:
    if seed % 2:
        return Draft(text(draw), KINDS)
    path = draw.choice(SHIPPED)
    loaded = Loader()
    tree = loaded.file(path).tree
    return Draft(path.read_text(encoding="utf-8"), tree.registry if tree is not None else KINDS)


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_gestures_keep_comments_and_can_be_undone(seed: int) -> None:
    """Whatever is done to a tree in whatever order: no comment is lost or doubled, and undo gives the first bytes."""
    draw = random.Random(seed)
    draft, history, file = draft_of(seed, draw), History(), Path("t.yaml")
    first = now = draft.text
    for _ in range(8):
        name, gesture = drawn(draw, draft)
        try:
            made = gesture()  # holds the new text to what the gesture means, or raises
        except Untouchable:
            continue
        before, after = Counter(comments(draft.text, draft.top)), Counter(comments(made.text, made.top))
        if name == "copy":
            assert not before - after, name
        elif name in KEEPS:
            assert before == after, (name, draft.text, made.text)
        else:
            assert not after - before, (name, draft.text, made.text)
        history.add(TextChange(name, {file: (draft.text, made.text)}))
        draft, now = made, made.text
    last = now
    while (change := history.back()) is not None:
        assert change.texts[file][1] == now
        now = change.texts[file][0] or ""
    assert now == first
    while (change := history.again()) is not None:
        now = change.texts[file][1] or ""
    assert now == last


def test_what_a_gesture_does_not_touch_keeps_its_bytes() -> None:
    """All lines outside of the moved node stand as they stood."""
    made = moves.move(Draft(PATROL, KINDS), (3,), (), 0).text
    assert made.splitlines()[5:8] == ["    # the last", "    - wait: 1", "    # first says"]
    assert [row for row in PATROL.splitlines() if row.strip()] != [row for row in made.splitlines() if row.strip()]
    assert sorted(PATROL.splitlines()) == sorted(made.splitlines())


def test_a_wrapped_node_has_the_layout_that_fmt_writes() -> None:
    from bt_runtime.language.tidy import tidy

    made = moves.wrap(Draft(PATROL, KINDS), (0,), KINDS["timeout"])
    assert (
        "    - timeout:\n        seconds: 1\n        child:\n          # first says\n          log: hello" in made.text
    )
    assert tidy(made.text) == made.text


def test_several_nodes_are_wrapped_together_and_unwrapped_to_the_same_bytes() -> None:
    plain = Draft(PATROL.replace("{retry: {times: 3, child: {check: a > 1}}}", "check: a > 1"), KINDS)
    made = moves.wrap(plain, (0,), KINDS["sequence"], 2)
    assert moves.unwrap(made, (0,)).text == plain.text


def test_another_kind_keeps_the_nodes_within() -> None:
    """Between control nodes only the word changes; a field that the new kind lacks goes, one that it needs comes."""
    draft = Draft(PATROL, KINDS)
    assert swap.swap(draft, (), KINDS["fallback"]).text == PATROL.replace("  sequence:", "  fallback:")
    made = swap.swap(draft.apart((1, 0)), (1,), KINDS["timeout"]).text
    assert "timeout:" in made and "seconds: 1" in made and "times" not in made


def test_a_field_of_a_short_node_makes_room_for_others() -> None:
    made = values.set_field(Draft(PATROL, KINDS), (0,), "when", '"a > 1"').text
    assert '    - log:\n        text: hello   # greet\n        when: "a > 1"\n' in made


def test_a_text_that_cannot_keep_its_meaning_is_refused_and_left() -> None:
    """An anchor that another place uses: the change would happen twice."""
    draft = Draft("version: 1\ntree: t\nroot:\n  sequence:\n    - &a\n      log: hello\n    - *a\n", KINDS)
    with pytest.raises(Untouchable):
        values.set_field(draft, (0,), "text", "other")


def test_a_tree_needs_its_first_node() -> None:
    with pytest.raises(Untouchable, match="first node"):
        moves.delete(Draft(PATROL, KINDS), ())


def test_of_two_equal_nodes_the_one_that_was_meant_is_moved_with_its_comments() -> None:
    rows = ["# first", "- wait: 1", "- log: x", "# last", "- wait: 1"]
    twins = "\n    ".join(["version: 1\ntree: t\nroot:\n  sequence:", *rows]) + "\n"
    made = moves.move(Draft(twins, KINDS), (2,), (), 0).text
    assert made.splitlines()[4:] == ["    # last", "    - wait: 1", "    # first", "    - wait: 1", "    - log: x"]
    made = moves.move(Draft(twins, KINDS), (0,), (), 3).text
    assert made.splitlines()[4:] == ["    - log: x", "    # last", "    - wait: 1", "    # first", "    - wait: 1"]
