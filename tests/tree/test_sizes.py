"""The size of a tree with its subtrees is known without building it, however often they stand in one another."""

from __future__ import annotations

from pathlib import Path

from bt_runtime.language.loader import Loader

LAYERS = 40


def test_trees_that_double_at_every_layer_are_too_large_and_cost_no_time(tmp_path: Path) -> None:
    """Walking each place where a subtree stands would take for ever: there are 2 to the 40th of them."""
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    for layer in range(LAYERS):
        below = "log: bottom" if layer == 0 else f"sequence: [tree: layer{layer - 1}, tree: layer{layer - 1}]"
        (tmp_path / f"layer{layer}.yaml").write_text(f"version: 1\ntree: layer{layer}\nroot:\n  {below}\n")
    found = Loader(tmp_path).file(tmp_path / f"layer{LAYERS - 1}.yaml").diagnostics
    assert [d.code for d in found] == ["BT029"]


def test_a_tree_is_measured_after_all_that_it_includes(tmp_path: Path) -> None:
    """One subtree stands both high up and below another one."""
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    trees = {"a": "sequence: [tree: c, tree: b]", "b": "invert: {tree: c}", "c": "invert: {invert: {log: deep}}"}
    for name, root in trees.items():
        (tmp_path / f"{name}.yaml").write_text(f"version: 1\ntree: {name}\nroot:\n  {root}\n")
    depth = 2 + 2 + 3  # a: sequence, tree; b: invert, tree; c: three nodes
    for caps_depth, codes in ((depth, []), (depth - 1, ["BT028"])):
        loader = Loader(tmp_path)
        loader.caps = loader.caps._replace(depth=caps_depth)
        assert [d.code for d in loader.file(tmp_path / "a.yaml").diagnostics] == codes


def test_a_long_chain_of_files_is_a_fault_and_no_overflow(tmp_path: Path) -> None:
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    for number in range(1_000):
        (tmp_path / f"t{number}.yaml").write_text(f"version: 1\ntree: t{number}\nroot:\n  tree: t{number + 1}\n")
    found = Loader(tmp_path).file(tmp_path / "t0.yaml").diagnostics
    assert [(d.code, d.span.line if d.span else 0) for d in found] == [("BT028", 4)]
