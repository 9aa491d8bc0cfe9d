"""Programs written for py_trees 2.6 run on our trees, with the results that py_trees' own nodes would give.

Where the rules coincide, pairs of trees, stock and ours, are compared tick by tick. They do not coincide here:
- a stock Parallel ticks all children before it looks at any result, and then at failures first; ours counts in their
  order, and does not tick those after the one that decided (here a stock one that stops there stands for it);
- an unsynchronised stock Parallel ticks children again that have finished; ours never does;
- visitors see a stock node at the moment it was ticked, ours when the tick is done: a node that was halted in the same
  tick shows INVALID rather than RUNNING;
- stock nodes know no skipping: INVALID from a child is an ordinary end for them;
- a graft that replaces the root is not seen by a stock BehaviourTree, which holds the old one.
"""

from __future__ import annotations

import random
import threading
from importlib.metadata import version

import py_trees
import pytest
from py_trees.common import Status

from bt_runtime import Run, Skill, load, skill

SUCCESS, FAILURE, RUNNING, INVALID = Status.SUCCESS, Status.FAILURE, Status.RUNNING, Status.INVALID


def act(seed: int, leaf: int, start: int) -> tuple[int, Status]:
    rng = random.Random(f"{seed}/{leaf}/{start}")
    return rng.choice([0, 0, 1, 2]), rng.choice([SUCCESS, SUCCESS, FAILURE])


class StockLeaf(py_trees.behaviour.Behaviour):
    def __init__(self, number: int, seed: int, log: list) -> None:
        super().__init__(f"leaf {number}")
        self.number, self.seed, self.log, self.starts = number, seed, log, 0

    def initialise(self) -> None:
        self.log.append(("start", self.number))
        self.left, self.outcome = act(self.seed, self.number, self.starts)
        self.starts += 1

    def update(self) -> Status:
        self.left -= 1
        return self.outcome if self.left < 0 else RUNNING

    def terminate(self, new_status: Status) -> None:
        if new_status is INVALID and self.status is RUNNING:
            self.log.append(("cancel", self.number))


class StopsThere(py_trees.composites.Parallel):
    """A stock Parallel of all, but that children after one that has failed are not ticked."""

    def tick(self):
        if self.status is not RUNNING:
            for child in self.children:
                child.stop(INVALID)
        for child in self.children:
            if child.status is not SUCCESS:
                yield from child.tick()
            if child.status is FAILURE:
                break
        statuses = {child.status for child in self.children}
        status = FAILURE if FAILURE in statuses else SUCCESS if statuses == {SUCCESS} else RUNNING
        if status is not RUNNING:
            self.stop(status)
        self.status = status
        yield self


class Pair:
    """One random tree, made twice."""

    KINDS = ("sequence", "fallback", "reactive_sequence", "reactive_fallback", "parallel")
    ONE = ("invert", "retry", "repeat", "force", "once")

    def __init__(self, seed: int, kinds: tuple[str, ...] = KINDS + ONE) -> None:
        self.seed, self.rng, self.numbers = seed, random.Random(seed), 0
        self.stock_log: list = []
        self.our_log: list = []
        self.kinds = kinds
        self.stock, text = self.grow(4)
        self.run = Run(load(f"version: 1\ntree: t\nroot:\n  {text}\n", skills=[self.leaf_skill()]))

    def leaf_skill(self):
        pair, starts = self, {}

        @skill("leaf {id}", name="leaf")
        class Leaf(Skill):
            def start(self, id: int) -> None:
                self.id = id
                pair.our_log.append(("start", id))
                self.left, self.outcome = act(pair.seed, id, starts.get(id, 0))
                starts[id] = starts.get(id, 0) + 1

            def poll(self) -> Status:
                self.left -= 1
                return self.outcome if self.left < 0 else RUNNING

            def cancel(self) -> None:
                pair.our_log.append(("cancel", self.id))

        return Leaf

    def grow(self, depth: int) -> tuple[py_trees.behaviour.Behaviour, str]:
        self.numbers += 1
        number, rng = self.numbers, self.rng
        kind = "leaf" if depth == 1 or (depth < 4 and rng.random() < 0.25) else rng.choice(self.kinds)
        name = f"{kind} {number}"
        if kind == "leaf":
            return StockLeaf(number, self.seed, self.stock_log), f"{{leaf: {{id: {number}, name: {name}}}}}"
        below = [self.grow(depth - 1) for _ in range(1 if kind in self.ONE else rng.randint(1, 4))]
        nodes, texts = [b[0] for b in below], [b[1] for b in below]
        options, n = "", rng.randint(1, 3)
        if kind in self.ONE:
            d = py_trees.decorators
            stock = {
                "invert": lambda: d.Inverter(name, nodes[0]),
                "retry": lambda: d.Retry(name, nodes[0], n),
                "repeat": lambda: d.Repeat(name, nodes[0], n),
                "force": lambda: d.FailureIsSuccess(name, nodes[0]),
                "once": lambda: d.OneShot(name, nodes[0], py_trees.common.OneShotPolicy.ON_COMPLETION),
            }[kind]()
            options = {"retry": f"times: {n}, ", "repeat": f"times: {n}, ", "force": "status: success, "}.get(kind, "")
            return stock, f"{{{kind}: {{name: {name}, {options}child: {texts[0]}}}}}"
        c = py_trees.composites
        stock = {
            "sequence": lambda: c.Sequence(name, True, nodes),
            "fallback": lambda: c.Selector(name, True, nodes),
            "reactive_sequence": lambda: c.Sequence(name, False, nodes),
            "reactive_fallback": lambda: c.Selector(name, False, nodes),
            "parallel": lambda: StopsThere(name, py_trees.common.ParallelPolicy.SuccessOnAll(True), nodes),
        }[kind]()
        return stock, f"{{{kind}: {{name: {name}, children: [{', '.join(texts)}]}}}}"

    def agree(self, when: str) -> None:
        assert self.our_log == self.stock_log, when
        for ours, stock in zip(self.run.parts.engine.root.iterate(), self.stock.iterate(), strict=True):
            assert ours.name == stock.name
            assert (ours.status is RUNNING) == (stock.status is RUNNING), f"{when}: {ours.name}"

    def play(self, trees: tuple[py_trees.trees.BehaviourTree, py_trees.trees.BehaviourTree], ticks: int) -> None:
        ours, stock = trees
        for n in range(ticks):
            ours.tick()
            stock.tick()
            assert ours.root.status is stock.root.status, f"tick {n}"
            self.agree(f"tick {n}")
            if self.rng.random() < 0.1:
                ours.root.stop(INVALID)
                stock.root.stop(INVALID)
                self.agree(f"stop after tick {n}")


@pytest.mark.parametrize("block", range(10))
def test_pairs_of_trees_agree_tick_by_tick_under_a_stock_behaviour_tree(block):
    for seed in range(block * 20, block * 20 + 20):
        pair = Pair(seed)
        pair.play(
            (py_trees.trees.BehaviourTree(pair.run.parts.engine.root), py_trees.trees.BehaviourTree(pair.stock)), 25
        )
        pair.run.close()


@pytest.mark.parametrize("seed", range(40))
def test_our_engine_and_a_stock_behaviour_tree_agree_as_well(seed):
    pair = Pair(1000 + seed)
    for n in range(20):
        tick = pair.run.tick()
        pair.stock.tick_once()
        assert tick.status is pair.stock.status
        pair.agree(f"tick {n}")
    pair.run.close()


@pytest.mark.parametrize("seed", range(40))
def test_snapshot_visitors_see_the_same_nodes_and_statuses(seed):
    pair = Pair(2000 + seed)
    trees = [py_trees.trees.BehaviourTree(r) for r in (pair.run.parts.engine.root, pair.stock)]
    visitors = [py_trees.visitors.SnapshotVisitor() for _ in trees]
    for tree, visitor in zip(trees, visitors, strict=True):
        tree.add_visitor(visitor)
    for n in range(10):
        seen = []
        for tree, visitor in zip(trees, visitors, strict=True):
            tree.tick()
            names = {node.id: node.name for node in tree.root.iterate()}
            seen.append({names[i]: s for i, s in visitor.visited.items()})
        assert list(seen[0]) == list(seen[1]), f"tick {n}"
        at_last = {node.name: node.status for node in pair.stock.iterate()}
        for name, status in seen[0].items():
            assert status is seen[1][name] or status is at_last[name] is INVALID, f"tick {n}: {name}"
    pair.run.close()


def pair_by_hand():
    text = """version: 1
tree: t
root:
  sequence:
    name: root
    children:
      - fallback:
          name: choose
          children: [fail: {why: no, name: bad}, succeed: {name: good}]
      - parallel:
          name: both
          children: [succeed: {name: one}, invert: {name: not, child: {fail: {why: no, name: two}}}]
      - reactive_sequence:
          name: guard
          children: [succeed: {name: ok}, wait: {seconds: 100, name: long}]
"""
    b, c, d = py_trees.behaviours, py_trees.composites, py_trees.decorators
    stock = c.Sequence("root", True, [
        c.Selector("choose", True, [b.Failure("bad"), b.Success("good")]),
        c.Parallel("both", py_trees.common.ParallelPolicy.SuccessOnAll(),
                   [b.Success("one"), d.Inverter("not", b.Failure("two"))]),
        c.Sequence("guard", False, [b.Success("ok"), b.Running("long")]),
    ])  # fmt: skip
    return Run(load(text)), stock


def test_unicode_tree_draws_ours_as_it_draws_stock_nodes():
    run, stock = pair_by_hand()
    for root in (run.parts.engine.root, stock):
        root.tick_once()
        for node in root.iterate():
            node.feedback_message = ""
    drawn = [py_trees.display.unicode_tree(r, show_status=True) for r in (run.parts.engine.root, stock)]
    assert drawn[0] == drawn[1]
    drawn = [py_trees.display.ascii_tree(r) for r in (run.parts.engine.root, stock)]
    assert drawn[0] == drawn[1]
    run.close()


def test_dot_tree_draws_the_same_nodes_and_edges():
    run, stock = pair_by_hand()
    graphs = [py_trees.display.dot_tree(r) for r in (run.parts.engine.root, stock)]
    edges = [sorted((e.get_source(), e.get_destination()) for e in g.get_edges()) for g in graphs]
    shapes = [sorted((n.get_name(), n.get_shape(), n.get_fillcolor()) for n in g.get_nodes()) for g in graphs]
    assert edges[0] == edges[1]
    assert [s[0] for s in shapes[0]] == [s[0] for s in shapes[1]]
    assert shapes[0] == shapes[1]
    run.close()


def test_display_snapshot_and_debug_visitors_run(capsys):
    run, stock = pair_by_hand()
    printed = []
    for root in (run.parts.engine.root, stock):
        tree = py_trees.trees.BehaviourTree(root)
        tree.add_visitor(py_trees.visitors.DebugVisitor())
        tree.add_visitor(py_trees.visitors.DisplaySnapshotVisitor(display_only_visited_behaviours=True))
        tree.tick()
        printed.append([line.partition(" -- ")[0].rstrip() for line in capsys.readouterr().out.splitlines()])
    assert printed[0] == printed[1]
    assert any("long" in line for line in printed[0])
    run.close()


def test_setup_with_a_timeout_and_a_visitor_reaches_every_node():
    run, stock = pair_by_hand()
    counts = []
    for root in (run.parts.engine.root, stock):
        seen = []

        class Seen(py_trees.visitors.VisitorBase):
            def run(self, behaviour, seen=seen):
                seen.append(behaviour.name)

        tree = py_trees.trees.BehaviourTree(root)
        tree.setup(timeout=5, visitor=Seen())
        tree.shutdown()
        counts.append(seen)
    assert counts[0] == counts[1]
    run.close()


def test_handlers_tick_tock_and_interrupt():
    run, _ = pair_by_hand()
    tree, order = py_trees.trees.BehaviourTree(run.parts.engine.root), []
    tree.add_pre_tick_handler(lambda t: order.append(("pre", t.count)))
    tree.add_post_tick_handler(lambda t: order.append(("post", t.count)))
    tree.tick_tock(period_ms=1, number_of_iterations=3)
    assert [w for w, _ in order] == ["pre", "post"] * 3
    assert tree.count == 3
    tree.add_post_tick_handler(lambda t: t.interrupt())
    tree.tick_tock(period_ms=1, number_of_iterations=py_trees.trees.CONTINUOUS_TICK_TOCK)
    assert tree.count == 4
    run.close()


def test_tip_and_iterate_answer_as_stock_nodes_do():
    run, stock = pair_by_hand()
    assert run.parts.engine.root.tip() is None
    assert stock.tip() is None
    run.parts.engine.root.tick_once()
    stock.tick_once()
    assert run.parts.engine.root.tip().name == stock.tip().name == "long"
    assert [n.name for n in run.parts.engine.root.iterate()] == [n.name for n in stock.iterate()]
    assert [n.name for n in run.parts.engine.root.iterate(direct_descendants=True)] == [
        n.name for n in stock.iterate(direct_descendants=True)
    ]
    assert run.parts.engine.root.children[2].children[1].has_parent_with_name("guard")
    assert run.parts.engine.root.children[2].children[1].has_parent_with_instance_type(py_trees.composites.Sequence)
    run.close()


def test_prune_insert_and_replace_subtree():
    run, stock = pair_by_hand()
    shapes = []
    for root in (run.parts.engine.root, stock):
        if root is stock and version("py_trees").startswith(("2.4", "2.5")):
            continue  # its own sequence broke when the child that ran was pruned
        tree = py_trees.trees.BehaviourTree(root)
        tree.tick()
        assert tree.prune_subtree(root.children[1].id)
        assert tree.insert_subtree(py_trees.behaviours.Success("new"), root.id, 0)
        assert tree.replace_subtree(root.children[2].id, py_trees.behaviours.Success("last"))
        tree.tick()
        shapes.append(([n.name for n in root.iterate()], root.status))
    assert shapes[0] == shapes[-1]
    assert shapes[0][1] is SUCCESS
    run.close()


def test_a_stock_tree_may_hold_ours_at_any_place_and_ours_stock_nodes_again():
    run = Run(load("""version: 1
tree: inner
root:
  sequence:
    - succeed: {}
    - py: {class: "py_trees.decorators:Inverter", children: [fallback: [fail: x, fail: y]]}
    - wait: {until: go}
    - py: {class: "py_trees.behaviours:Success"}
""" .replace("root:", "blackboard: {go: {type: boolean, default: false}}\nroot:")))  # fmt: skip
    tree = py_trees.trees.BehaviourTree(py_trees.decorators.Inverter("not", run.parts.engine.root))
    tree.setup()
    tree.tick()
    assert tree.root.status is RUNNING
    run.blackboard["go"] = True
    tree.tick()
    assert tree.root.status is FAILURE
    assert [n.status for n in run.parts.engine.root.children] == [SUCCESS] * 4
    run.close()


def test_a_node_that_breaks_does_not_stop_a_stock_trees_handlers_and_leaves_no_sibling_running():
    @skill
    def broken():
        yield
        raise OSError("no motor")

    run = Run(load("version: 1\ntree: t\nroot:\n  parallel: [wait: 100, broken: {}]\n", skills=[broken]))
    tree, after = py_trees.trees.BehaviourTree(run.parts.engine.root), []
    tree.add_post_tick_handler(lambda t: after.append(t.root.status))
    tree.tick()
    tree.tick()
    assert after == [RUNNING, FAILURE]
    assert [n.status for n in run.parts.engine.root.children] == [INVALID, FAILURE]
    assert run.parts.context.crashes[-1].path == "/t/1"
    run.close()


def test_a_tree_of_256_levels_is_set_up_ticked_drawn_and_stopped_by_stock_programs():
    body = "{wait: 1000}"
    for _ in range(255):
        body = f"{{sequence: [{body}]}}"
    run = Run(load(f"version: 1\ntree: t\nroot:\n  {body}\n"))
    tree = py_trees.trees.BehaviourTree(run.parts.engine.root)
    tree.setup(timeout=10)
    tree.tick()
    assert tree.tip().name == "wait"
    assert py_trees.display.unicode_tree(run.parts.engine.root).count("sequence") == 255
    tree.root.stop(INVALID)
    assert {n.status for n in run.parts.engine.root.iterate()} == {INVALID}
    run.close()


@pytest.mark.parametrize("below", [False, True])
def test_finished_foreign_children_are_told_when_their_parent_is_halted_as_py_trees_does_it(below):
    said: list = []

    class Told(py_trees.behaviour.Behaviour):
        def update(self) -> Status:
            return SUCCESS

        def terminate(self, new_status: Status) -> None:
            said.append(new_status)

    run = Run(load("version: 1\ntree: t\nroot:\n  sequence: [sequence: [succeed: {}], wait: 10]\n"))
    run.insert("/t/0" if below else "/t", Told("told"), 0)
    run.tick()
    assert run.halt("enough") == 2  # the sequence and the wait
    assert said == [SUCCESS, INVALID]
    run.halt("once more")
    assert said == [SUCCESS, INVALID]
    run.close()


FOR_ALL = "for_all: {in: [1, 2, 3], as: n, give: m, into: all, child: {set: {m: '{n * 2}'}}}"


def test_a_for_all_grows_and_ends_under_a_stock_behaviour_tree():
    run = Run(load(f"version: 1\ntree: t\noutputs: {{all: any}}\nroot:\n  {FOR_ALL}\n"))
    stock = py_trees.trees.BehaviourTree(run.parts.engine.root)
    stock.setup()
    for _ in range(4):
        stock.tick()
        if run.parts.engine.root.status is SUCCESS:
            break
    assert run.parts.engine.root.status is SUCCESS
    assert run.blackboard["all"] == [2, 4, 6]
    run.close()


def test_a_write_of_another_thread_takes_effect_after_a_stock_tick():
    seen = []

    def look() -> None:
        thread = threading.Thread(target=lambda: run.blackboard.__setitem__("x", 1))
        thread.start()
        thread.join(60)
        seen.append(run.blackboard["x"])

    class Look(py_trees.behaviour.Behaviour):
        def update(self) -> Status:
            look()
            return SUCCESS

    head = "version: 1\ntree: t\nblackboard: {x: {type: number, default: 0}}\n"
    run = Run(load(f"{head}root:\n  sequence: [check: x < 9]\n"))
    run.insert("/t", Look("look"))
    run.parts.engine.settle()
    py_trees.trees.BehaviourTree(run.parts.engine.root).tick()
    assert (seen, run.blackboard["x"]) == ([0], 1)
    run.close()


def test_what_a_run_is_set_up_with_reaches_every_node():
    given = []

    class Seen(py_trees.behaviour.Behaviour):
        def setup(self, **kwargs: object) -> None:
            given.append(kwargs)

        def update(self) -> Status:
            return SUCCESS

    with Run(load("version: 1\ntree: t\nroot:\n  sequence: [succeed: {}]\n"), setup={"node": "a ROS node"}) as run:
        run.insert("/t", Seen("seen"))
        run.tick()
    assert given == [{"node": "a ROS node"}]
