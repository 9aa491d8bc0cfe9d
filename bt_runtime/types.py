"""The whole vocabulary on one page: protocols and values, no code. Everything else is an implementation of these.

A *job* is work that goes on elsewhere (a model call, a skill, a disk): the tick starts it, polls it, may cancel it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

T_co = TypeVar("T_co", covariant=True)
Json = Any  # None | bool | int | float | str | list[Json] | dict[str, Json]
Wake = Callable[[], None]  # thread-safe; tells a sleeping runner that a job has finished


class Job(Protocol[T_co]):
    def poll(self) -> T_co | None:
        """The answer once it is there, None until then. Never blocks. Raises what the work raised."""

    def cancel(self, reason: str) -> None:
        """Returns at once, may be called twice; a late answer is dropped."""


class Clock(Protocol):
    def now(self) -> float:
        """Seconds; monotonic, whatever drives it (the machine, a test, a simulator)."""


# Models ------------------------------------------------------------------------------------------


class Choice(NamedTuple):
    text: str
    index: int  # type: ignore[assignment]  # of the option; no dataclass, whose import takes longer than a whole check
    # of the whole option, terminator included, given the prompt; greedy: of the tokens where there was something to
    # decide; nan, and the margin too: the model does not tell
    logprob: float
    margin: float  # at least so far ahead of every other option; inf when there is none
    scores: tuple[float, ...] | None = None  # one per option when all were asked for


class Writing(NamedTuple):
    text: str
    ended: Literal["stop", "grammar", "length"]  # "length" under a grammar is an invalid answer
    tokens: int


class Model(Protocol):
    """Takes jobs, never blocks, answers by poll."""

    def choose(
        self,
        prompt: str,
        options: Sequence[str],
        *,
        mode: Literal["exact", "greedy", "scores"] = "exact",
        normalise: bool = False,
    ) -> Job[Choice]:
        """The likeliest option after the prompt; each is ended by the model's terminator, a line break by default."""

    def decide(
        self,
        prompt: str,
        moves: Mapping[str, Sequence[str]],
        *,
        mode: Literal["exact", "greedy"] = "exact",
        normalise: bool = False,
    ) -> Job[Choice]:
        """First one of the moves, then one of its options, in one job: `{"Think:": (), "Act:": (" go to sink", …)}`.

        The text is that of both; the index counts all options in order, a move without options as one.
        """

    def write(
        self,
        prompt: str,
        *,
        grammar: Grammar | None = None,
        stop: Sequence[str] = (),
        max_tokens: int = 256,
        temperature: float = 0.0,
        top_p: float = 1.0,
        min_p: float = 0.0,
        seed: int = 0,
    ) -> Job[Writing]: ...
    def count(self, text: str) -> int: ...
    def embed(self, texts: Sequence[str]) -> Job[Sequence[Sequence[float]]]: ...
    def stats(self) -> Mapping[str, Json]: ...
    def close(self) -> None: ...


class Grammar(NamedTuple):
    """What an answer may look like. Built from the node registry or from literals, never from outside text."""

    kind: Literal["lark", "json_schema", "regex"]
    text: str


# Memory ------------------------------------------------------------------------------------------

End = Literal["success", "failure", "expand"]


class Embedder(Protocol):
    @property
    def fingerprint(self) -> str:
        """Changes whenever the same text could give another vector."""

    @property
    def dim(self) -> int: ...
    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Unit vectors. May be slow: call it off the tick."""


# Worlds ------------------------------------------------------------------------------------------


class Observation(NamedTuple):
    text: str  # what the agent reads
    ok: bool = True  # did the action do what it says
    why: str = ""  # the reason when it did not; also when `text` is terse


class Verdict(NamedTuple):
    met: int
    total: int


class Task(NamedTuple):
    """One thing to achieve in one world; `data` is whatever the world needs to set it up again."""

    id: str
    kind: str
    goal: str  # the instruction as a person would say it
    data: Mapping[str, Json]


class World(Protocol):
    """A seeded, picklable environment without global state. Bad input gives an Observation, never an exception."""

    def reset(self, task: Task) -> Observation: ...
    def look(self) -> Observation:
        """The first observation of an agent that starts now: where it is, what it holds. Changes nothing."""

    def skills(self) -> Sequence[str]:
        """Every sentence that can be acted now, in a fixed order."""

    def act(self, sentence: str) -> Observation: ...
    def verdict(self) -> Verdict: ...
    def holds(self, fact: str) -> bool | None:
        """Is this sentence of a skill's `needs` or `brings` true now? None: the world cannot tell."""

    def digest(self) -> str:
        """A short text that is another one whenever the state is; empty when that cannot be told cheaply."""

    def snapshot(self) -> bytes: ...
    def restore(self, snapshot: bytes) -> None: ...
    def close(self) -> None: ...


# Faults in what people and models write -----------------------------------------------------------


class Span(NamedTuple):
    """A place in a file; lines and columns count from 1, `end` is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int
