"""Registers of prompts: what a node tells its model beside the goal and the steps so far."""

from __future__ import annotations

from typing import NamedTuple

from bt_runtime.llm.local import header


class Register(NamedTuple):
    """A model names its register (`Model.register`; of a file, its header). The prompts are in the folder so named."""

    name: str
    manual: bool = True  # system texts tell the world's rules, its skills, the moves and the forms of a plan
    fitted: bool = True  # examples are told again in the node's own moves; without experiences, the world's are shown
    tried: bool = True  # a planner is told how the last attempt failed
    repeats: bool = False  # a thought may be the one before it; else that ends the attempt


STARTER = Register(header.STARTER, manual=False, fitted=False, tried=False, repeats=True)  # taught by its prompts


def register_of(name: str) -> Register:
    """The starter's, or one for models that know nothing of this runtime."""
    return STARTER if name == STARTER.name else Register(name)
