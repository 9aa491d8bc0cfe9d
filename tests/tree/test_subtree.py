"""Subtrees: scopes of their own, shared entries, defaults, recursion."""

from __future__ import annotations

from textwrap import dedent

import pytest

from bt_runtime.testing import FAILURE, RUNNING, SUCCESS

rule = pytest.mark.rule


@pytest.fixture
def project(tmp_path):
    """Writes trees of a project: `project(sub="...")` → its folder."""

    def write(**trees: str):
        (tmp_path / "trees").mkdir(exist_ok=True)
        for name, text in trees.items():
            (tmp_path / "trees" / f"{name}.yaml").write_text(f"version: 1\ntree: {name}\n" + dedent(text))
        return {"project": tmp_path}

    return write


@rule("tree", 1)
def test_entries_of_a_subtree_are_its_own(make, project):
    options = project(sub="root:\n  set: {x: 5}\n")
    t = make("sequence: [set: {x: 1}, tree: sub, check: x == 1]", options=options)
    assert t.tick() is SUCCESS
    assert t.run.parts.context.blackboard.snapshot() == {"": {"x": 1}, "/t/1": {"x": 5}}


@rule("tree", 2)
def test_a_shared_input_follows_live_and_an_output_writes_through(make, project):
    options = project(
        sub="""
        inputs: {seen: number, once: number}
        outputs: {out: {type: integer}}
        root:
          sequence:
            - wait: {until: seen > 1}
            - set: {out: "{once + seen}"}
        """
    )
    t = make('tree: {file: sub, with: {seen: "{x}", once: "{x * 10}", out: "{y}"}}',
             header="blackboard: {x: {type: integer, default: 1}, y: any}", options=options)  # fmt: skip
    assert t.tick() is RUNNING
    t.board["x"] = 2
    assert t.tick() is SUCCESS
    assert t.board["y"] == 12  # `once` was computed when the subtree started


@rule("tree", 3)
def test_autoremap_finds_undeclared_names_outside(make, project):
    options = project(
        sub="inputs: {own: {type: integer, default: 3}}\nroot:\n  set: {found: '{own + outer}', outer: 9}\n"
    )
    t = make("sequence: [tree: {file: sub, autoremap: true}]",
             header="blackboard: {outer: {type: integer, default: 4}}", options=options)  # fmt: skip
    assert t.tick() is SUCCESS
    assert (t.board["outer"], t.board["found"]) == (9, 7)
    assert "own" not in t.board


RECURSIVE = """
inputs: {depth: {type: integer, default: 0}}
root:
  fallback:
    - check: depth == 3
    - sequence:
        - check: depth < 5
        - tree: {file: down, with: {depth: "{depth + 1}"}}
"""


@rule("tree", 4)
def test_a_subtree_that_contains_itself_grows_when_it_is_reached(make, project):
    t = make("tree: down", options=project(down=RECURSIVE))
    before = t.run.parts.engine.nodes
    assert t.finish().status is SUCCESS
    assert t.run.parts.engine.nodes > before
    scopes = t.run.parts.context.blackboard.snapshot()
    assert sorted(s["depth"] for s in scopes.values() if "depth" in s) == [0, 1, 2, 3]
    grown = t.run.parts.engine.nodes
    assert t.finish().status is SUCCESS  # a second time without growing again
    assert t.run.parts.engine.nodes == grown


def test_a_tree_that_contains_itself_is_read_from_disk_once(make, project, tmp_path):
    t = make("tree: down", options=project(down=RECURSIVE))
    (tmp_path / "trees" / "down.yaml").unlink()
    assert t.finish().status is SUCCESS


def test_recursion_without_an_end_fails_at_the_depth_cap_and_the_run_goes_on(make, project):
    endless = RECURSIVE.replace("depth == 3", "depth < 0").replace("depth < 5", "depth < 10000")
    t = make("fallback: [tree: down, succeed: {}]", options=project(down=endless))
    assert t.finish(1000).status is SUCCESS
    assert len(t.ticks) > 20


def test_a_subtree_starts_fresh_each_time(make, project):
    options = project(
        sub="""
        inputs: {n: integer}
        outputs: {found: {type: integer, default: 0}}
        root:
          sequence:
            - fallback: [check: found == 0, fail: it remembers]
            - set: {found: "{n}", scratch: 1}
        """
    )
    t = make("repeat: {times: 2, child: {tree: {file: sub, with: {n: 7}}}}", options=options)
    assert t.finish().status is SUCCESS


def test_a_value_that_does_not_fit_a_port_at_run_time_is_a_fault_at_the_subtree(make, project):
    options = project(sub="inputs: {n: integer}\nroot:\n  check: n > 0\n")
    head = "blackboard: {x: any}"
    for given in ('"{x}"', '"{x + 1}"'):
        t = make(f"tree: {{file: sub, with: {{n: {given}}}}}", header=head, options=options)
        t.board["x"] = 1.5
        assert t.tick() is FAILURE
        [crash] = t.ticks[-1].crashes
        assert crash.path == "/t"
        assert "takes an integer" in crash.message


def test_an_output_is_typed_though_its_entry_lives_outside(make, project):
    options = project(sub="outputs: {out: integer}\nblackboard: {v: {type: any, default: text}}\n"
                          "root:\n  set: {out: '{v}'}\n")  # fmt: skip
    t = make('tree: {file: sub, with: {out: "{y}"}}', header="blackboard: {y: any}", options=options)
    assert t.tick() is FAILURE
    assert "`out` takes an integer" in t.ticks[-1].crashes[0].message
    assert "y" not in t.board


def test_subtrees_at_unnamed_places_have_scopes_of_their_own(make, project):
    options = project(sub="inputs: {n: integer}\nroot:\n  set: {m: '{n}'}\n")
    t = make("sequence: [succeed: {}]", options=options)
    for n in (1, 2):
        t.insert("/t", f"tree: {{file: sub, with: {{n: {n}}}}}\n")
    assert t.tick() is SUCCESS
    snapshot = t.run.parts.context.blackboard.snapshot()
    assert (snapshot["/t/1"], snapshot["/t/2"]) == ({"n": 1, "m": 1}, {"n": 2, "m": 2})


def test_a_replaced_subtree_leaves_no_scope_behind(make, project):
    options = project(sub="inputs: {n: integer}\nroot:\n  set: {m: '{n}'}\n")
    t = make("sequence: [tree: {file: sub, with: {n: 1}}]", options=options)
    t.tick()
    t.replace("/t/0", "tree: {file: sub, with: {n: 2}}\n")
    t.tick()
    assert t.run.parts.context.blackboard.snapshot() == {"": {}, "/t/0": {"n": 2, "m": 2}}
    t.replace("/t/0", "succeed: {}\n")
    assert t.run.parts.context.blackboard.snapshot() == {"": {}}
