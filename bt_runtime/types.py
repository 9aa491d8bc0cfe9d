"""All protocols and values on one page, with hardly any code; everything else implements them.

A *job* is work that goes on elsewhere (a model call, a skill, a disk): the tick starts it, polls it, may cancel it.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Literal, NamedTuple, Protocol, Self, TypeAlias, TypeVar, runtime_checkable

T = TypeVar("T")
TASK = "Your task is to:"  # how a task is told, in prompts and in ALFWorld; learnt by the shipped model
JsonValue: TypeAlias = "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"  # made here
Json = Any  # a `JsonValue` that was read: who reads it knows its shape, from a schema or a check before it
Wake = Callable[[], None]  # thread-safe; tells a sleeping runner that a job has finished
_LOOK = 0.0005  # seconds between two looks at a job that somebody waits for


class Spent(NamedTuple):
    """The tokens and time that an answer took; stored in the journal."""

    prompt: int = 0  # tokens of the prompt
    reused: int = 0  # of them, those that were in the cache
    computed: int = 0  # tokens run through the model, answer included
    seconds: float = 0.0  # from the first token to the last
    waited: float = 0.0  # before that, for room or for another's prefix

    def plus(self, other: Spent) -> Spent:
        return Spent(
            self.prompt + other.prompt,
            self.reused + other.reused,
            self.computed + other.computed,
            self.seconds + other.seconds,
            self.waited + other.waited,
        )


class Job(ABC, Generic[T]):
    """A job. A subclass defines `poll` and `cancel`."""

    wakes: bool = False  # it calls its question's `wake` when it is done; else it is looked at again and again
    spent: Spent = Spent()  # known when it is done

    @abstractmethod
    def poll(self) -> T | None:
        """Returns the answer, or None while there is none. Never blocks. Raises the error of the work."""

    @abstractmethod
    def cancel(self, reason: str) -> None:
        """Returns at once, may be called twice; a late answer is dropped."""

    def wait(self, timeout: float | None = None) -> T:
        """Blocks until the answer is there. For scripts without a tick; never call it in a tick."""
        end = None if timeout is None else time.monotonic() + timeout
        while (answer := self.poll()) is None:
            if end is not None and time.monotonic() > end:
                raise TimeoutError(f"no answer within {timeout} s")
            time.sleep(_LOOK)
        return answer


# Models ------------------------------------------------------------------------------------------


class Choice(NamedTuple):
    text: str
    index: int  # type: ignore[assignment]  # of the option; no dataclass, whose import takes longer than a whole check
    # of the whole option, its end included; greedy: of the tokens that were decided; nan: the model does not tell
    logprob: float
    margin: float  # at least so far ahead of every other option; inf when there is none
    scores: tuple[float, ...] | None = None  # one per option when all were asked for
    thought: str = ""  # what a reasoning model on a server thought before


class Writing(NamedTuple):
    text: str
    ended: Literal["stop", "grammar", "length"]  # "length" under a grammar is an invalid answer
    tokens: int
    thought: str = ""


class Grammar(NamedTuple):
    """The allowed form of an answer. Built from the node registry or from literals, never from outside text."""

    kind: Literal["lark", "json_schema", "regex"]
    text: str


class Question(NamedTuple):
    """A question to a model, with its asker. Fields that its kind does not use keep their defaults."""

    kind: Literal["choose", "decide", "write", "embed"]
    prompt: str = ""
    # choose: one of them, ended by a line break or the model's own terminator; a beginning ends with a blank instead
    options: tuple[str, ...] = ()
    moves: Mapping[str, tuple[str, ...]] = {}  # decide: one of them, then one of its options
    mode: Literal["exact", "greedy", "scores"] = "exact"  # choose, decide (no scores)
    normalise: bool = False  # … by the number of tokens
    grammar: Grammar | None = None  # write
    stop: tuple[str, ...] = ()  # … to the first of these, which is not part of the text
    max_tokens: int = 256
    temperature: float = 0.0  # 0 takes the likeliest token; otherwise the seed decides, whatever else is asked
    top_p: float = 1.0
    min_p: float = 0.0
    top_k: int = 0  # of the likeliest; 0: of all
    seed: int = 0
    texts: tuple[str, ...] = ()  # embed
    by: str = ""  # the path of the node that asks
    aside: bool = False  # scores something for a decision, and is none itself: nothing to learn from
    wake: Wake | None = None  # called, from any thread, when the answer is there
    pictures: tuple[str, ...] = ()  # files, named by the digests in the prompt's marks: `[picture DIGEST]`

    @property
    def alternatives(self) -> tuple[str, ...]:
        """The texts to choose from, in the order that `Choice.index` counts."""
        return self.options or (*[move + said for move, options in self.moves.items() for said in options or ("",)],)

    def before(self, move: str) -> int:
        """Returns how many alternatives belong to earlier moves; a move without options counts as one."""
        names = [*self.moves]
        return sum(len(self.moves[name]) or 1 for name in names[: names.index(move)])


class ChatTemplate(Protocol):
    """The chat template of a model; `say` may also take turns, and `aloud` (docs/models.md)."""

    def say(self, system: str, user: str) -> str: ...
    def harmless(self, text: str) -> str:
        """Returns the text in a form that cannot end a message."""


class Model(ABC):
    """Takes questions, never blocks, answers by poll. Who makes one derives from this, and need write only `ask`."""

    chat_template: str | ChatTemplate | None = None  # None: a base model, asked with the bare text
    settings: Any = None  # of a local file: `llm.settings.Settings`
    register: str = "instruct"  # of the prompts that it is asked with: a folder of trees/prompts/, or `starter`
    sees: bool = False  # it takes `pictures`
    constrains: bool = True  # it writes what a grammar allows; else plans are asked for without, and read as they come

    def opening(self, wake: Wake | None = None) -> Job[Any] | None:
        """A job that ends when `chat_template` and `constrains` are known; None when they are already known."""
        return None

    @abstractmethod
    def ask(self, question: Question) -> Job[Any]:
        """Returns a job: a Choice to `choose` and `decide`, a Writing to `write`, vectors to `embed`; any thread."""

    def choose(
        self, prompt: str, options: Sequence[str], *, mode: Literal["exact", "greedy", "scores"] = "exact",
        normalise: bool = False,
    ) -> Job[Choice]:  # fmt: skip
        """Chooses the likeliest option after the prompt."""
        return self.ask(Question("choose", prompt, options=tuple(options), mode=mode, normalise=normalise))

    def decide(
        self, prompt: str, moves: Mapping[str, Sequence[str]], *, mode: Literal["exact", "greedy"] = "exact",
        normalise: bool = False,
    ) -> Job[Choice]:  # fmt: skip
        """Chooses a move, then one of its options, in one job: `{"Think:": (), "Act:": (" go to sink", …)}`.

        The text is that of both; the index counts all options in order, a move without options as one.
        """
        plain = {move: tuple(options) for move, options in moves.items()}
        return self.ask(Question("decide", prompt, moves=plain, mode=mode, normalise=normalise))

    def write(
        self, prompt: str, *, grammar: Grammar | None = None, stop: Sequence[str] = (), max_tokens: int = 256,
        temperature: float = 0.0, top_p: float = 1.0, min_p: float = 0.0, seed: int = 0, top_k: int = 0,
    ) -> Job[Writing]:  # fmt: skip
        return self.ask(Question(
            "write", prompt, grammar=grammar, stop=tuple(stop), max_tokens=max_tokens, temperature=temperature,
            top_p=top_p, min_p=min_p, top_k=top_k, seed=seed,
        ))  # fmt: skip

    def embed(self, texts: Sequence[str]) -> Job[Sequence[Sequence[float]]]:
        return self.ask(Question("embed", texts=tuple(texts)))

    def count(self, text: str) -> int:
        """Counts the tokens of a text: the same number at any load. It may wait for the model, so no tick calls it."""
        return len(text.split())

    def stats(self) -> Mapping[str, Json]:
        """Describes the model and its work: `context`, `asked`, `restarts` and so on, as far as known."""
        return {"model": type(self).__name__}

    def ready(self, timeout: float | None = None) -> Self:
        """Waits until it can answer; raises why it cannot."""
        return self

    def close(self) -> None:  # noqa: B027 - most hold nothing
        """Lets go of what it holds; twice does no harm."""

    def __enter__(self) -> Self:
        return self.ready()

    def __exit__(self, *_: object) -> None:
        self.close()


# Memory ------------------------------------------------------------------------------------------

End = Literal["success", "failure", "expand"]


class Embedder(Protocol):
    @property
    def fingerprint(self) -> str:
        """Changes whenever the same text could give another vector."""

    @property
    def dim(self) -> int: ...
    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Returns unit vectors. May be slow: call it outside the tick."""


# Worlds ------------------------------------------------------------------------------------------


class Observation(NamedTuple):
    text: str  # what the agent reads
    ok: bool = True  # did the action do what it says
    why: str = ""  # the reason when it did not; also when `text` is terse


class Verdict(NamedTuple):
    met: int
    total: int

    @property
    def reached(self) -> bool:
        """True when all parts of the goal are met; False for a world without a goal."""
        return 0 < self.total <= self.met


class Task(NamedTuple):
    """A task in a world; `data` is what the world needs to set it up again."""

    id: str
    kind: str
    goal: str  # the instruction as a person would say it
    data: Mapping[str, Json]


@runtime_checkable
class Looking(Protocol):
    def look(self) -> Observation:
        """Describes the state for an agent that starts now: where it is, what it holds. Changes nothing."""


@runtime_checkable
class Judging(Protocol):
    def verdict(self) -> Verdict: ...


@runtime_checkable
class Knowing(Protocol):
    def holds(self, fact: str) -> bool | None:
        """True or False for a sentence of a skill's `needs` or `brings`; None when the world cannot tell."""


@runtime_checkable
class Digesting(Protocol):
    def digest(self) -> str:
        """Returns a short text that differs between different states; "" when it would be costly to compute."""


@runtime_checkable
class Restorable(Protocol):
    def snapshot(self) -> bytes: ...
    def restore(self, snapshot: bytes) -> None: ...


@runtime_checkable
class World(Looking, Judging, Knowing, Digesting, Restorable, Protocol):
    """A seeded, picklable environment without global state. Invalid input gives an Observation, never an exception.

    A program may give a run an object that has only `act`, and some of the parts that this is made of.
    """

    def reset(self, task: Task) -> Observation: ...
    def skills(self) -> Sequence[str]:
        """Returns every sentence that can be acted now, in a fixed order."""

    def act(self, sentence: str) -> Observation: ...
    def close(self) -> None: ...


# What a world may be able to do besides; each is looked for by `isinstance`, and none is needed.


@runtime_checkable
class Instant(Protocol):
    instant: bool  # an act takes microseconds: the tick calls it itself, without a thread


@runtime_checkable
class Lasting(Protocol):
    lasting: bool  # what is done there outlives the run: a run that goes on does not put it back to its beginning


@runtime_checkable
class Doing(Protocol):
    """A world with skills that take time, report progress and can be stopped: `impl: world/skill` in a manifest."""

    def skill(self, name: str, clock: Any) -> Any:
        """Returns anything that a skill may be, a new one for each node; None for an unknown name. `clock`: the run's
        clock, which the skill must follow."""


@runtime_checkable
class Timed(Protocol):
    """A simulator with its own time, which the run uses as its clock (None: the machine's clock)."""

    own_clock: Any


@runtime_checkable
class Things(Protocol):
    def things(self) -> Sequence[str]:
        """Returns the kinds of things in the world, in a fixed order; an agent may ask working memory about them."""


@runtime_checkable
class Introduced(Protocol):
    def manual(self) -> Mapping[str, Json]:
        """Returns what a newcomer must know: `rules` (a few lines), `skills` (the forms of its sentences, with their
        conditions), `examples` (a file of experiences in memory/)."""


@runtime_checkable
class FreeText(Protocol):
    def written(self) -> Sequence[str]:
        """Returns sentences whose slots are free text that an agent writes: `search[{title}]`."""


@runtime_checkable
class Revealing(Protocol):
    def revealed(self) -> Sequence[str]:
        """Returns what a reflecting node may learn after the task, in sentences: the right answer."""


@runtime_checkable
class Pictured(Protocol):
    def picture(self) -> Json:
        """Returns a picture of the present state, for the page: `{"is": "house" | "bag" | "map" | "image" | "text", …}`
        (docs/view.md)."""


class Frame(Protocol):
    """An image: rows from the top, three bytes a pixel."""

    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int: ...
    @property
    def rgb(self) -> bytes: ...


@runtime_checkable
class Filmed(Protocol):
    def frame(self) -> Frame | None:
        """Returns the camera's present image."""


@runtime_checkable
class Explained(Protocol):
    """A world with rules that agents may be told or must find out; its suite's oracle takes `told=`."""

    def told(self) -> Sequence[str]: ...


# Faults in what people and models write -----------------------------------------------------------


class Span(NamedTuple):
    """A place in a file; lines and columns count from 1, `end` is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int
