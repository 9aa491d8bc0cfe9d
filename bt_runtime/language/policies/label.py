"""Labels: the sources that a value was made from. A value has a set of them, joined from all that it was made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from bt_runtime.types import Json

OPERATOR = "operator"  # inputs of a run, what a person typed
AUTHOR = "author"  # text of the tree, its manifests and prompts
WORLD = "world"  # reports of sensors, skills and worlds
MEMORY = "memory"  # experiences of earlier runs
MODEL = "model"  # answers of models
OUTSIDE = "outside"  # text that strangers can write: pages, mails, notes, results of MCP tools
LABELS = (OPERATOR, AUTHOR, WORLD, MEMORY, MODEL, OUTSIDE)
ASSISTED = "from the assistant"  # the comment above a graft that an assistant wrote and a person agreed to
Labels: TypeAlias = frozenset[str]
NOTHING: Labels = frozenset()
UNKNOWN: Labels = frozenset(LABELS)  # labels of a value of unknown source


def labels_of(given: Json) -> Labels:
    """Reads one label or a list of labels; other words are left out, the schema reports them."""
    named = given if isinstance(given, list | tuple | set | frozenset) else [given]
    return frozenset(each for each in named if each in LABELS)


def said(labels: Iterable[str]) -> str:
    """Returns the labels in words, in one order: `operator and model`."""
    found = set(labels)
    words = [each for each in LABELS if each in found]
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words) or "nothing"
