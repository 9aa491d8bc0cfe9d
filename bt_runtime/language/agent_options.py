"""How an agent uses a skill: sources of its parameters, result texts, confirmation and start limits."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from bt_runtime.language import source
from bt_runtime.language.expression import Expression, ExpressionError, Template, compile
from bt_runtime.language.expression.error import VALUE
from bt_runtime.language.source import Scalar
from bt_runtime.types import Span

_SAYS = re.compile(r"^[ \t]*Says:[ \t]*(\S.*)$", re.MULTILINE)
_PLAIN = r"A-Za-z0-9_ ,:;@#=%&/<>!'~\-"
_PART = re.compile(rf"\\[dw.()\[\]{{}}+*?|/-]|\[(?:[{_PLAIN}.+*()]|\\[dw\]-])+\]|\{{\d+(?:,\d+)?\}}|[()|?]|[{_PLAIN}]")
FORMS = "letters, classes as [A-Z0-9], \\d, \\w, groups, |, ?, and counts with a most: {3}, {1,12}"
PATIENCE = 600.0  # seconds that a person who is asked has, when the author says no other: then it was a no
Fault = Callable[[str, Span, str], None]


class AgentOptions(NamedTuple):
    says: str = ""  # a template over parameters and outputs: what an agent is told when the skill has succeeded
    confirm: bool = False  # a person is asked before each start
    patience: float = PATIENCE  # seconds that the person has
    at_most: int | None = None  # starts in one run
    sources: Mapping[str, str] = {}  # parameter → an entry with a list, `things` of the world, or `skill.output`
    forms: Mapping[str, str] = {}  # parameter → the form of the texts that an agent may write, a regular expression


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
    return AgentOptions(text, *asked_first(confirm), most, *_filled(params, fault))


ENTRIES = "it names entries, as `guard_closed and pressure < 6`; facts go in `needs`"


def condition(text: str) -> Expression:
    """Returns the condition that a skill `requires`. Raises ExpressionError unless it reads an entry."""
    found = compile(text)
    if not found.names and not found.asked:
        raise ExpressionError(VALUE, "it reads no entry, so that it never changes")
    return found


def asked_first(confirm: object) -> tuple[bool, float]:
    """Reads `confirm`: true, or the number of seconds that the person has to answer."""
    if isinstance(confirm, bool) or not isinstance(confirm, int | float):
        return confirm is True, PATIENCE
    return confirm > 0, float(confirm)


def _filled(params: source.Node | None, fault: Fault) -> tuple[dict[str, str], dict[str, str]]:
    found = {}
    for key, node in params if isinstance(params, source.YamlMap) else ():
        given = node.get("from") if isinstance(node, source.YamlMap) else None
        if isinstance(given, Scalar):
            found[key.text] = given.text
            if why := formless(given.text):
                fault(f"`from: {given.text:.60}` is no form of a text: {why}", given.span, FORMS)
    return apart(found)


def apart(given: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Tells sources of values from forms of texts: `/[A-Z]{3}/`."""
    forms = {name: text[1:-1] for name, text in given.items() if _is_form(text)}
    return {name: text for name, text in given.items() if name not in forms}, forms


def _is_form(text: str) -> bool:
    return len(text) > 2 and text[0] == text[-1] == "/"


def formless(text: str) -> str:
    """Returns why a text between slashes is no form; "" for a form, and for the name of a source."""
    if not _is_form(text):
        return ""
    rest = _PART.sub("", text[1:-1])
    if rest:
        return f"`{rest[0]}` is not part of one"
    try:
        re.compile(text[1:-1])
    except re.error as error:
        return str(error)
    return ""


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
