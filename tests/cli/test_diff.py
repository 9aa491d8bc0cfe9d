"""`btr view diff`: two trees are compared as trees: layout, comments and short forms are no change."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Btr, tree

BASE = """sequence:
  - log: one
  - log: {text: two, when: n > 1}
  - retry:
      times: 3
      child:
        fallback:
          name: choose
          children: [check: n > 2, wait: 1]
""".splitlines()
HEAD = "inputs: {n: integer}"


def changed(old: str, new: str) -> list[str]:
    return tree(*(line.replace(old, new) for line in BASE), head=HEAD).splitlines()


@pytest.fixture
def diff(btr: Btr, here: Path):  # type: ignore[no-untyped-def]
    def run(second: str, first: str = tree(*BASE, head=HEAD), *more: str):  # type: ignore[no-untyped-def]
        (here / "a.yaml").write_text(first)
        (here / "b.yaml").write_text(second)
        return btr("view", "diff", "a.yaml", "b.yaml", *more)

    return run


def test_layout_comments_and_short_forms_are_no_difference(diff) -> None:  # type: ignore[no-untyped-def]
    same = (
        "# another layout\nversion: 1\ntree: t\ninputs: {n: {type: integer}}\nroot:\n"
        "  sequence: {children: [log: {text: one, level: info}, log: {when: n > 1, text: two}, "
        "retry: {child: {fallback: {name: choose, children: [check: {expr: n > 2}, wait: {seconds: 1}]}}, times: 3}]}\n"
    )
    assert diff(same) == (0, "", "no difference\n")


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("times: 3", "times: 5", "~ /t/2  retry times: 3 → 5"),
        ("n > 1", "n > 7", "~ /t/1  log when: n > 1 → n > 7"),
        (", when: n > 1", "", "~ /t/1  log when: n > 1 → nothing"),
        ("check: n > 2, ", "", "- /t/2/choose/0  check expr: n > 2"),
        ("wait: 1", "wait: 1, fail: late", "+ /t/2/choose/2  fail why: late"),
        ("name: choose", "name: pick", "~ /t/2/pick  fallback name: choose → pick"),
        ("fallback:", "sequence:", "~ /t/2/choose  sequence kind: fallback → sequence"),
        ("check: n > 2, wait: 1", "wait: 1, check: n > 2", "> /t/2/choose/1  check from /t/2/choose/0"),
    ],
)
def test_a_change_is_one_line_with_the_path_of_its_node(diff, old: str, new: str, line: str) -> None:  # type: ignore[no-untyped-def]
    said = diff("\n".join(changed(old, new)) + "\n")
    assert said.code == 1
    moved_other = {line, line.replace("/1  check from /t/2/choose/0", "/0  wait from /t/2/choose/1")}
    assert said.out.rstrip("\n") in moved_other


def test_what_moved_to_another_parent_has_moved_with_all_below(diff) -> None:  # type: ignore[no-untyped-def]
    branch = "  - sequence: [log: one, log: {text: two, when: n > 1}]"
    moved = tree("fallback:", branch, *BASE[3:], head=HEAD)
    first = tree("fallback:", "  - sequence:", *(f"    {line}" for line in BASE[1:]), head=HEAD)
    assert diff(moved, first).out == "> /t/1  retry from /t/0/2\n"


def test_ports_are_compared_and_json_is_for_programs(diff) -> None:  # type: ignore[no-untyped-def]
    said = diff(
        tree(*BASE, head="inputs: {n: {type: integer, maximum: 9, default: 3}}"), tree(*BASE, head=HEAD), "--json"
    )
    (row,) = json.loads(said.out)
    assert (row["what"], row["path"], row["field"]) == ("changed", "/t", "inputs.n")
    assert row["after"] == {"type": "integer", "default": 3, "maximum": 9}


def test_trees_that_both_include_are_looked_into_when_asked(btr: Btr, here: Path) -> None:
    for name, text in {"a": "one", "b": "two"}.items():
        (here / name).mkdir()
        (here / name / "main.yaml").write_text(tree("tree: inner.yaml"))
        (here / name / "inner.yaml").write_text(tree(f"log: {text}").replace("tree: t", "tree: inner"))
    assert btr("view", "diff", "a/main.yaml", "b/main.yaml").code == 0
    said = btr("view", "diff", "a/main.yaml", "b/main.yaml", "--subtrees")
    assert (said.code, said.out) == (1, "~ /t/inner  log text: one → two\n")


def test_a_tree_that_is_not_valid_is_trouble(diff) -> None:  # type: ignore[no-untyped-def]
    assert diff(tree("sequense: []")).code == 2


def test_deep_and_wide_trees_are_compared() -> None:
    from bt_runtime.language.difference import compare
    from bt_runtime.language.loader import Loader

    def made(last: str) -> str:
        deep = "".join(f"{'  ' * at}invert:\n" for at in range(1, 250))
        return f"version: 1\ntree: t\nroot:\n{deep}{'  ' * 250}log: {last}\n"

    one, other = (Loader().text(made(last)).sound() for last in ("a", "b"))
    assert [(c.field, c.before, c.after) for c in compare(one, other)] == [("text", "a", "b")]
