"""Random Python source that makes a tree of py_trees, of all that has words here."""

from __future__ import annotations

import random

_HEAD = """
import operator
import py_trees
from py_trees import behaviours as b, composites as c, decorators as d
from py_trees.common import ComparisonExpression as Compare, OneShotPolicy, ParallelPolicy, Status

R, S, F = Status.RUNNING, Status.SUCCESS, Status.FAILURE
"""
_DECORATORS = (
    "d.Inverter({0})", "d.FailureIsSuccess({0})", "d.SuccessIsFailure({0})", "d.FailureIsRunning({0})",
    "d.SuccessIsRunning({0})", "d.RunningIsFailure({0})", "d.RunningIsSuccess({0})", "d.PassThrough({0})",
    "d.Count({0})", "d.Retry({0}, num_failures={n})", "d.Repeat({0}, num_success={n})",
    "d.OneShot({0}, policy=OneShotPolicy.ON_COMPLETION)", "d.OneShot({0}, OneShotPolicy.ON_SUCCESSFUL_COMPLETION)",
    "d.Condition({0}, status={status})", "d.StatusToBlackboard({0}, variable_name='{name}_was')",
    "d.EternalGuard({0}, condition=lambda blackboard: blackboard.z < {n}, blackboard_keys=['z'])",
)  # fmt: skip
_LEAVES = (
    "b.Success({0})", "b.Failure({0})", "b.Running({0})", "b.Periodic({0}, {n})", "b.SuccessEveryN({0}, n={n})",
    "b.TickCounter({0}, {n}, {end})", "b.StatusQueue({0}, {queue}, None)", "b.StatusQueue({0}, {queue}, {status})",
    "b.SetBlackboardVariable({0}, '{key}', {n}, True)", "b.SetBlackboardVariable({0}, '{key}', {n}, overwrite=False)",
    "b.UnsetBlackboardVariable({0}, key='{key}')", "b.CheckBlackboardVariableExists({0}, '{key}')",
    "b.WaitForBlackboardVariable({0}, '{key}')", "b.CheckBlackboardVariableValue({0}, {compare})",
    "b.WaitForBlackboardVariableValue({0}, check={compare})",
    "b.CheckBlackboardVariableValues({0}, [{compare}, {compare}, {compare}], operator.{logic})",
)  # fmt: skip


class GrownSource:
    """`text` has a function `create_root`; nodes are called n1, n2, …"""

    def __init__(self, seed: str) -> None:
        self.rng, self.count, self.lines = random.Random(seed), 0, list[str]()
        policy = "ParallelPolicy.SuccessOnAll(synchronise=False)"
        self.lines.append("z = b.SetBlackboardVariable('z', 'z', 2, True)")
        root = self.node(3)
        self.lines.append(f"return c.Parallel('root', {policy}, [z, d.FailureIsSuccess('held', {root})])")
        self.text = _HEAD + "\n\ndef create_root():\n" + "".join(f"    {line}\n" for line in self.lines)

    def node(self, depth: int) -> str:
        """Writes a node, and all below it; returns its variable."""
        self.count += 1
        name, rng = f"n{self.count}", self.rng
        sort = rng.random() if depth else 1.0
        if sort < 0.35:
            kind, memory = rng.choice(("Sequence", "Selector")), rng.random() < 0.5
            self.lines.append(f"{name} = c.{kind}(name='{name}', memory={memory})")
        elif sort < 0.5:
            policy = rng.choice(("SuccessOnAll()", "SuccessOnAll(synchronise=False)", "SuccessOnOne()"))
            self.lines.append(f"{name} = c.Parallel('{name}', policy=ParallelPolicy.{policy})")
        elif sort < 0.75:
            child = self.node(depth - 1)
            self.lines.append(f"{name} = {self.filled(rng.choice(_DECORATORS), f'{name!r}, {child}', name)}")
            return name
        else:
            self.lines.append(f"{name} = {self.filled(rng.choice(_LEAVES), repr(name), name)}")
            return name
        below = [self.node(depth - 1) for _ in range(rng.randint(1, 3))]
        self.lines.append(f"{name}.add_children([{', '.join(below)}])")
        return name

    def filled(self, form: str, first: str, name: str) -> str:
        rng = self.rng
        while "{compare}" in form:
            sign, key = rng.choice(("eq", "ne", "lt", "ge")), rng.choice("xyz")
            form = form.replace("{compare}", f"Compare('{key}', {rng.randint(1, 3)}, operator.{sign})", 1)
        return form.format(
            first, n=rng.randint(1, 3), name=name, key=rng.choice("xy"), status=rng.choice("RSF"),
            end=rng.choice("SF"), logic=rng.choice(("and_", "or_", "xor")),
            queue="[" + ", ".join(rng.choices("RRSSFF", k=rng.randint(1, 5))) + "]",
        )  # fmt: skip
