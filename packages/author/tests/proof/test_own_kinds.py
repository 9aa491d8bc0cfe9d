"""A kind of node that somebody has just written is proved as ours are: its own class is ticked."""

from __future__ import annotations

import pytest

from bt_author.proof.check import check
from bt_runtime import Node, Tree, load
from bt_runtime.plugins import Field, Kind
from bt_runtime.testing import FAILURE, RUNNING, SUCCESS
from bt_runtime.tree.nodes.parent import Composite, Decorator
from tests.support.random_trees import SKILLS


class Twice(Decorator):
    """Succeeds once its child has succeeded two times in a row."""

    ROUND = ("good",)
    good = 0

    def choose(self):
        if self.status is not RUNNING:
            self.good = 0
        return self.children[0]

    def conclude(self, status):
        if status is not SUCCESS:
            return status
        self.good += 1
        if self.good == 2:
            return SUCCESS
        self.context.tick_soon(self)
        return RUNNING


class Patience(Decorator):
    """Fails when its child has been running for longer than this start allows; the limit halves with each start."""

    STATE, TIMES = ("limit", "since"), ("since",)
    limit, since = 4.0, 0.0

    def choose(self):
        if self.status is not RUNNING:
            self.limit, self.since = self.limit / 2, self.context.clock.now()
        if self.context.clock.now() - self.since >= self.limit:
            return FAILURE
        return self.children[0]

    def conclude(self, status):
        if status is RUNNING:
            self.context.must_wake_at(self.since + self.limit)
        return status


class Alternate(Composite):
    """Ticks another child in each round, and never the one that it ticked before."""

    STATE = ("last",)
    last = -1

    def step(self):
        if self.status is not RUNNING:
            self.last = (self.last + 1) % len(self.children)
        return self.finish(self.children[self.last].step())


class Secretive(Node):
    """Does not say what a tick leaves behind in it."""

    def update(self):
        self.ticks = getattr(self, "ticks", 0) + 1
        return SUCCESS


class Outward(Node):
    """Asks a world that no proof has."""

    ROUND = ()
    looks_outside = True

    def update(self):
        return FAILURE if self.context.services.world is None else SUCCESS


CHILD, CHILDREN = Field("child", "node", "", required=True), Field("children", "nodes", "")
KINDS = (
    Kind("twice", "decorator", "", (CHILD,), bare="child", impl=Twice, waits=True),
    Kind("patience", "decorator", "", (CHILD,), bare="child", impl=Patience, waits=True),
    Kind("alternate", "control", "", (CHILDREN,), bare="children", impl=Alternate),
    Kind("secretive", "leaf", "", (), impl=Secretive),
    Kind("outward", "leaf", "", (), impl=Outward),
)


def tree(root: str) -> Tree:
    text = f"version: 1\ntree: t\nblackboard: {{n: {{type: integer, default: 0}}}}\nroot: {root}\n"
    return load(text, skills=(*SKILLS, *KINDS))


@pytest.mark.parametrize(
    ("root", "promise", "outcome"),
    [
        ("{twice: {set: {n: '{n + 1}'}}}", {"never": "tree is success and n != 2"}, "proved"),
        ("{twice: {set: {n: '{n + 1}'}}}", {"never": "n == 2"}, "refuted"),
        ("{twice: {go: {}}}", {"ltl": "(tree is success) -> (go is success)"}, "proved"),
        ("{patience: {go: {}}}", {"ltl": "F (tree is success or tree is failure)"}, "proved"),
        ("{patience: {wait: 3}}", {"never": "tree is success"}, "proved"),
        ("{patience: {wait: 1}}", {"never": "tree is failure"}, "proved"),
        ("{retry: {times: 2, child: {patience: {wait: 1.5}}}}", {"never": "tree is failure"}, "proved"),
        ("{repeat: {times: 2, child: {patience: {wait: 1.5}}}}", {"never": "tree is success"}, "proved"),
        ("{repeat: {times: 4, child: {alternate: [{set: {n: 1}}, {set: {n: 2}}]}}}",
         {"ltl": "G(n == 1 -> X (n == 2))"}, "proved"),
        ("{repeat: {times: 4, child: {alternate: [{set: {n: 1}}, {set: {n: 2}}]}}}",
         {"never": "tree is success and n == 1"}, "proved"),
        ("{sequence: [{fail: no}, {secretive: {}}, {go: {}}]}", {"never": "go is running"}, "proved"),
        ("{fallback: [{secretive: {}}, {go: {}}]}", {"never": "go is running"}, "open"),
        ("{sequence: [{outward: {}}, {go: {}}]}", {"never": "go is running"}, "open"),
    ],
)  # fmt: skip
def test_its_class_is_ticked(root: str, promise: dict[str, str], outcome: str) -> None:
    [result] = check(tree(root), properties=[], **promise)
    assert result.outcome == outcome, result
    if outcome == "open":
        odd = "secretive" if "secretive" in root else "outward"
        assert f"there is no model of `{odd}` (/t/0)" in result.doubts[-1]
