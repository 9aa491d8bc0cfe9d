"""Prompts, built by pure functions. What is fixed comes first, so that its cached state serves all nodes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from bt_runtime import project
from bt_runtime.agents.story import Family, Step, opening, written
from bt_runtime.diagnose import BtError, MissingExtra
from bt_runtime.expression import ExpressionError, Template


class Prompt(NamedTuple):
    """The parts of a prompt in their order; each is only ever extended by the next."""

    system: str  # the same for every node of a strategy
    examples: str  # retrieved experiences, most similar first
    task: str  # family, goal, notes, first observation
    steps: str  # what was thought and done since

    def text(self, template: str | None = None) -> str:
        """For a base model the parts one after another; for a chat model by its own template."""
        asked = "\n".join(part for part in (self.examples, self.task) if part)
        if template is None:
            return "\n".join(part for part in (self.system.rstrip("\n") + "\n", asked) if part.strip()) + self.steps
        said = [harmless(text.strip()) for text in (self.system, asked)]
        messages = [{"role": role, "content": text} for role, text in zip(("system", "user"), said, strict=True)]
        return chat(template, messages) + harmless(self.steps)


_CONTROL = re.compile(
    r"<(?=\|[^|<>]{1,40}\|>|/?s>|(?:start|end)_of_turn>|\|?im_)|\[(?=/?(?:INST|SYSTEM_PROMPT|TOOL_\w+)\])"
)


def harmless(text: str) -> str:
    """What a world or a person says must not end a message: look-alikes of control tokens are broken up."""
    return _CONTROL.sub(lambda found: f"{found[0]} ", text)


def agent_prompt(
    system: str,
    goal: str,
    observation: str,
    steps: Sequence[Step] = (),
    *,
    family: Family | None = None,
    examples: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Prompt:
    return Prompt(system, example_block(examples), opening(goal, observation, family, notes), written(steps))


def guided(system: str, guide: str) -> str:
    """What is fixed, with the plan that is to be followed: the same for all tasks of its kind."""
    return f"{system.rstrip()}\n{system_text('guide', {'guide': guide.strip()})}" if guide.strip() else system


def example_block(examples: Sequence[str]) -> str:
    """Experiences as they are told: whole, numbered, apart from the task at hand."""
    if not examples:
        return ""
    told = "\n".join(f"Example {i}\n{text.strip()}\n" for i, text in enumerate(examples, 1))
    return f"Earlier tasks, and how they went:\n\n{told}\nNow the task at hand.\n"


def system_text(name: str, holes: Mapping[str, Any], root: Path | None = None) -> str:
    """A prompt file (`trees/prompts/NAME.md`, the project's before ours) with its holes filled."""
    path = project.find("trees", f"prompts/{name}", ".md", root)
    if path is None:
        raise BtError(f"there is no prompt `{name}`", "put it in the project's trees/prompts/ as a .md file")
    try:
        return str(Template(_read(path)).evaluate(dict(holes)))
    except ExpressionError as error:
        raise BtError(f"{path}: {error.message}", error.hint or f"its holes: {', '.join(sorted(holes))}") from error


@lru_cache(maxsize=64)
def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def chat(template: str, messages: Sequence[Mapping[str, str]]) -> str:
    """The GGUF's own chat template, run in a sandbox: it comes from a file that somebody else made."""
    try:
        from jinja2.exceptions import TemplateError
    except ImportError:
        raise MissingExtra("a chat model", "llm") from None
    try:
        text = _compiled(template).render(messages=messages, add_generation_prompt=True, bos_token="", eos_token="")
    except _Refused as refused:
        if messages and messages[0]["role"] == "system":  # some templates take no system text: say it to the user
            joined = {"role": "user", "content": f"{messages[0]['content']}\n\n{messages[1]['content']}"}
            return chat(template, [joined])
        raise BtError(f"the model's chat template refuses these messages: {refused}") from refused
    except TemplateError as error:
        raise BtError(
            f"the model's chat template cannot be used: {error}", "use the model as a base model: chat: false"
        ) from error
    return str(text)


@lru_cache(maxsize=16)
def _compiled(template: str) -> Any:
    """A model has one template, and it is asked again and again."""
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.globals["raise_exception"] = _refuse
    return environment.from_string(template)


class _Refused(Exception):
    pass


def _refuse(message: str) -> None:
    raise _Refused(message)
