"""What the nodes of a run show that a model of a graft leaves out: they stay so while the graft is worked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from py_trees.behaviour import Behaviour

from bt_runtime.proof.live import STATUS
from bt_runtime.proof.model.model import Model
from bt_runtime.proof.model.node import ModelNode
from bt_runtime.proof.monitor import Sight
from bt_runtime.proof.standing import Chain, Standing, next_on
from bt_runtime.tree.describe.gist import kind_of
from bt_runtime.tree.request import Refused

IN_ORDER = frozenset(("sequence", "fallback", "sequence_with_memory"))  # they reset the children after the one in turn


def still(standing: Standing, model: Model, live: Mapping[ModelNode, Any], chain: Chain | None) -> dict[str, int]:
    """Returns what is shown of each node and skill that `model.still` names, as a status of the model."""
    if not model.still:
        return {}
    seen = {id(getattr(each, "live", each)) for each in live.values()}
    seen |= {id(each) for each in over(chain)}
    watches = {key: watch for reader in model.atoms for key, watch in reader.atom.watches.items()}
    sight = Sight(standing.run, standing=standing)
    found: dict[str, int] = {}
    for name in model.still:
        watch = watches.get(name)
        nodes = sight.skills.get(watch.skill, []) if watch is not None else at(standing, name)
        shown = {
            STATUS.get(each.status, 0)
            for each in nodes
            if id(each) not in seen and (watch is None or sight.meant(each, watch))
        }
        found[name] = next((status for status in (1, 2, 3) if status in shown), 0)
    return found


def over(chain: Chain | None) -> Iterator[Behaviour]:
    """The nodes whose results are reset at the end of the tick in which a plan came: they stand behind it."""
    if chain is None or not chain.planned:
        return
    for node in chain.way:
        below = next_on(chain, node)
        if below is None or kind_of(node) not in IN_ORDER:
            continue
        place = next(at for at, each in enumerate(node.children) if each is below)
        for each in node.children[place + 1 :]:
            yield from each.iterate()


def at(standing: Standing, path: str) -> Sequence[Behaviour]:
    """Returns the live node at a path that a property names, or none."""
    try:
        return [standing.run.engine.find(standing.above + path)]
    except Refused:
        return []


__all__ = ["still"]
