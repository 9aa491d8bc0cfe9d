"""Other texts for named prompts from a moment of a run on, as a fork has them."""

from __future__ import annotations

from collections.abc import Mapping

from bt_runtime.agents.prompt import known_prompts
from bt_runtime.agents.services import agent_services
from bt_runtime.language import project
from bt_runtime.language.expression.error import ExpressionError
from bt_runtime.language.expression.template import Template
from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.tree.context import Context


def reword(context: Context, texts: Mapping[str, str]) -> None:
    """Agents ask with these texts from their next turn on. A question that is open is asked as it was."""
    if not texts:
        return
    services = agent_services(context)
    services.texts = {**services.texts, **texts}  # another object, by which agents see the change


def named(name: str) -> None:
    """Raises BtError for a prompt that no file has."""
    known = known_prompts(project.folders("trees"))
    if name not in known:
        raise BtError(f"there is no prompt `{name}`", did_you_mean(name, known, f"prompts: {', '.join(known)}"))


def checked(text: str, file: str) -> None:
    """Raises BtError with its place for a text that is no template."""
    try:
        Template(text)
    except ExpressionError as error:
        line = text.count("\n", 0, error.start) + 1
        column = error.start - text.rfind("\n", 0, error.start)
        raise BtError(f"{file}:{line}:{column}: {error.message}", error.hint) from None
