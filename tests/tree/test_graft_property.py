"""Random trees under random grafts do what a slow model, written from the rules alone, says that they must."""

from __future__ import annotations

import random
from typing import Any

import pytest
from py_trees.common import Status

from bt_runtime import Run, Skill, load, skill
from bt_runtime.tree.node import path_of
from bt_runtime.tree.request import Refused

S, F, R, SKIP = Status.SUCCESS, Status.FAILURE, Status.RUNNING, Status.INVALID
IN_ORDER = {"sequence": S, "sequence_with_memory": S, "fallback": F}
REACTIVE = {"reactive_sequence": S, "reactive_fallback": F}
LISTS = [*IN_ORDER, *REACTIVE, "parallel"]
ONE = ["invert", "force", "retry", "repeat", "until_failure"]


class Script:
    """What a leaf does at its n-th start: a pure function of the case, so that both sides can ask."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def act(self, leaf: int, start: int) -> tuple[int, Status]:
        rng = random.Random(f"{self.seed}/{leaf}/{start}")
        return rng.choice([0, 0, 1, 2]), rng.choice([S, S, F])


# The model: sets of finished children instead of places, recursion instead of loops ---------------------


class Model:
    def __init__(self, kind: str, number: int, children: list[Model] | None = None, **options: Any) -> None:
        self.kind, self.number, self.children, self.options = kind, number, children or [], options
        self.status = SKIP
        self.done: set[Model] = set()
        self.passed = self.keep = False
        self.results: dict[Model, Status] = {}
        self.count = self.starts = self.left = 0
        self.outcome = S

    def walk(self):
        yield self
        for child in self.children:
            yield from child.walk()

    def yaml(self) -> str:
        """Flow YAML: one line, JSON-like."""
        if self.kind == "leaf":
            return f"{{leaf: {{id: {self.number}}}}}"
        if self.kind == "skipped":
            return f"{{leaf: {{id: {self.number}, when: 1 > 2}}}}"
        options = "".join(f"{k}: {v}, " for k, v in self.options.items())
        if self.kind in ONE:
            return f"{{{self.kind}: {{{options}child: {self.children[0].yaml()}}}}}"
        return f"{{{self.kind}: {{{options}children: [{', '.join(c.yaml() for c in self.children)}]}}}}"


class World:
    """Ticks and halts models; writes down what happens at the leaves."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.log: list[tuple[str, int]] = []

    def tick(self, m: Model) -> Status:
        if m.kind in IN_ORDER:
            m.status = self.in_order(m)
        elif m.kind in REACTIVE:
            m.status = self.reactive(m)
        elif m.kind in ONE:
            m.status = self.one(m)
        else:
            m.status = {"parallel": self.parallel, "leaf": self.leaf, "skipped": lambda _: SKIP}[m.kind](m)
        return m.status

    def leaf(self, m: Model) -> Status:
        if m.status is not R:
            self.log.append(("start", m.number))
            m.left, m.outcome = self.script.act(m.number, m.starts)
            m.starts += 1
        m.left -= 1
        return m.outcome if m.left < 0 else R

    def in_order(self, m: Model) -> Status:
        onward = IN_ORDER[m.kind]
        if m.status is not R and not m.keep:
            m.done = set()
        if m.status is not R and not m.done:
            m.passed = False
        while rest := [c for c in m.children if c not in m.done]:
            result = self.tick(rest[0])
            if result not in (onward, SKIP):
                m.keep = m.kind == "sequence_with_memory" and result is F
                return result
            m.done.add(rest[0])
            m.passed = m.passed or result is onward
        m.keep = False
        return onward if m.passed or not m.children else SKIP

    def reactive(self, m: Model) -> Status:
        onward, passed = REACTIVE[m.kind], False
        for at, child in enumerate(m.children):
            result = self.tick(child)
            if result not in (onward, SKIP):
                for later in m.children[at + 1 :]:
                    self.halt(later)
                return result
            passed = passed or result is onward
        return onward if passed or not m.children else SKIP

    def parallel(self, m: Model) -> Status:
        if m.status is not R:
            m.results = {}
        in_turn, skipped, result = m.options["order"] == "in_turn", set(), R
        for child in m.children:
            if child not in m.results:
                came = self.tick(child)
                if came is SKIP and not in_turn:
                    skipped.add(child)
                elif came is not R:
                    m.results[child] = came
                    result = R if in_turn else self.verdict(m, set())
                elif in_turn:
                    break
            if result is not R:
                break
        else:
            result = self.verdict(m, skipped)
        if result is not R:
            for child in m.children:
                self.halt(child)
        return result

    def verdict(self, m: Model, skipped: set[Model]) -> Status:
        count = sum(c not in skipped and m.results.get(c) is not SKIP for c in m.children)
        if not count:
            return SKIP if m.children else S
        good = sum(m.results.get(c) is S for c in m.children)
        bad = sum(m.results.get(c) is F for c in m.children)

        def of(threshold: int) -> int:
            return min(count, threshold if threshold >= 0 else max(0, count + 1 + threshold))

        if m.options["order"] == "in_turn":
            return R if good + bad < count else S if good >= of(m.options["success"]) else F
        if good >= of(m.options["success"]):
            return S
        return F if bad >= of(m.options["failure"]) or count - bad < of(m.options["success"]) else R

    def one(self, m: Model) -> Status:
        if m.status is not R:
            m.count = 0
        result = self.tick(m.children[0])
        if result in (R, SKIP):
            return result
        if m.kind == "invert":
            return F if result is S else S
        if m.kind == "force":
            return S if m.options["status"] == "success" else F
        if m.kind == "until_failure":
            return S if result is F else R
        m.count += 1
        if (result is F) == (m.kind == "retry") and m.count < m.options["times"]:
            return R
        return result

    def halt(self, m: Model) -> None:
        if m.status is not R:
            return
        for child in m.children:
            self.halt(child)
        if m.kind == "leaf":
            self.log.append(("cancel", m.number))
        m.status, m.done, m.keep = SKIP, set(), False

    # Grafts

    def insert(self, parent: Model, index: int, new: Model) -> None:
        first = next((i for i, c in enumerate(parent.children) if c not in parent.done), len(parent.children))
        here = parent.children[index] if index < len(parent.children) else None
        if index < first or (index == first and here is not None and here.status is R):
            parent.done.add(new)  # before whoever is running: this round has passed there
        parent.children.insert(index, new)

    def replace(self, parent: Model, old: Model, new: Model) -> None:
        self.halt(old)
        parent.children[parent.children.index(old)] = new
        if old in parent.done:
            parent.done.add(new)
        self.forget(parent, old)

    def remove(self, parent: Model, old: Model) -> None:
        self.halt(old)
        parent.children.remove(old)
        self.forget(parent, old)

    def forget(self, parent: Model, old: Model) -> None:
        parent.done.discard(old)
        parent.results.pop(old, None)


# The case ---------------------------------------------------------------------------------------------


class Case:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.script = Script(seed)
        self.world = World(self.script)
        self.numbers = 0
        self.model = self.grow(4)
        self.log: list[tuple[str, int]] = []
        self.starts: dict[int, int] = {}
        self.run = Run(load(f"version: 1\ntree: t\nroot:\n  {self.model.yaml()}\n", skills=[self.leaf_skill()]))
        self.owner: dict[int, Model] = {}

    def grow(self, depth: int) -> Model:
        self.numbers += 1
        number, rng = self.numbers, self.rng
        if depth == 1 or rng.random() < 0.25:
            return Model("skipped" if rng.random() < 0.1 else "leaf", number)
        kind = rng.choice([*LISTS, *LISTS, *ONE])
        options: dict[str, Any] = {}
        if kind in ONE:
            if kind in ("retry", "repeat"):
                options["times"] = rng.randint(1, 3)
            elif kind == "force":
                options["status"] = rng.choice(["success", "failure"])
            return Model(kind, number, [self.grow(depth - 1)], **options)
        children = [self.grow(depth - 1) for _ in range(rng.randint(1, 4))]
        if kind == "parallel":
            span = len(children)
            options["order"] = rng.choice(["together", "in_turn"])
            options["success"], options["failure"] = rng.randint(-span, span), rng.randint(-span, span)
        return Model(kind, number, children, **options)

    def leaf_skill(self) -> Any:
        case = self

        @skill("leaf {id}", name="leaf")
        class Leaf(Skill):
            def start(self, id: int) -> None:
                self.id = id
                case.log.append(("start", id))
                nth = case.starts.get(id, 0)
                case.starts[id] = nth + 1
                self.left, self.outcome = case.script.act(id, nth)

            def poll(self) -> Status:
                self.left -= 1
                return self.outcome if self.left < 0 else R

            def cancel(self) -> None:
                case.log.append(("cancel", self.id))

        return Leaf

    def parent_of(self, node: Model) -> Model | None:
        return next((m for m in self.model.walk() if node in m.children), None)

    def real(self, node: Model) -> Any:
        """The real node at the model's place (behind a guard)."""
        parent = self.parent_of(node)
        found = (
            self.run.parts.engine.root if parent is None else self.real(parent).children[parent.children.index(node)]
        )
        while found.children and found.children[0].segment == ".":
            found = found.children[0]
        return found

    def graft(self) -> None:
        rng = self.rng
        node = rng.choice(list(self.model.walk()))
        how, parent, path = rng.choice(["insert", "insert", "replace", "remove"]), self.parent_of(node), ""
        path = path_of(self.real(node))
        if how == "insert":
            index, new = rng.randint(0, len(node.children)), self.grow(2)
            request = self.run.insert(path, new.yaml() + "\n", index)
            allowed = node.kind in LISTS
        elif how == "replace":
            new = self.grow(3)
            request = self.run.replace(path, new.yaml() + "\n")
            allowed = True
        else:
            request, allowed = self.run.remove(path), parent is not None and parent.kind in LISTS
        before = self.shape()
        self.run.parts.engine.settle()
        if not allowed:
            assert isinstance(request.refused, Refused)
            assert self.shape() == before
            return
        assert request.applied is not None, request.refused
        if how == "insert":
            self.world.insert(node, index, new)
        elif parent is None:
            self.world.halt(self.model)
            self.model = new
        elif how == "replace":
            self.world.replace(parent, node, new)
        else:
            self.world.remove(parent, node)

    def shape(self) -> list[tuple[str, int, Status]]:
        return [(path_of(n), id(n), n.status) for n in self.run.nodes()]

    def compare(self, when: str) -> None:
        assert self.log == self.world.log, when
        for node in self.model.walk():
            real = self.real(node)
            assert len(real.children) == len(node.children), when
            assert (real.status is R) == (node.status is R), f"{when}: {path_of(real)}"

    def play(self, ticks: int) -> int:
        grafts = 0
        for n in range(ticks):
            if self.rng.random() < 0.6:
                self.graft()
                grafts += 1
                self.compare(f"graft before tick {n}")
            expected = self.world.tick(self.model)
            assert self.run.tick().status is expected, f"tick {n}"
            self.compare(f"tick {n}")
        self.run.close()
        self.world.halt(self.model)
        assert self.log == self.world.log
        return grafts


@pytest.mark.parametrize("block", range(16))
def test_random_grafts_at_random_ticks_do_what_the_model_does(block):
    grafts = sum(Case(seed).play(12) for seed in range(block * 25, block * 25 + 25))
    assert grafts > 100
