"""The nodes of a run with their signs: as a page shows them, and as they are."""

from __future__ import annotations

from bt_runtime import Run
from bt_runtime.run.view.event import SIGNS
from bt_runtime.run.view.picture import PagePicture
from bt_runtime.tree.node import path_of


def as_shown(picture: PagePicture) -> list[tuple[str, str]]:
    return [(picture.path(spot), spot.status) for spot in picture.in_order()]


def as_it_is(run: Run) -> list[tuple[str, str]]:
    return [(path_of(node), SIGNS[node.status]) for node in run.nodes()]
