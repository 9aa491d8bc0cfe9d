"""How an agent takes a skill as its action: what fills its slots, what the agent is told, what is asked first."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from bt_runtime.language import source
from bt_runtime.language.expression import ExpressionError, Template
from bt_runtime.language.source import Scalar
from bt_runtime.types import Span

ENTRY = ("says", "confirm", "at_most")  # keys of a skill in a manifest
PARAM = ("from",)  # … of a parameter
_SAYS = re.compile(r"^\s*Says:\s*(\S.*)$", re.MULTILINE)
_SOURCE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)?")
Fault = Callable[[str, Span, str], None]


class Acting(NamedTuple):
    says: str = ""  # a template over parameters and outputs: what an agent is told when the skill has succeeded
    confirm: bool = False  # is a person asked before each start
    at_most: int | None = None  # starts in one run
    sources: Mapping[str, str] = {}  # parameter → an entry with a list, `things` of the world, or `skill.output`


def read(node: source.Mapping, params: source.Node | None, names: set[str], fault: Fault) -> Acting:
    """Of a skill in a manifest; `names`: its parameters and outputs."""
    says = node.get("says")
    text = says.text if isinstance(says, Scalar) else ""
    if says is not None:
        why = unsayable(text, names)
        if why:
            fault(f"`says` takes a template: {why}", says.span, f"its holes: {', '.join(sorted(names)) or 'none'}")
    confirm = node.get("confirm")
    asked = confirm.value if isinstance(confirm, Scalar) else None
    if confirm is not None and not isinstance(asked, bool):
        fault("`confirm` is true or false", confirm.span, "")
    most = node.get("at_most")
    count = most.value if isinstance(most, Scalar) else None
    if most is not None and (type(count) is not int or count < 1):
        fault("`at_most` is a whole number, 1 or more", most.span, "so often may it be started in one run")
        count = None
    return Acting(text, asked is True, count if isinstance(count, int) else None, _sources(params, fault))


def _sources(params: source.Node | None, fault: Fault) -> dict[str, str]:
    found = {}
    for key, node in params if isinstance(params, source.Mapping) else ():
        given = node.get("from") if isinstance(node, source.Mapping) else None
        if given is None:
            continue
        if isinstance(given, Scalar) and _SOURCE.fullmatch(given.text):
            found[key.text] = given.text
        else:
            fault("`from` names an entry, `things`, or `skill.output`", given.span, "for instance `from: places`")
    return found


def unsayable(text: str, names: set[str]) -> str:
    """Why this cannot be a skill's `says`; "" when it can."""
    try:
        unknown = Template(text).unknown(names)
    except ExpressionError as error:
        return error.message
    return unknown[0].message if unknown else ""


def of_docstring(doc: str) -> str:
    """`Says: {thing} is in the hand.`, a line of a docstring."""
    found = _SAYS.search(doc)
    return found[1].strip() if found else ""
