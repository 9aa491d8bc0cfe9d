"""What a model is made for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from bt_runtime.language.spec import NodeSpec
from bt_runtime.types import Json


class Options(NamedTuple):
    """The options of a model."""

    inputs: Mapping[str, Json] = {}  # values that stay as they are
    values: Mapping[str, Sequence[Json]] = {}  # the values that are tried for an entry or an output
    sample: bool = False  # try some values where not all can be told apart, rather than leave them unknown
    keep: Callable[[NodeSpec], bool] | None = None  # parts to explore; of others only results are modelled
    gates: frozenset[str] = frozenset()  # paths of parts whose results are steered
    entries: bool = False  # do the values of all entries matter; otherwise those that a test or a property reads
    agents: bool = True  # agents may decide anything
    merge: bool = False  # unexplored neighbours become one part
    apart: frozenset[int] = frozenset()  # specs, by identity, whose children are not merged
    origins: Mapping[int, NodeSpec] = {}  # identity of a copied spec → the loaded spec
    base: Any = None  # the `Cut` of the same tree before a graft; what it has found is not looked for again
    grafted: Sequence[NodeSpec] = ()  # nodes that `base` does not know
