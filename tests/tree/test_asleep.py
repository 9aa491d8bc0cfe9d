"""Children of a parallel that only wait are not ticked until their time has come, and nobody can tell."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from bt_runtime import BtError, Node, Run, Status, debugger_of, load
from bt_runtime.clock import Manual
from bt_runtime.tree.node import path_of
from bt_runtime.tree.nodes.leaves import Wait

HEAD = "version: 1\ntree: t\nblackboard: {a: {type: boolean, default: true}}\nroot: "
PARTS = ["sequence", "fallback", "sequence_with_memory", "reactive_sequence", "reactive_fallback", "parallel"]
ONE = ["repeat: {times: -1, child: %s}", "retry: {times: 3, child: %s}", "until_failure: {child: %s}", "invert: %s",
       "timeout: {seconds: 2, child: %s}", "precondition: {if: a, child: %s}"]  # fmt: skip
LEAVES = ["{wait: 1}", "{wait: 2}", "{wait: 5}", "{wait: {until: a, seconds: 3}}", "{wait: {updated: a}}", "{check: a}",
          "{wait: {seconds: 1, when: a}}", "{succeed: {}}", "{fail: {}}"]  # fmt: skip


def grown(rng: random.Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(LEAVES)
    if rng.random() < 0.4:
        return "{" + rng.choice(ONE) % grown(rng, depth - 1) + "}"
    kind = "parallel" if depth > 2 else rng.choice(PARTS)
    below = ", ".join(grown(rng, depth - 1) for _ in range(rng.randint(1, 4)))
    options = rng.choice(["", "success: 1, ", "wait_all: true, ", "order: in_turn, "]) if kind == "parallel" else ""
    return f"{{{kind}: {{{options}children: [{below}]}}}}"


class Twin:
    """One of two runs of the same tree; `seen`: somebody counts its visits, so that nothing sleeps."""

    def __init__(self, text: str, seen: bool) -> None:
        self.run, self.seen = Run(load(HEAD + text), strict=False, clock=Manual()), seen
        self.told: list[object] = []

    def act(self, rng: random.Random) -> None:
        run, nodes = self.run, [node for node in self.run.nodes() if isinstance(node, Node)]
        node, what = rng.choice(nodes), rng.randrange(9)
        path = path_of(node)
        try:
            if what == 0:
                run.blackboard["a"] = rng.random() < 0.6
            elif what == 1:
                run.replace(path, grown(rng, 1))
            elif what == 2:
                run.insert(path, grown(rng, 1))
            elif what == 3:
                run.remove(path)
            elif what == 4:
                node.stop()
            elif what == 5:
                debugger_of(run).force(path, *rng.choice([["running"], ["failure"], [[2, "success"]]]))
            elif what == 6:
                debugger_of(run).take_back()
        except BtError as refused:
            self.told.append(refused.message)

    def tick(self, seconds: float) -> object:
        self.run.parts.context.clock.advance(seconds)  # type: ignore[attr-defined]
        self.run.parts.context.visits = [] if self.seen else None
        tick = self.run.tick()
        changes = [(path_of(node), status) for node, status in tick.changes]
        return tick.status, tick.due, changes, [(path_of(n), w.reason) for n, w in tick.halts], self.told


@pytest.mark.parametrize("seed", range(120))
def test_a_tree_whose_waits_are_passed_by_does_what_one_does_whose_nodes_are_all_ticked(seed: int) -> None:
    """Under writes, grafts, halts of single nodes and forced results; statuses, reasons and due times are the same."""
    text = grown(random.Random(seed), 5)
    twins = [Twin(text, seen) for seen in (True, False)]
    dice = [random.Random(-seed - 1) for _ in twins]
    for _ in range(40):
        pause = dice[0].choice([0.0, 0.1, 0.5, 1.0])
        assert pause == dice[1].choice([0.0, 0.1, 0.5, 1.0])
        first, second = [twin.tick(pause) for twin in twins]
        assert first == second, text
        for twin, rng in zip(twins, dice, strict=True):
            twin.act(rng)
    for twin in twins:
        twin.run.close()


def test_what_waits_side_by_side_is_ticked_only_when_its_time_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """A patrol of 50 waiting branches at 50 Hz costs what happens in it, not 50 steps a tick."""
    count: Counter[Status] = Counter()
    update = Wait.update

    def counted(self: Wait) -> Status:
        status = update(self)
        count[status] += 1
        return status

    monkeypatch.setattr(Wait, "update", counted)
    branch = "{repeat: {times: -1, child: {sequence: [{wait: 1}, {check: a}]}}}"
    with Run(load(HEAD + f"{{parallel: {{children: [{', '.join([branch] * 50)}]}}}}"), clock=Manual()) as run:
        for _ in range(500):
            run.tick()
            run.parts.context.clock.advance(0.02)  # type: ignore[attr-defined]
    assert count[Status.SUCCESS] == 50 * 9
    assert count[Status.RUNNING] == 50 * 10, "ticked once when it begins, and not again before its time"
