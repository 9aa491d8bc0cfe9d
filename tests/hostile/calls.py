"""What a case calls when one command is not enough, or none reaches what is tried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bt_runtime import BtError
from bt_runtime.cli import main


def in_a_row(words: Sequence[str]) -> int:
    """Commands, divided by `;`; the first code that is not 0."""
    first, command = 0, []
    for word in [*words, ";"]:
        if word != ";":
            command.append(word)
            continue
        code = main(command)
        first, command = first or code, []
    return first


def refused(error: BtError) -> int:
    print(f"error: {error.message}\n  help: {error.hint}")
    return 2


def header(words: Sequence[str]) -> int:
    """What is known of a model file before it is loaded, as `btr doctor` and every run ask it."""
    from bt_runtime.llm.local.header import read_header
    from bt_runtime.llm.local.sizing import fit
    from bt_runtime.llm.settings import WorkerSettings

    try:
        found = read_header(words[0])
        fit(found, WorkerSettings(words[0]), 1 << 32)
        print(repr((found.architecture, found.trained_context, found.vocab, found.layers, found.bytes_per_token())))
        found.chat_template  # noqa: B018
    except BtError as error:
        return refused(error)
    return 0


def expression(words: Sequence[str]) -> int:
    """As a condition and as a text with holes."""
    from bt_runtime.language.expression import ExpressionError
    from bt_runtime.language.faults.format import visible
    from bt_runtime.plugins import Template, compile

    scope: dict[str, Any] = {"battery": 0.5, "room": "kitchen", "cups": 3, "rooms": ["a", "b"] * 50}
    scope |= {"text": "one two\n" * 500, "error": {"path": "/"}, "none": None}
    tries: tuple[Callable[[], object], ...] = (
        lambda: compile(words[0]).evaluate(scope),
        lambda: Template("{" + words[0] + "}").evaluate(scope),
        lambda: Template(words[0]).evaluate(scope),
    )
    for each in tries:
        try:
            print(visible(str(each())[:200]))
        except ExpressionError as fault:
            print(visible(f"{fault.code} {fault}"))
    return 0
