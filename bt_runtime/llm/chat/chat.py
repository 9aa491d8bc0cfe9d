"""Wraps prompts as a chat model's template does; the template's parts are computed once.

Templates come from untrusted files and journals. They never run in this process: a process with limits runs them on
placeholders (`template.py`). Its result serves every prompt, so no text can steer a template."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.extra import Extra
from bt_runtime.language.project import child
from bt_runtime.llm.chat import calls as chat_calls
from bt_runtime.llm.chat.calls import CallForm, UnfitCalls, form_of
from bt_runtime.llm.chat.template import CASES, HEARD, LONGEST, SAID, SECONDS, SYSTEM, USER
from bt_runtime.llm.chat.turns import Thinking, Turn, Turns, closed, conversation, joined, quiet, thinking
from bt_runtime.types import ChatTemplate, Model

_HOLES = 8  # times that a template may say a text
_PATIENCE = 30.0  # seconds, on however busy a machine
_HINT = "ask it as a base model: open_model(FILE, chat=False), or take the template out of the file (docs/models.md)"
Shape = tuple[str | int, ...]  # pieces around the texts; 0 is the system's text, 1 the user's


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat template's parts. `shapes` are keyed by the texts present. `markers`: the vocabulary's tokens that no
    text may form."""

    shapes: Mapping[str, Shape]
    markers: tuple[str, ...] = ()
    turns: Turns | None = None  # None: acts and observations stand in one turn
    aloud: Shape = ()  # shape for a model that thinks first; ends inside the open thought
    thought: tuple[str, str] = ("", "")  # (end of a thought, text after it)
    calls: CallForm | str = "its recording is older than tool calls are here"  # a text: why it has none

    @classmethod
    def of(
        cls, template: str, markers: Sequence[str] = (), ends: tuple[str, str] = ("", ""), today: str | None = None
    ) -> Chat:
        """Analyses a template. `ends`: the tokens that begin and end a text. Raises BtError for an unusable
        template."""
        found = _outcome(template, ends, today or date.today().isoformat())
        if isinstance(found, str):
            raise BtError(f"the model's chat template cannot be used: {found}", _HINT)
        return replace(found, markers=tuple(markers))

    @property
    def thinks(self) -> bool:
        """True when the model can reason before it decides. This needs turns, because only the last one holds the
        reasoning."""
        return bool(self.aloud) and self.turns is not None

    def say(self, system: str, user: str, turns: Sequence[Turn] = (), aloud: bool = False) -> str:
        """Renders the prompt. `turns`: the conversation so far. `aloud`: up to an open thought (`thinks`)."""
        case = {(True, True): "both", (False, True): "user", (True, False): "system"}.get((bool(system), bool(user)))
        shape = self.shapes.get(case or "neither") or self.shapes["both"]
        if aloud and self.aloud:
            shape = self.aloud
        last = max((at for at, part in enumerate(shape, 1) if not isinstance(part, str)), default=0)
        if not turns or not last or self.turns is None:
            return _filled(shape, system, user)
        how = self.turns._replace(tail=_filled(shape[last:], "", ""))
        return _filled(shape[:last], system, user) + joined(turns, how)

    def harmless(self, text: str) -> str:
        return _parted(self.markers)(harmless(text)) if self.markers else harmless(text)

    def in_one_turn(self) -> Chat:
        return replace(self, turns=None)

    def kept(self) -> dict[str, Any]:
        """Returns the data that a journal stores."""
        shapes = {name: list(shape) for name, shape in self.shapes.items()}
        told: dict[str, Any] = {"shapes": shapes, "markers": list(self.markers)}
        if self.turns is not None:
            told["turns"] = list(self.turns)
        if self.aloud:
            told |= {"aloud": list(self.aloud), "thought": list(self.thought)}
        told["calls"] = self.calls if isinstance(self.calls, str) else list(self.calls)
        return told


@dataclass(frozen=True, slots=True)
class TemplateChat(Chat):
    """A program's own template, by its parts. It breaks up look-alikes of its markers itself."""

    own: ChatTemplate | None = None

    def harmless(self, text: str) -> str:
        return harmless(self.own.harmless(text) if self.own is not None else text)


def chat_of(model: Model) -> Chat | None:
    """Returns how a model's prompts are wrapped: by a template of jinja2, a `ChatTemplate` or a `Chat`; None for a base
    model."""
    template = model.chat_template
    if template is None or isinstance(template, Chat):
        return template
    if isinstance(template, str):
        return Chat.of(template)
    known = _OWN.get(template)
    if known is None:
        known = _OWN[template] = _of_template(template)
    return known


def _of_template(template: ChatTemplate) -> Chat:
    """Asks a template for the texts that all prompts are made of. One that takes turns is told a conversation, and one
    that `thinks` for its open thought."""
    say: Any = template.say
    both = template.say(SYSTEM, USER)
    shapes = {name: _shape(template.say(*case)) for name, case in CASES.items()}
    if not _whole(both, CASES["both"]):
        raise BtError(
            f"`say` of {type(template).__name__} gives no prompt: what is said to the model is not in it", _HINT
        )
    turns = None
    aloud: Shape = ()
    with suppress(TypeError):  # the template takes two texts
        turns = conversation(say(SYSTEM, USER, [*zip(SAID, HEARD, strict=True)]), both)
        aloud = _shape(say(SYSTEM, USER, (), True)) if getattr(template, "thinks", False) else ()
    stop, close = getattr(template, "thought", ("", ""))
    calls = getattr(template, "calls", "it is a program's own, and tells of no tools")
    return TemplateChat(shapes, (), turns, aloud, (stop, close), calls, template)


_OWN: WeakKeyDictionary[ChatTemplate, Chat] = WeakKeyDictionary()


def _filled(shape: Shape, system: str, user: str) -> str:
    return "".join(part if isinstance(part, str) else (system, user)[part] for part in shape)


def recalled(kept: object) -> Chat | None:
    """The recorded form of a template: a shape or, in older journals, the template itself. Journals are untrusted."""
    if kept is None or isinstance(kept, Chat):
        return kept
    if isinstance(kept, str):
        return Chat.of(kept)
    try:
        told: Any = kept
        shapes = {name: _checked(told["shapes"][name]) for name in CASES if name in told["shapes"] or name == "both"}
        markers = tuple(m for m in told["markers"] if isinstance(m, str) and m.strip())
        turns = Turns(*_texts(told["turns"], 3)) if "turns" in told else None
        aloud, (stop, close) = _checked(told.get("aloud", ())), _texts(told.get("thought", ("", "")), 2)
        calls = {"calls": chat_calls.recalled(told["calls"])} if "calls" in told else {}
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        raise BtError(
            "the journal's head has no usable chat template of the model",
            "the journal was changed, or is damaged: `btr runs list` tells",
        ) from fault
    return Chat(shapes, markers, turns, aloud, (stop, close), **calls)


def keep(template: object) -> Any:
    """The value to record; a text that is no template of ours is recorded unchanged."""
    return template.kept() if isinstance(template, Chat) else template


def _texts(told: Any, number: int) -> list[str]:
    found = [text for text in told if isinstance(text, str) and len(text) <= LONGEST]
    if len(found) != number:
        raise ValueError
    return found


def _checked(shape: Sequence[Any]) -> Shape:
    holes = [part for part in shape if not isinstance(part, str)]
    size = sum(len(part) for part in shape if isinstance(part, str))
    if len(holes) > _HOLES or size > LONGEST or not all(type(hole) is int and hole in (0, 1) for hole in holes):
        raise ValueError
    return tuple(shape)


@lru_cache(maxsize=64)
def _outcome(template: str, ends: tuple[str, str], today: str) -> Chat | str:
    """Returns the Chat of a template, or why the template is unusable; caches both."""
    Extra("llm", "a chat model").need("jinja2")
    answers = _run({"template": template, "bos": ends[0], "eos": ends[1], "now": today})
    if isinstance(answers, str):
        return answers
    texts = {name: text for name, (how, text) in answers.items() if how == "shown"}
    if not _whole(texts.get("both", ""), CASES["both"]):
        missing = "what is said to the model is not in what comes out of it"
        return answers["both"][1] if "both" not in texts else missing
    turns = conversation(texts["turns"], texts["both"]) if "turns" in texts else None
    tail = texts["both"].rpartition(USER)[2]
    spoken = quiet(turns) if turns is not None else closed(tail)
    shapes = {
        name: _shape(texts[name].removesuffix(tail) + spoken if texts[name].endswith(tail) else texts[name])
        for name, case in CASES.items()
        if _whole(texts.get(name, ""), case)
    }
    held = turns if turns is not None and turns.answer.strip() else None
    chat = Chat(shapes, turns=held, calls=_calls(answers, texts))
    thought = (
        thinking(texts.get("aloud", ""), turns, template) if _whole(texts.get("aloud", ""), CASES["both"]) else None
    )
    return replace(chat, aloud=_shape(thought.before), thought=thought[1:]) if isinstance(thought, Thinking) else chat


def _calls(answers: Mapping[str, Sequence[str]], texts: Mapping[str, str]) -> CallForm | str:
    if "called" not in texts:
        return answers.get("called", ("", "it has no tools"))[1]
    try:
        return form_of(texts["tooled"], texts["called"])
    except UnfitCalls as why:
        return str(why)


def _whole(text: str, case: tuple[str, str]) -> bool:
    """True when the rendered text holds each message, and none too often."""
    holes = re.findall(f"{SYSTEM}|{USER}", text)
    return set(holes) == {*filter(None, case)} and len(holes) <= _HOLES


def _shape(text: str) -> Shape:
    return tuple({SYSTEM: 0, USER: 1}.get(part, part) for part in re.split(f"({SYSTEM}|{USER})", text) if part)


def _run(cases: Mapping[str, str]) -> dict[str, list[str]] | str:
    words, question = child.python("bt_runtime.llm.chat.template"), json.dumps(cases).encode()
    try:
        done = child.answer(words, question, _PATIENCE, stderr=subprocess.DEVNULL)
    except TimeoutError:
        return "it takes too long"
    if done.returncode < 0:
        return f"it takes more than {SECONDS} s"
    try:
        answers: dict[str, list[str]] = json.loads(done.stdout)
    except ValueError:
        return "it takes its process down"
    return answers


_CONTROL = re.compile(
    r"<(?=\|[^|<>]{1,40}\|>|/?s>|(?:start|end)_of_turn>|\|?im_)|\[(?=/?(?:INST|SYSTEM_PROMPT|TOOL_\w+)\])"
)


def harmless(text: str) -> str:
    """Breaks up look-alikes of control tokens in text from a world or a person, so that it cannot end a message."""
    return _CONTROL.sub(lambda found: f"{found[0]} ", text)


class _Parted:
    """Breaks up every marker of a vocabulary by a letter that none of them has; so none can come about by that."""

    def __init__(self, markers: Sequence[str]) -> None:
        letters = {letter for marker in markers for letter in marker}
        self.gap = next(gap for gap in (" ", "·", "-", *map(chr, range(0xE000, 0xF8FF))) if gap not in letters)
        self.known = frozenset(markers)
        self.sizes: dict[str, list[int]] = {}
        for first, size in sorted({(marker[0], len(marker)) for marker in markers}):
            self.sizes.setdefault(first, []).append(size)
        self.start = re.compile("[" + "".join(map(re.escape, self.sizes)) + "]")

    def __call__(self, text: str) -> str:
        def apart(found: re.Match[str]) -> str:
            first, at = found[0], found.start()
            sizes = [size for size in self.sizes[first] if text[at : at + size] in self.known]
            return first if not sizes else self.gap if 1 in sizes else first + self.gap

        return self.start.sub(apart, text)


@lru_cache(maxsize=16)
def _parted(markers: tuple[str, ...]) -> _Parted:
    return _Parted(markers)
