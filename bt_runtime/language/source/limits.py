"""The limits of one document, so that no input takes more than 256 MB or hangs."""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    size: int = 4_000_000  # bytes of text
    nodes: int = 400_000  # values, after every alias is written out
    depth: int = 1_000  # levels; a tree of the deepest legal kind (256 nodes) needs three for each
    faults: int = 100  # listed one by one; then their number only


DEFAULT = Limits()
