"""Builds prompts by pure functions. The fixed text comes first, so that all nodes share its cached state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from bt_runtime.agents.story import Family, StoryStep, example, left_out, opening, written
from bt_runtime.language import project
from bt_runtime.language.expression import ExpressionError, Template
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.kinds.registry import installed
from bt_runtime.language.project import disk
from bt_runtime.llm.chat.calls import Call, CallForm, Tool
from bt_runtime.llm.chat.chat import Chat


class Prompt(NamedTuple):
    """The parts of a prompt in their order; each is only ever extended by the next."""

    system: str  # the system text, equal for every node of a strategy
    examples: str  # retrieved experiences, most similar first
    task: str  # family, goal, notes, first observation
    steps: str  # thoughts and actions since then
    turns: tuple[tuple[str, str], ...] = ()  # (what was said, what was heard) of the story
    omitted: str = ""  # says how many earlier steps are left out
    tools: tuple[Tool, ...] = ()  # the model's tools, with `form: tools`
    calls: tuple[Call, ...] = ()  # … and the steps as calls of them
    shown: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()  # the examples as conversations: a task, its turns

    def text(self, chat: Chat | None = None, aloud: bool = False) -> str:
        """Joins the parts. A base model gets them one after another, a chat model by its template, as a conversation if
        the template supports one. `aloud`: the model thinks first."""
        asked = "\n".join(filter(None, (self.examples, self.task))) + self.omitted
        if chat is None:
            return "\n".join(filter(str.strip, (self.system.rstrip("\n") + "\n", asked))) + self.steps
        system, user = chat.harmless(self.system.strip()), chat.harmless(asked.strip())
        if self.tools and isinstance(chat.calls, CallForm):
            calls = [(name, chat.harmless(said), chat.harmless(heard)) for name, said, heard in self.calls]
            return chat.calls.say(system, user, self.tools, calls)
        if self.shown and chat.turns is not None and (self.turns or not self.steps):
            user, turns = self._told()
            return chat.say(
                system, chat.harmless(user), [(chat.harmless(a), chat.harmless(b)) for a, b in turns], aloud
            )
        if chat.turns is not None and (self.turns or not self.steps):
            turns = [(chat.harmless(said), chat.harmless(heard)) for said, heard in self.turns]
            return chat.say(system, user, turns, aloud)
        return chat.say(system, user) + chat.harmless(self.steps)

    def _told(self) -> tuple[str, list[tuple[str, str]]]:
        """The examples and the task as one conversation: after an example's last turn the next task is told."""
        tasks = [*(task for task, _ in self.shown), (self.task + self.omitted).strip()]
        turns = list[tuple[str, str]]()
        for (_, told), following in zip(self.shown, tasks[1:], strict=True):
            turns += [*told[:-1], (told[-1][0], following)]
        return tasks[0], [*turns, *self.turns]


def agent_prompt(
    system: str,
    goal: str,
    observation: str,
    steps: Sequence[StoryStep] = (),
    *,
    family: Family | None = None,
    examples: Sequence[str] = (),
    notes: Sequence[str] = (),
    omitted: int = 0,
) -> Prompt:
    """Builds an agent's prompt. `omitted`: the number of oldest steps that are left out."""
    told = steps[omitted:] if omitted else steps
    turns = tuple([step.turn() for step in told])
    task = opening(goal, observation, family, notes)
    return Prompt(system, example_block(examples), task, written(told), turns, left_out(omitted))


def guided(system: str, guide: str) -> str:
    """The fixed prompt with the plan to follow: the same for all tasks of its kind."""
    return f"{system.rstrip()}\n{system_text('guide', {'guide': guide.strip()})}" if guide.strip() else system


def equipped(system: str, actions: Sequence[str]) -> str:
    """The fixed prompt with the available skills: the same for all agents of a tree that share them."""
    if not actions:
        return system
    return f"{system.rstrip()}\n{system_text('actions', {'actions': chr(10).join(actions)})}"


def example_block(examples: Sequence[str]) -> str:
    """The experiences for the prompt: whole, numbered, apart from the task at hand."""
    if not examples:
        return ""
    told = "\n".join(f"Example {i}\n{example(text.strip())}\n" for i, text in enumerate(examples, 1))
    return f"Earlier tasks, and how they went:\n\n{told}\nNow the task at hand.\n"


def system_text(name: str, holes: Mapping[str, Any], register: str = "", texts: Mapping[str, str] = {}) -> str:
    """A prompt file (`trees/prompts/NAME.md`, the project's before ours) with its holes filled.

    A register's own file takes precedence over the general one, and the project's files over the shipped ones. A text
    of `texts` takes the place of the file of its name.
    """
    if name in texts:
        return str(Template(texts[name]).evaluate(dict(holes)))
    path = _found(name, register)
    if path is None:
        raise BtError(f"there is no prompt `{name}`", "put it in the project's trees/prompts/ as a .md file")
    try:
        return str(Template(_read(path)).evaluate(dict(holes)))
    except ExpressionError as error:
        raise BtError(f"{path}: {error.message}", error.hint or f"its holes: {', '.join(sorted(holes))}") from error


def _found(name: str, register: str) -> Path | None:
    for place in project.folders("trees"):
        for each in ([f"prompts/{register}/{name}.md"] if register.isidentifier() else []) + [
            f"prompts/{name}.md",
            f"prompts/{name}",
        ]:
            if (place / each).is_file():
                return place / each
    return None


def known_prompts(places: Iterable[Path]) -> list[str]:
    """The names of all prompt files."""
    files = [
        path for place in places for path in [*(place / "prompts").glob("*.md"), *(place / "prompts").glob("*/*.md")]
    ]
    return sorted({path.stem for path in files})


def read_ahead() -> None:
    """Reads all prompts there are, once, so that no tick opens a file."""
    _all_read(tuple(project.folders("trees")))


@lru_cache(maxsize=16)
def _all_read(places: tuple[Path, ...]) -> None:
    for place in places:
        for path in [*(place / "prompts").glob("*"), *(place / "prompts").glob("*/*")]:
            with suppress(OSError, ValueError, BtError, ExpressionError):  # the node that needs it tells what is wrong
                if path.is_file():
                    Template(_read(path))
    for _ in installed():  # kinds are imported when they are first asked for
        pass


@lru_cache(maxsize=256)
def _read(path: Path) -> str:
    return disk.read_text(path)
