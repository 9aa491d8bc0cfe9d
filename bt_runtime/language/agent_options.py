"""How an agent uses a skill: sources of its parameters, result texts, confirmation and start limits."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from bt_runtime.language import source
from bt_runtime.language.expression import ExpressionError, Template
from bt_runtime.language.source import Scalar
from bt_runtime.types import Span

_SAYS = re.compile(r"^[ \t]*Says:[ \t]*(\S.*)$", re.MULTILINE)
PATIENCE = 600.0  # seconds that a person who is asked has, when the author says no other: then it was a no
Fault = Callable[[str, Span, str], None]


class AgentOptions(NamedTuple):
    says: str = ""  # a template over parameters and outputs: what an agent is told when the skill has succeeded
    confirm: bool = False  # is a person asked before each start
    patience: float = PATIENCE  # seconds that the person has
    at_most: int | None = None  # starts in one run
    sources: Mapping[str, str] = {}  # parameter → an entry with a list, `things` of the world, or `skill.output`


def read(node: source.YamlMap, params: source.Node | None, names: set[str], fault: Fault) -> AgentOptions:
    """Reads a manifest skill's options for agents. `names` are its parameters and outputs. The schema reports wrong
    types."""
    says = node.get("says")
    text = says.text if isinstance(says, Scalar) else ""
    why = unsayable(text, names)
    if says is not None and why:
        fault(f"`says` takes a template: {why}", says.span, f"its holes: {', '.join(sorted(names)) or 'none'}")
    given = (node.get("confirm"), node.get("at_most"))
    confirm, most = (each.value if isinstance(each, Scalar) else None for each in given)
    most = most if type(most) is int and most > 0 else None
    return AgentOptions(text, *asked_first(confirm), most, _sources(params))


def asked_first(confirm: object) -> tuple[bool, float]:
    """Reads `confirm`: true, or the number of seconds that the person has to answer."""
    if isinstance(confirm, bool) or not isinstance(confirm, int | float):
        return confirm is True, PATIENCE
    return confirm > 0, float(confirm)


def _sources(params: source.Node | None) -> dict[str, str]:
    found = {}
    for key, node in params if isinstance(params, source.YamlMap) else ():
        given = node.get("from") if isinstance(node, source.YamlMap) else None
        if isinstance(given, Scalar):
            found[key.text] = given.text
    return found


def unsayable(text: str, names: set[str]) -> str:
    """Returns why a text cannot be a skill's `says`; "" when it can."""
    try:
        unknown = sorted(Template(text).names.keys() - names)
    except ExpressionError as error:
        return error.message
    return f"there is no `{unknown[0]}`" if unknown else ""


def of_docstring(doc: str) -> str:
    """Reads the `Says: {thing} is in the hand.` line of a docstring."""
    found = _SAYS.search(doc)
    return found[1].strip() if found else ""
