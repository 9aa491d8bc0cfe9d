"""Registers of prompts: what a node tells its model beside the goal and the steps so far."""

from __future__ import annotations

from typing import NamedTuple

from bt_runtime.llm.local import header


class Register(NamedTuple):
    """A prompt register: the folder of prompts that a model was trained on. The model names it (`Model.register`; a
    file in its header)."""

    name: str
    manual: bool = True  # system texts tell the world's rules, its skills, the moves and the forms of a plan
    fitted: bool = True  # examples are told again in the node's own moves; without experiences, the world's are shown
    tried: bool = True  # a planner is told how the last attempt failed
    repeats: bool = False  # a thought may be the one before it; else that ends the attempt


STARTER = Register(header.STARTER, manual=False, fitted=False, tried=False, repeats=True)  # taught by its prompts


def register_of(name: str) -> Register:
    """The register of this name: the starter's, or the one for models that were not trained on this runtime."""
    return STARTER if name == STARTER.name else Register(name)
