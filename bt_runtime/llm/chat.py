"""How a chat model is asked: what its template puts around a system and a user text, worked out once.

Templates come from files and journals that somebody else made. None is ever run here: a process with limits runs it on
stand-ins (`template.py`), and what it put around them serves for every prompt. So no text can steer it, either.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from bt_runtime.faults.diagnostic import BtError, MissingExtra
from bt_runtime.llm.template import CASES, LONGEST, SECONDS, SYSTEM, USER
from bt_runtime.project import child

_HOLES = 8  # times that a template may say a text
_PATIENCE = 30.0  # seconds, on however busy a machine
_HINT = "ask it as a base model: open_model(FILE, chat=False), or take the template out of the file (docs/models.md)"
Shape = tuple[str | int, ...]  # what stands around the texts; 0 is the system's, 1 the user's


@dataclass(frozen=True, slots=True)
class Chat:
    """`shapes`: by which texts there are. `markers`: the tokens of the vocabulary that no text may form."""

    shapes: Mapping[str, Shape]
    markers: tuple[str, ...] = ()

    @classmethod
    def of(cls, template: str, markers: Sequence[str] = ()) -> Chat:
        """A BtError says why a template cannot be used."""
        found = _outcome(template)
        if isinstance(found, str):
            raise BtError(f"the model's chat template cannot be used: {found}", _HINT)
        return cls(found, tuple(markers))

    def say(self, system: str, user: str) -> str:
        case = {(True, True): "both", (False, True): "user", (True, False): "system"}.get((bool(system), bool(user)))
        shape = self.shapes.get(case or "neither") or self.shapes["both"]
        return "".join(part if isinstance(part, str) else (system, user)[part] for part in shape)

    def harmless(self, text: str) -> str:
        return _parted(self.markers)(harmless(text)) if self.markers else harmless(text)

    def kept(self) -> dict[str, Any]:
        """For a journal."""
        return {"shapes": {name: list(shape) for name, shape in self.shapes.items()}, "markers": list(self.markers)}


def recalled(kept: object) -> Chat | None:
    """What a journal kept: a shape, or (older ones) the template itself. Journals may come from anybody."""
    if kept is None or isinstance(kept, Chat):
        return kept
    if isinstance(kept, str):
        return Chat.of(kept)
    try:
        told: Any = kept
        shapes = {name: _checked(told["shapes"][name]) for name in CASES if name in told["shapes"] or name == "both"}
        markers = tuple(m for m in told["markers"] if isinstance(m, str) and m.strip())
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        raise BtError(
            "the journal's head says in no usable way how the model was asked",
            "the journal was changed, or is damaged: `btr runs list` tells",
        ) from fault
    return Chat(shapes, markers)


def keep(template: object) -> Any:
    """The other way; what is no template of ours stays as it is."""
    return template.kept() if isinstance(template, Chat) else template


def _checked(shape: Sequence[Any]) -> Shape:
    holes = [part for part in shape if not isinstance(part, str)]
    size = sum(len(part) for part in shape if isinstance(part, str))
    if len(holes) > _HOLES or size > LONGEST or not all(type(hole) is int and hole in (0, 1) for hole in holes):
        raise ValueError
    return tuple(shape)


@lru_cache(maxsize=64)
def _outcome(template: str) -> dict[str, Shape] | str:
    """The shapes, or why there are none; remembered either way."""
    if find_spec("jinja2") is None:
        raise MissingExtra("a chat model", "llm")
    answers = _run(template)
    if isinstance(answers, str):
        return answers
    shapes = dict[str, Shape]()
    for name, case in CASES.items():
        how, text = answers[name]
        parts = re.split(f"({SYSTEM}|{USER})", text) if how == "shown" else []
        holes = [part for part in parts if part in (SYSTEM, USER)]
        if how == "shown" and set(holes) == {*filter(None, case)} and len(holes) <= _HOLES:
            shapes[name] = tuple({SYSTEM: 0, USER: 1}.get(part, part) for part in parts if part)
        elif name == "both":
            return text if how == "fault" else "what is said to the model is not in what comes out of it"
    return shapes


def _run(template: str) -> dict[str, list[str]] | str:
    words = child.python("bt_runtime.llm.template")
    pipe = subprocess.PIPE
    with child.start(words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as process:
        try:
            said, _ = process.communicate(template.encode("utf-8", "replace"), timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            return "it takes too long"
    if process.returncode < 0:
        return f"it takes more than {SECONDS} s"
    try:
        answers: dict[str, list[str]] = json.loads(said)
    except ValueError:
        return "it takes its process down"
    return answers


_CONTROL = re.compile(
    r"<(?=\|[^|<>]{1,40}\|>|/?s>|(?:start|end)_of_turn>|\|?im_)|\[(?=/?(?:INST|SYSTEM_PROMPT|TOOL_\w+)\])"
)


def harmless(text: str) -> str:
    """What a world or a person says must not end a message: look-alikes of control tokens are broken up."""
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
