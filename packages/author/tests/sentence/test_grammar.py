"""Every shipped tree, and every tree of an example project, can be written under the grammar of whole trees."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bt_author.sentence.canonical import canonical
from bt_author.sentence.grammar import whole_tree
from bt_runtime import BtError
from bt_runtime.language.difference import compare
from bt_runtime.language.kinds.registry import registry_of
from bt_runtime.language.loader import Loader

pytest.importorskip("llguidance", reason="the extra `llm` is not installed")

from bt_runtime.llm.decoding.grammar import accepts, check

ROOT = Path(__file__).parents[4]
SHIPPED = sorted((ROOT / "trees").rglob("*.yaml"))
EXAMPLES = sorted((ROOT / "bt_runtime" / "project" / "init" / "example-projects").glob("*/trees/*.yaml"))


def named(path: Path) -> str:
    return f"{path.parent.parent.name}/{path.stem}"


@pytest.mark.parametrize("path", [*SHIPPED, *EXAMPLES], ids=named)
def test_a_tree_in_the_one_layout_is_the_same_tree_and_stands_in_the_grammar(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "p"
    shutil.copytree(path.parents[1], folder) if path in EXAMPLES else None
    home = folder if path in EXAMPLES else None
    file = folder / "trees" / path.name if path in EXAMPLES else path
    spec = Loader(home).file(file).sound()
    text = canonical(file.read_text("utf-8"), spec.registry)
    again = Loader(home).text(text, "again", file.parent).sound()
    assert compare(spec, again) == []
    grammar = whole_tree(list(spec.registry))
    assert accepts(grammar, text)
    assert not accepts(grammar, text.replace("root:", "rot:"))


def test_made_up_kinds_fields_and_manifests_are_not_in_the_grammar() -> None:
    grammar = whole_tree([kind for kind in registry_of(None) if not kind.asks], ["rover"], "patrol")
    head = 'version: 1\ntree: patrol\nskills: ["rover"]\nroot:\n'
    assert accepts(grammar, f'{head}  sequence:\n    - wait: 2\n    - log: "hello"\n')
    wrong = ("  sequenc:\n    - wait: 2\n", '  agent: {"goal": "x"}\n', '  wait: {"secnds": 2}\n', "  sequence: []\n")
    for body in wrong:
        assert not accepts(grammar, head + body), body
    assert not accepts(grammar, f"{head.replace('rover', 'robot')}  wait: 2\n")
    assert not accepts(grammar, f"{head.replace('patrol', 'other')}  wait: 2\n")


def test_a_writer_that_repeats_itself_is_stopped_in_the_head() -> None:
    """A list of manifests has at most as many entries as there are, and `about` has an end."""
    kinds = [kind for kind in registry_of(None) if not kind.asks]
    text = 'version: 1\ntree: t\nabout: "a"\nskills: ["rover", "arm"]\nroot:\n  wait: 2\n'
    assert accepts(whole_tree(kinds, ["rover", "arm"], "t"), text)
    assert not accepts(whole_tree(kinds, ["rover", "arm"], "t"), text.replace('"rover",', '"rover", "rover",'))
    assert not accepts(whole_tree(kinds, ["rover"], "t"), text.replace('"arm"', '"rover"'))
    assert not accepts(whole_tree(kinds, ["rover", "arm"], "t"), text.replace('"a"', f'"{"a" * 500}"'))


def test_every_kind_that_there_is_can_be_written() -> None:
    """The grammar compiles for all kinds, and each kind's own example stands in it."""
    registry = registry_of(None)
    grammar = whole_tree(list(registry))
    check(grammar)
    for kind in registry:
        if kind.example:
            node = "\n".join(f"  {line}" for line in kind.example.splitlines())
            text = canonical(f"version: 1\ntree: t\nroot:\n{node}\n", registry)
            assert accepts(grammar, text), text


NO_TREES = ["", "x", "[1]", "version: 1\ntree: t\n", "root: 3", "root: {nope: 1}", "root: {a: 1, b: 2}"]


@pytest.mark.parametrize("text", NO_TREES)
def test_what_is_no_tree_is_refused_in_words(text: str) -> None:
    with pytest.raises(BtError):
        canonical(text, registry_of(None))
