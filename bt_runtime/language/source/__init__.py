"""YAML as people and models write it: composed once, every node with its place, every problem a fault.

document = read("trees/patrol.yaml")     # or parse(text, "reply")
document.root                            # YamlMap | YamlList | Scalar, or None when the text is no YAML
document.diagnostics                     # all that was found, in the order of the text
"""

from __future__ import annotations

from bt_runtime.language.source.document import Document, parse, read
from bt_runtime.language.source.limits import Limits
from bt_runtime.language.source.node import Node, Scalar, YamlList, YamlMap, nothing, unquoted_hole
from bt_runtime.language.source.pause import PausedCollection

__all__ = [
    "Document", "Limits", "Node", "PausedCollection", "Scalar", "YamlList", "YamlMap", "nothing", "parse", "read",
    "unquoted_hole",
]  # fmt: skip
