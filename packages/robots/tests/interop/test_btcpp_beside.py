"""Beside BehaviorTree.CPP itself: random XML in its engine, the same imported here, and what we export of that in its
engine again. Each tick gives, ticks, halts and writes the same. `BTR_COUNTERPARTS=50` tries more trees of each sort
(10 sorts)."""

from __future__ import annotations

import os
import random
import re
from itertools import chain
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import pytest

import bt_runtime as bt
from bt_robots.btcpp import exporter, script
from bt_runtime.clock import Manual
from bt_runtime.plugins import compile
from packages.robots.tests.interop.grown import AFTER, GUARDS, LISTS, WORDS, Grown, here, ordered, project, there

pytest.importorskip("behaviortreepy")
TREES = int(os.environ.get("BTR_COUNTERPARTS", "4"))
PLAIN = ("Sequence", "Fallback")
AFTERWARDS = (*AFTER, f"{GUARDS[0]} {AFTER[0]}", f"{GUARDS[2]} {AFTER[1]} {AFTER[2]}")
SORTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "lists": (LISTS, ()),
    "parallel": (("Parallel", *PLAIN), ()),
    "parallel that waits for all": (("ParallelAll", *PLAIN), ()),
    "decorators": (("Inverter", "ForceSuccess", "ForceFailure", "KeepRunningUntilFailure", *PLAIN), ()),
    "branches": (("IfThenElse", "WhileDoElse", "Switch2", *PLAIN), ()),
    "tests before": (("Precondition", "SkipUnlessUpdated", "RunOnce", *PLAIN), ()),
    "guards": (LISTS, GUARDS),
    "written afterwards": ((*LISTS, "Inverter"), AFTERWARDS),
    "subtrees": (("SubTree", *LISTS), AFTER),
}  # fmt: skip


@pytest.mark.parametrize("sort", SORTS)
def test_what_is_imported_and_what_is_exported_again_tick_the_same(sort: str, tmp_path: Path) -> None:
    kinds, guards = SORTS[sort]
    for seed in range(TREES):
        rng = random.Random(f"{sort} {seed}")
        drawn = Grown(rng, kinds, guards, rng.randint(1, 3))
        flags = [rng.choice((-1, -1, 0, 1)) for _ in range(14)]
        (home := tmp_path / str(seed)).mkdir()
        theirs = there(drawn.xml, drawn.scripts, flags)
        own, xml = here(project(drawn.xml, home), drawn.scripts, flags)
        for told in (own, there(xml, drawn.scripts, flags)):
            assert told.statuses == theirs.statuses, (seed, drawn.xml)
            assert ordered(told.visits) == ordered(theirs.visits), (seed, drawn.xml)
            assert told.counts == theirs.counts, (seed, drawn.xml)


def test_retry_and_repeat_visit_the_same_leaves_with_one_round_a_tick(tmp_path: Path) -> None:
    for seed in range(TREES):
        drawn = Grown(random.Random(seed), ("RetryUntilSuccessful", "Repeat", *PLAIN), (), 3)
        (home := tmp_path / str(seed)).mkdir()
        theirs = there(drawn.xml, drawn.scripts, [0] * 14)
        own, xml = here(project(drawn.xml, home), drawn.scripts, [0] * 14)
        assert there(xml, drawn.scripts, [0] * 14) == theirs, (seed, drawn.xml)
        first, second = [*chain(*theirs.visits)], [*chain(*own.visits)]
        both = min(len(first), len(second))
        assert second[:both] == first[:both], (seed, drawn.xml)


@pytest.mark.parametrize("empty", ["SUCCESS", "FAILURE"])
@pytest.mark.parametrize("first", ["S" * 40, "SF" * 20, "RSSRSFSSSS" * 4])
def test_a_loop_over_a_queue_visits_the_same_leaves(first: str, empty: str, tmp_path: Path) -> None:
    """Its end comes a tick later there, and `if_empty` is its result after the last item as well. `TryCatch` the
    engine's package does not know, so nothing stands beside it."""
    body = f'<Sequence><LoopInt queue="3;1;2" if_empty="{empty}" value="{{h}}"><l0/></LoopInt><l1/></Sequence>'
    xml = f'<root BTCPP_format="4" main_tree_to_execute="T"><BehaviorTree ID="T">{body}</BehaviorTree></root>'
    scripts = [first, "SF" * 20]
    theirs = there(xml, scripts, [0] * 14)
    own, again = here(project(xml, tmp_path), scripts, [0] * 14)
    assert there(again, scripts, [0] * 14).visits == theirs.visits
    one, other = [*chain(*theirs.visits)], [*chain(*own.visits)]
    assert other[: len(one)] == one


def said(rng: random.Random, depth: int, whole: bool = True) -> str:
    """A random expression of a script; not `whole`: in brackets."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(("a", "b", "3", "0x10", "2.5", "true", "false", "1e2", "0"))
    less = [said(rng, depth - 1, False) for _ in range(3)]
    text = rng.choice(
        ("{} + {}", "{} - {}", "{} * {}", "{} < {}", "{} == {}", "{} != {}", "{} <= {} < {}", "!{}", "-{}",
         "{} ? {} : {}", "{} && {} || {}", "{} || {} && {}")
    ).format(*less)  # fmt: skip
    return text if whole else f"({text})"


def test_random_scripts_give_the_same_there_here_and_written_back() -> None:
    import behaviortreepy as cpp

    def there(code: str, a: float, b: float) -> float:
        board, factory = cpp.Blackboard.create(), cpp.BehaviorTreeFactory()
        board.set_double("a", a)
        board.set_double("b", b)
        body = f"<Script code={quoteattr(code)}/>"
        text = f'<root BTCPP_format="4"><BehaviorTree ID="T">{body}</BehaviorTree></root>'
        factory.create_tree_from_text(text, board).tick_exactly_once()
        return float(board.get_double("r"))

    tried = 0
    for seed in range(25 * TREES):
        rng = random.Random(seed)
        code, a, b = f"r := {said(rng, 3)}; r += 1", rng.choice((0, 1, 2.5)), rng.choice((-1, 0, 3))
        try:
            theirs, text = there(code, a, b), script.read(code).sets["r"].text
            again = there(f"r := {script.written(text)}", a, b)
        except RuntimeError as error:  # a number that is neither 0 nor 1 is no truth there
            assert "castable to bool" in str(error), (code, error)
            continue
        tried += 1
        assert float(compile(text).evaluate({"a": a, "b": b})) == pytest.approx(theirs), (code, text)
        assert again == pytest.approx(theirs), (code, text, script.written(text))
    assert tried > 5 * TREES


AUTHORED = """\
version: 1
tree: t
blackboard:
  n: {type: integer, default: 2}
  done: {type: boolean, default: false}
outputs:
  said: {type: string, default: nothing}
root:
  reactive_fallback:
    - sequence:
        name: down
        when: n > 0 and not done
        children:
          - log: "{n} left"
          - set: {n: "{n - 1}", said: it's on its way}
          - fail: not yet there
    - fail: {why: nothing is left, name: end}
"""


def test_defaults_and_what_is_said_go_to_the_other_engine() -> None:
    """Entries begin with their defaults there, once, whoever ticks the tree again; why a node fails is its name, and a
    log line an action that the program registers."""
    import behaviortreepy as cpp

    loaded, heard = bt.load(AUTHORED), list[str]()
    xml = exporter.text(loaded.spec)
    factory, board = cpp.BehaviorTreeFactory(), cpp.Blackboard.create()

    def log(node: Any) -> Any:
        heard.append("log")
        return cpp.NodeStatus.SUCCESS

    assert '<Log text="{n} left" />' in xml
    factory.register_simple_condition("Log", log)  # the binding registers no ports
    factory.register_behavior_tree_from_text(re.sub(' text="[^"]*"', "", xml))
    tree = factory.create_tree("t", board)
    with bt.Run(loaded, clock=Manual()) as run:
        for _ in range(4):
            assert tree.tick_exactly_once().name == run.tick().status.name
            assert board.get_string("said") == run.blackboard["said"]
    assert heard == ["log", "log"]
    assert 'AlwaysFailure name="not yet there"' in xml and '_description="nothing is left"' in xml


ITEMS = """\
version: 1
tree: t
blackboard:
  stop: {type: boolean, default: false}
root:
  reactive_sequence:
    - check: not stop
    - sequence:
        - look: {items: "{items}"}
        - for_each: {in: "{items}", as: item, child: {handle: "{item}"}}
        - close:
"""


class Items:
    """A skill that finds items, one that handles one, one that closes; `seen`: each call with its item and answer."""

    def __init__(self, lists: list[str], answers: str) -> None:
        self.lists, self.answers, self.seen = iter(lists), iter(answers), list[str]()

    def handled(self, item: str) -> str:
        self.seen.append(item + (answer := next(self.answers)))
        return WORDS[answer]

    def skills(self) -> list[Any]:
        @bt.skill(outputs={"items": "list"}, instant=True)
        def look() -> dict[str, Any]:
            return {"items": [each for each in next(self.lists).split(";") if each]}

        handled = self.handled

        @bt.skill
        class Handle(bt.Skill):
            def start(self, item: str) -> None:
                self.item = item

            def poll(self) -> bt.Status:
                return bt.Status[handled(self.item)]

        @bt.skill(instant=True)
        def close() -> None:
            self.seen.append("close")

        return [look, Handle, close]

    def tree(self, xml: str) -> tuple[Any, Any]:
        """The same for the other engine. Its package registers no ports, and a text that it writes into the entry of
        a queue becomes that queue."""
        import behaviortreepy as cpp

        factory, board = cpp.BehaviorTreeFactory(), cpp.Blackboard.create()

        def look(node: Any) -> Any:
            board.set_string("items", next(self.lists))
            return cpp.NodeStatus.SUCCESS

        def to_queue(node: Any) -> Any:
            board.set_string("item_queue", board.get_string("items"))
            return cpp.NodeStatus.SUCCESS

        def handle(node: Any) -> Any:
            return getattr(cpp.NodeStatus, self.handled(board.get_string("item")))

        def close(node: Any) -> Any:
            self.seen.append("close")
            return cpp.NodeStatus.SUCCESS

        factory.register_simple_condition("look", look)
        factory.register_simple_condition("ListToQueue", to_queue)
        factory.register_simple_stateful_action("handle", handle, handle)
        factory.register_simple_condition("close", close)
        xml = re.sub(r"<(look|ListToQueue|handle) [^>]*>", r"<\1/>", xml)
        factory.register_behavior_tree_from_text(xml)
        return factory.create_tree("t", board), board


def test_a_loop_over_an_entry_visits_the_same_items_there() -> None:
    """Each start of the loop handles a copy of the whole list, whatever became of the items before."""
    for seed in range(10 * TREES):
        rng = random.Random(seed)
        lists = [";".join(rng.choices("abc", k=rng.randint(0, 3))) for _ in range(200)]
        answers = "".join(rng.choices("SSSFR", k=200))
        own, theirs = Items(lists, answers), Items(lists, answers)
        loaded = bt.load(ITEMS, skills=own.skills())
        tree, _ = theirs.tree(exporter.text(loaded.spec))
        for _ in range(40):
            tree.tick_exactly_once()
        while len(own.seen) < len(theirs.seen):
            with bt.Run(loaded, clock=Manual()) as run:
                while run.tick().status is bt.Status.RUNNING:
                    pass
        both = min(len(own.seen), len(theirs.seen))
        assert both > 20 and own.seen[:both] == theirs.seen[:both], (seed, lists, answers)


def test_a_loop_over_an_entry_that_is_halted_begins_anew_there() -> None:
    own, theirs = Items(["a;b;c"] * 9, "SRRRSSRSSS"), Items(["a;b;c"] * 9, "SRRRSSRSSS")
    loaded = bt.load(ITEMS, skills=own.skills())
    tree, board = theirs.tree(exporter.text(loaded.spec))
    with bt.Run(loaded, clock=Manual()) as run:
        for stop in (False, False, False, True, False, False):
            run.blackboard["stop"] = stop
            board.set_bool("stop", stop)
            assert run.tick().status.name == tree.tick_exactly_once().name
    assert own.seen == theirs.seen == ["aS", "bR", "bR", "aR", "aS"]
