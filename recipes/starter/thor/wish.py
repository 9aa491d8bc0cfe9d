"""What a person's sentence wants of a room."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from bt_envs.thor.goals import Goal

TREATED = {
    "pick_clean_then_place_in_recep": ("clean", "SinkBasin"),
    "pick_heat_then_place_in_recep": ("heat", "Microwave"),
    "pick_cool_then_place_in_recep": ("cool", "Fridge"),
}


class Told(NamedTuple):
    """What a person's sentence wants, and in which of its words, by the part of the goal that they mean."""

    goal: Goal
    words: Mapping[str, str] = {}  # object, how, movable, toggle, parent
