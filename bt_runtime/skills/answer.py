"""Reads what a skill answers: the one place that decides what is a success, a failure, or no answer at all."""

from __future__ import annotations

from typing import Any, NamedTuple

from py_trees.common import Status

from bt_runtime.types import Observation

RUNNING, SUCCESS, FAILURE = Status.RUNNING, Status.SUCCESS, Status.FAILURE
ANSWERS = (
    "return True or False, a Status, or None for success; other values need declared `outputs`, and a text for an "
    "agent is an Observation"
)
_TRUTHS = frozenset({"bool", "bool_", "torch.bool"})  # dtypes of array libraries


class EndedAnswer(NamedTuple):
    status: Status
    value: object = None  # value that the skill returned besides its status
    feedback: str = ""


class News(NamedTuple):
    """A running activity's report: new feedback text, or values for its outputs (None: none)."""

    value: object = None
    feedback: str = ""


def ended(value: object, declared: bool = False) -> EndedAnswer:
    """Reads what a function, a generator, an async or an instant skill returned.

    True, False, None and a Status are its status; so is the truth value of an array library. Any other value is an
    answer only of a skill with `declared` outputs: an error code or a text must never pass for a success."""
    if value is None or value is True:
        return EndedAnswer(SUCCESS, value)
    if value is False:
        return EndedAnswer(FAILURE, value)
    if isinstance(value, Status):
        return EndedAnswer(_end(value))
    if isinstance(value, Observation):
        return EndedAnswer(SUCCESS if value.ok else FAILURE, value, value.text)
    if type(value) is tuple and len(value) == 2 and isinstance(value[0], Status):
        if value[1] is not None and not isinstance(value[1], bool | Observation) and not declared:
            raise _no_answer(value[1], ANSWERS)
        return EndedAnswer(_end(value[0]), value[1])
    truth = truth_of(value)
    if truth is not None:
        return EndedAnswer(SUCCESS if truth else FAILURE, truth)
    if not declared or hasattr(value, "__await__") or hasattr(value, "gi_frame"):
        raise _no_answer(value, ANSWERS)
    return EndedAnswer(SUCCESS, value)


def tested(value: object, declared: bool = False) -> EndedAnswer:
    """Reads what a condition returned: as `ended`, but None is a forgotten `return`."""
    if value is None:
        raise TypeError("a condition answers true or false, and this one has returned nothing")
    return ended(value, declared)


def standing(value: object) -> Status:
    """Reads what `poll` of a class returned, once that is not RUNNING."""
    if value is SUCCESS or value is FAILURE:
        return value
    raise _no_answer(value, "poll() of a skill must return RUNNING, SUCCESS or FAILURE")


def truth_of(value: Any) -> bool | None:
    """Returns the truth value that a single element of an array library holds; None for anything else."""
    if str(getattr(value, "dtype", "")) in _TRUTHS and tuple(getattr(value, "shape", (1,))) == ():
        return bool(value)
    return None


def _end(status: Status) -> Status:
    if status is not SUCCESS and status is not FAILURE:
        raise _no_answer(status, "a skill that has returned must have ended with SUCCESS or FAILURE")
    return status


def _no_answer(value: object, answers: str) -> TypeError:
    return TypeError(f"{value!r:.80} is no answer of a skill: {answers}")
