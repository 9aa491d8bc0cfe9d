"""The `step` of a behaviour of py_trees in a tree of ours."""

from __future__ import annotations

from contextlib import suppress
from typing import cast

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.tree.context import Context
from bt_runtime.tree.node import FAILURE, INVALID, RUNNING, NodeError, Steppable, record_crash


def prepared(child: Behaviour, context: Context) -> Steppable:
    """Returns the behaviour, with a `step` that ticks it once as py_trees would."""
    context.foreign = True

    def step() -> Status:
        before = child.status
        try:
            for visited in child.tick():
                if context.visits is not None:
                    context.visits.append(visited)
        except NodeError:
            raise
        except Exception as error:
            _stop_broken(child)
            record_crash(child, context, error)
        if child.status is RUNNING:
            context.poll_again()
        if child.status is not before and context.changes is not None:
            context.changes.append((child, child.status))
        return child.status

    foreign = cast(Steppable, child)
    vars(child)["step"], foreign.resumes = step, False
    foreign.seen_as = getattr(child, "seen_as", 0)
    return foreign


def _stop_broken(child: Behaviour) -> None:
    """A foreign node broke inside its tick: let it and its children clean up, whatever that raises."""
    with suppress(Exception):
        child.stop(INVALID)
    child.status = FAILURE
