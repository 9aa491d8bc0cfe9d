"""The faults of a tree's ports: defaults outside their choices or bounds, and ports that are declared twice."""

from __future__ import annotations

from collections.abc import Mapping

from bt_runtime.language.diagnostics import Diagnostics
from bt_runtime.language.ports import range_of, within
from bt_runtime.language.source import Node
from bt_runtime.language.spec import ABSENT, Port

_NUMBERS = ("integer", "number")


def check(port: Port, given: Mapping[str, Node], file: str, diagnostics: Diagnostics) -> None:
    """Reports a default that is none of the choices, and bounds that no number can keep."""
    default, least, most = port.default, port.minimum, port.maximum
    if port.choices and default is not ABSENT and default not in port.choices:
        problem = f"`{default}`, none of its choices: {', '.join(f'`{c}`' for c in port.choices)}"
        diagnostics.error("BT016", f"the default of `{port.name}` is {problem}", file, given["default"].span)
    bounds = given.get("minimum") or given.get("maximum")
    wrong = ""
    if (least is not None or most is not None) and port.type not in _NUMBERS:
        wrong = f"`{port.name}` has bounds, and is no number"
    elif least is not None and most is not None and least > most:
        wrong = f"no number is within the bounds of `{port.name}`"
    if wrong and bounds is not None:
        help = "bounds are for `type: integer` and `type: number`, the smaller one first"
        diagnostics.error("BT048", wrong, file, bounds.span, help=help)
    if default is not ABSENT and port.type in _NUMBERS and not within(port, default):
        message = f"the default of `{port.name}` is {default}, and it takes {range_of(port)}"
        diagnostics.error("BT016", message, file, given["default"].span)


def twice(found: Mapping[str, Port], head: str, places: Mapping[str, str], file: str, diagnostics: Diagnostics) -> None:
    """Reports each port that stands under another head as well: one of its two declarations would be lost."""
    for name, port in found.items():
        if name in places:
            message = f"`{name}` is declared under `{places[name]}` and again under `{head}`"
            help = "keep one of them; an output may have a default, and may be read in the tree"
            diagnostics.error("BT048", message, file, port.span, help=help)
