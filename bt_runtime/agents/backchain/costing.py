"""Skills with the costs that their records tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bt_runtime.agents.backchain.operator import Operator
from bt_runtime.agents.backchain.record import Record


def costed(every: Sequence[Operator], known: Mapping[str, Record]) -> list[Operator]:
    """The operators, each with the cost that its record tells."""
    return [o._replace(cost=round(known[o.skill].cost(o.cost), 3)) if o.skill in known else o for o in every]
