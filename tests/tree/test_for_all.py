"""One child for every item of a list, all at once."""

from __future__ import annotations

import pytest

from bt_runtime import Run, load
from bt_runtime.language.spec import Caps
from bt_runtime.testing import FAILURE, INVALID, RUNNING, SUCCESS
from bt_runtime.tree.nodes.for_all import AT_ONCE

rule = pytest.mark.rule
HEAD = (
    "version: 1\ntree: t\nblackboard: {turns: {type: integer, default: 0}, places: {type: list, default: [a, b, c]}}\n"
)


def run_of(root: str, **inputs) -> Run:
    indented = "".join(f"  {line}\n" for line in root.strip("\n").splitlines())
    return Run(load(f"{HEAD}outputs: {{all: {{type: any, default: none}}}}\nroot:\n{indented}"), inputs=inputs)


EACH = """
for_all:
  in: "{places}"
  as: place
  give: said
  into: all
  child:
    sequence:
      - wait: {until: "turns > 0 or place == 'a'"}
      - set: {said: "{'at ' + place}"}
      - check: place != 'b'
"""


@rule("for_all", 1, 3, 4)
def test_every_item_has_a_copy_that_runs_to_its_end_and_what_they_give_is_gathered_in_order():
    with run_of(EACH) as run:
        for _ in range(4):
            assert run.tick().status is RUNNING
        assert len(run.parts.engine.root.children) == 3
        run.blackboard["turns"] = 1
        assert run.spin(ticks=5) is FAILURE  # b's check does not hold, and c ran all the same
        assert run.blackboard["all"] == ["at a", "at b", "at c"]


@rule("for_all", 1)
def test_the_list_is_read_once_and_the_copies_of_an_earlier_round_go():
    with run_of("repeat:\n  times: 2\n  child:\n    for_all:\n      in: \"{places}\"\n      as: place\n      child:\n"
                "        set: {places: [x]}") as run:  # fmt: skip
        assert run.spin(ticks=20) is SUCCESS
        node = run.parts.engine.root.children[0]
        assert [child.segment for child in node.children] == ["3", "4", "5"]
        assert run.blackboard["places"] == ["a", "b", "c"]
        assert run.parts.engine.nodes == sum(1 for _ in run.nodes())


@rule("for_all", 2)
def test_what_a_copy_writes_is_its_own_and_the_rest_it_reads_from_around_it():
    root = """
for_all:
  in: [1, 2]
  as: number
  give: mine
  into: all
  child:
    sequence:
      - set: {mine: "{number + turns}"}
      - set: {turns: 100}
      - set: {mine: "{mine + turns}"}
"""
    with run_of(root, turns=10) as run:
        assert run.spin(ticks=10) is SUCCESS
        assert run.blackboard["all"] == [111, 112]
        assert run.blackboard["turns"] == 10 and "mine" not in run.blackboard


@rule("for_all", 2)
def test_an_output_of_a_subtree_is_written_into_its_copy(tmp_path):
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    (tmp_path / "inner.yaml").write_text(
        "version: 1\ntree: inner\ninputs: {n: integer}\noutputs: {twice: {type: integer, default: 0}}\n"
        'root:\n  set: {twice: "{n * 2}"}\n'
    )
    root = (
        "version: 1\ntree: t\noutputs: {all: list}\nroot:\n  for_all:\n    in: [1, 2]\n    as: n\n    give: twice\n"
        '    into: all\n    child:\n      tree: {file: inner, with: {n: "{n}", twice: "{twice}"}}\n'
    )
    path = tmp_path / "outer.yaml"
    path.write_text(root)
    with Run(load(path)) as run:
        assert run.spin(ticks=10) is SUCCESS
        assert run.blackboard["all"] == [2, 4]
        assert "twice" not in run.blackboard
        run.blackboard["twice"] = 9
    with Run(load(path)) as run:
        run.blackboard["twice"] = 9
        assert run.spin(ticks=10) is SUCCESS
        assert (run.blackboard["all"], run.blackboard["twice"]) == ([2, 4], 9)


@rule("for_all", 4)
def test_who_wrote_nothing_gives_null_even_when_the_tree_has_an_entry_of_that_name():
    root = "for_all:\n  in: [1, 2]\n  as: n\n  give: turns\n  into: all\n  child:\n    if:\n      check: n > 1\n" \
           "      then: {set: {turns: 7}}\n      else: {succeed: {}}\n"  # fmt: skip
    with run_of(root) as run:
        assert run.spin(ticks=10) is SUCCESS
        assert run.blackboard["all"] == [None, 7]


@rule("for_all", 5)
def test_no_more_than_at_once_run_at_the_same_time():
    root = 'for_all:\n  in: "{places}"\n  as: place\n  at_once: 2\n  child:\n    wait: {until: "turns > 0"}\n'
    with run_of(root) as run:
        for _ in range(5):
            run.tick()
        assert [child.status for child in run.parts.engine.root.children] == [RUNNING, RUNNING]
        run.blackboard["turns"] = 1
        assert run.spin(ticks=10) is SUCCESS
        assert len(run.parts.engine.root.children) == 3


@rule("for_all", 6)
def test_an_empty_list_succeeds_and_skipped_copies_do_not_count():
    with run_of("for_all: {in: [], as: n, give: x, into: all, child: {fail: no}}") as run:
        assert run.spin(ticks=5) is SUCCESS
        assert run.blackboard["all"] == []
    some = "for_all:\n  in: [1, 2]\n  as: n\n  child:\n    log: {text: hi, when: n > 1}\n"
    with run_of(some) as run:
        assert run.spin(ticks=5) is SUCCESS
    with run_of(some.replace("n > 1", "n > 2")) as run:
        assert run.spin(ticks=5) is INVALID


def test_a_halt_reaches_every_copy():
    root = 'for_all:\n  in: "{places}"\n  as: place\n  child:\n    wait: {until: "turns > 0", on_halt: {turns: 5}}\n'
    with run_of(root) as run:
        for _ in range(3):
            run.tick()
        assert run.halt("enough") == 1 + 3 * 2  # a guard and a wait each
        assert run.blackboard["turns"] == 0  # what they write when they are halted is theirs
        assert all(node.status is not RUNNING for node in run.nodes())


def test_a_copy_beyond_the_caps_fails_the_node_and_not_the_run():
    tree = load(
        f"{HEAD}root:\n  for_all:\n    in: {list(range(9))}\n    as: n\n    child: {{log: hi}}\n", caps=Caps(nodes=6)
    )
    with Run(tree) as run:
        assert run.spin(ticks=20) is FAILURE
        assert "room for 5 nodes more" in run.parts.context.crashes[-1].message
        assert not run.parts.engine.root.children  # none has begun


@rule("for_all", 7)
def test_a_long_list_begins_over_several_ticks_in_its_order():
    root = """
repeat:
  times: 2
  child:
    for_all:
      in: "{places}"
      as: n
      give: m
      into: all
      child:
        sequence:
          - set: {m: "{n + 1}"}
          - succeed: {}
"""
    count = 1_200
    with run_of(root, places=list(range(count))) as run:
        node, before, most = run.parts.engine.root.children[0], set(), 0
        while run.tick().running:
            now = {child.segment for child in node.children}
            most = max(most, len(now - before), len(before - now))
            before = now
        assert most == AT_ONCE // 3
        assert run.blackboard["all"] == list(range(1, count + 1))
        assert [child.segment for child in node.children] == [str(n) for n in range(count, 2 * count)]
        assert run.parts.engine.nodes == sum(1 for _ in run.nodes())
        assert len(run.parts.context.blackboard.scopes) < count + 10


def test_an_operator_may_graft_into_a_copy_and_what_is_grafted_sees_the_copys_entries():
    root = 'for_all:\n  in: "{places}"\n  as: place\n  give: seen\n  into: all\n  child:\n    sequence:\n' \
           '      - wait: {until: "turns > 0"}\n'  # fmt: skip
    with run_of(root) as run:
        for _ in range(3):
            run.tick()
        run.insert("/t/1", 'set: {seen: "{place}"}')
        run.tick()
        run.blackboard["turns"] = 1
        assert run.spin(ticks=10) is SUCCESS
        assert run.blackboard["all"] == [None, "b", None]
