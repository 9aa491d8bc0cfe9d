"""10,000 mutated documents through the whole loader: a tree or located faults, and nothing else, in bounded time."""

from __future__ import annotations

import json
import random
import time

import pytest

from bt_runtime import Faults
from bt_runtime.language import manifest
from bt_runtime.language.fragment import load_fragment
from bt_runtime.language.kinds.registry import shipped_kinds
from bt_runtime.language.loader import Loader
from bt_runtime.language.source.text import LINE_BREAK
from tests.fuzz.mutate import SEEDS, documents
from tests.language.kinds.bend import bend
from tests.language.kinds.samples import MANIFEST, tree_data, tree_text

EXAMPLES = tuple(tree_text(kind.example) for kind in shipped_kinds())
PATIENCE = 30.0  # seconds for one document of a few kilobytes, on any machine


def check(source: str | bytes) -> bool:
    """Loads it; every fault lies inside the text. Gives whether it is a sound tree."""
    began = time.monotonic()
    checked = Loader().text(source)
    assert time.monotonic() - began < PATIENCE
    lines = LINE_BREAK.split(checked.sources.get("text", ""))
    for fault in checked.diagnostics:
        assert fault.message
        assert fault.span is not None, fault
        line, column, end_line, end_column = fault.span
        assert (1, 1) <= (line, column) <= (end_line, end_column), fault
        assert line <= len(lines), fault
        assert column <= len(lines[line - 1]) + 1, fault
    assert (checked.tree is None) == any(d.severity == "error" for d in checked.diagnostics)
    return checked.tree is not None


@pytest.mark.parametrize("seed", range(4))
def test_mutated_trees_give_a_tree_or_located_faults(seed: int) -> None:
    for number, text in enumerate(documents(2_500, seed, (*SEEDS, *EXAMPLES))):
        try:
            check(text)
        except Exception as failure:
            raise AssertionError(f"document {number} of seed {seed}: {text!a}") from failure


def test_trees_of_a_bent_shape_give_a_tree_or_located_faults() -> None:
    """Sound YAML with the wrong things in it gets further than broken YAML does."""
    sound = 0
    for kind in shipped_kinds():
        dice = random.Random(kind.name)
        for number in range(100):
            text = json.dumps(bend(tree_data(kind), dice))
            try:
                sound += check(text)
            except Exception as failure:
                raise AssertionError(f"{kind.name} {number}: {text}") from failure
    assert sound > 100


def test_mutated_manifests_give_located_faults() -> None:
    for number, text in enumerate(documents(2_000, 0, (MANIFEST,))):
        try:
            for fault in manifest.parse(text if isinstance(text, str) else text.decode("latin-1")).diagnostics:
                assert fault.span is not None
        except Exception as failure:
            raise AssertionError(f"manifest {number}: {text!a}") from failure


def test_the_examples_that_are_mutated_are_sound_before() -> None:
    for text in EXAMPLES:
        assert check(text) or "file: dock.yaml" in text, text  # that one needs a project
    assert manifest.parse(MANIFEST).diagnostics == []


def test_mutated_fragments_give_nodes_or_faults() -> None:
    """What a model wrote goes into a running tree by this door."""
    tree = Loader().text(EXAMPLES[0]).sound()
    sound = 0
    for number, text in enumerate(documents(2_000, 0, [kind.example for kind in shipped_kinds()])):
        try:
            load_fragment(Loader(), text, tree, "graft")
            sound += 1
        except Faults as faults:
            assert all(d.span is not None and d.file == "graft" for d in faults.diagnostics)
        except Exception as failure:
            raise AssertionError(f"fragment {number}: {text!a}") from failure
    assert sound > 50
