"""How settings, questions and answers are written in messages. What the worker sends is checked: it has read a model
file, and may have been taken over by one."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

from bt_runtime.llm.local.wire import Malformed, Message
from bt_runtime.llm.settings import WorkerSettings
from bt_runtime.types import Choice, Grammar, Question, Spent, Writing

ENDED = ("stop", "grammar", "length")
TUPLES = ("options", "stop", "texts", "pictures")  # fields of a question that JSON makes lists of


def settings_as(settings: WorkerSettings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in WorkerSettings.__dataclass_fields__} | {
        "lora": [{"file": adapter.file, "scale": adapter.scale} for adapter in settings.lora]
    }


def settings_of(data: dict[str, Any]) -> WorkerSettings:
    return WorkerSettings(**data)


def question_as(question: Question) -> dict[str, Any]:
    """Returns the fields that differ from their defaults; the function to call when it is answered stays here."""
    usual = Question._field_defaults
    fields = {name: value for name, value in question._asdict().items() if value != usual.get(name)}
    fields.pop("wake", None)
    return fields


def question_of(data: dict[str, Any]) -> Question:
    given: dict[str, Any] = {name: tuple(value) if name in TUPLES else value for name, value in data.items()}
    if "moves" in given:
        given["moves"] = {move: tuple(options) for move, options in given["moves"].items()}
    if "grammar" in given:
        given["grammar"] = Grammar(*given["grammar"])
    return Question(**given)


class Spelled(NamedTuple):
    """An answer: its sort and small values, and the numbers that are many."""

    data: list[Any]
    numbers: array[float]


def answer_as(value: Any) -> Spelled:
    if isinstance(value, Choice):
        scores = array("d", value.scores or ())
        return Spelled(["choice", *value[:4], value.scores is not None], scores)
    if isinstance(value, Writing):
        return Spelled(["writing", *value[:3]], array("d"))
    numbers = array("d")
    for vector in value:
        numbers.extend(vector)
    return Spelled(["vectors", len(value)], numbers)


def answer_of(data: Any, numbers: Sequence[float], question: Question) -> Any:
    """Returns the answer to a question. Raises Malformed for what cannot be one."""
    match data:
        case ["choice", str(text), int(index), float(logprob), float(margin), bool(scored)]:
            options = question.alternatives
            if not 0 <= index < len(options) or options[index] != text or scored is not (question.mode == "scores"):
                raise Malformed(f"the choice {text!r:.60} is none of the options")
            if scored and len(numbers) != len(options):
                raise Malformed(f"{len(numbers)} scores for {len(options)} options")
            return Choice(text, index, logprob, margin, tuple(numbers) if scored else None)
        case ["writing", str(text), str(ended), int(tokens)] if ended in ENDED and question.kind == "write":
            return Writing(text, ended, tokens)  # type: ignore[arg-type]
        case ["vectors", int(count)] if question.kind == "embed" and count == len(question.texts):
            width = len(numbers) // count if count else 0
            if width * count != len(numbers):
                raise Malformed(f"{len(numbers)} numbers for {count} texts")
            return [[*numbers[at * width : (at + 1) * width]] for at in range(count)]
    raise Malformed("an answer is none to its question")


def spent_of(data: Any) -> Spent:
    match data:
        case [int(prompt), int(reused), int(computed), int() | float() as seconds, int() | float() as waited]:
            return Spent(prompt, reused, computed, float(seconds), float(waited))
    raise Malformed("an answer does not say what it took")


def heard(message: Message) -> tuple[str, Sequence[Any]]:
    """Returns a worker's message, once its parts are of the right types. Raises Malformed."""
    match message.kind, *message.rest:
        case ("beat",) | ("gone", int()) | ("answer", int(), list(), list()) | ("counted", int(), int()):
            return message.kind, message.rest
        case ("note", str()) | ("ready", dict()) | ("failed", str(), str()):
            return message.kind, message.rest
        case ("error", int(), str(), str(), list(), None | [int(), int()]):
            return message.kind, message.rest
    raise Malformed(f"`{message.kind:.40}` is no message of a worker")
