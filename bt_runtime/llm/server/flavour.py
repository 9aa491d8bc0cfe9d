"""Server flavours: one class for each server protocol, found by entry points, the shipped ones included."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import plugins
from bt_runtime.llm.chat.chat import Chat
from bt_runtime.llm.server import thought
from bt_runtime.llm.server.answer import Unanswered
from bt_runtime.llm.server.request import RequestLine
from bt_runtime.llm.server.retry import BUSY
from bt_runtime.types import Choice, Grammar, Question

FALLBACK = "openai"  # the flavour of a server that no flavour knows
MOST_MODELS = 4096  # models that a server may list


class Setup(NamedTuple):
    """The arguments that an endpoint was opened with, for its flavour."""

    name: str  # the server's model; empty: the only one that it has
    context: int  # tokens that the server is to hold; 0: nobody said
    chat: bool | None  # asked through its template? None: as it is made for
    terminator: str  # ends every option
    asked_again: Callable[[], None]  # called for each answer that had to be asked for again
    effort: str = thought.EFFORT  # effort asked of a reasoning model; "": the server's own
    think_tokens: int = thought.TOKENS  # tokens for a thought, besides the answer's


class Greeting:
    """A server's description of itself. Each page is fetched once, when a flavour first needs it."""

    def __init__(self, line: RequestLine) -> None:
        self.line = line

    @cached_property
    def props(self) -> Mapping[str, Any]:
        """`/props`; empty where the server has no such page."""
        try:
            return self.line.get("/props")
        except Unanswered as fault:
            if fault.status is None and not fault.again:
                where = self.line.server.address
                raise BtError(f"nobody answers at {where}: {fault}", "start the server first") from None
            if fault.status in (None, 0, *BUSY):
                raise  # too slow, too much, or not now
            return {}

    @cached_property
    def models(self) -> Sequence[Mapping[str, Any]]:
        """The rows of `/v1/models`."""
        rows = self.line.get("/v1/models").get("data")
        return [row for row in rows[:MOST_MODELS] if isinstance(row, dict)] if isinstance(rows, list) else []


class ServerText(NamedTuple):
    """A server's output: its answer, and where in it the text stands (an object and a key)."""

    answer: Mapping[str, Any]
    entry: Mapping[str, Any]
    key: str
    cut: bool  # cut off at `max_tokens`
    prompt: int  # how long the prompt was, in tokens or characters
    thought: str = ""


class Flavour(ABC):
    """A protocol that a server speaks, and what it can do. The endpoint reads every answer again."""

    flavour: ClassVar[str]  # the flavour's name in `stats()` and `btr doctor`
    able: Sequence[str] = ("asked and checked",)  # how options are chosen
    writes: str = "asked and checked"
    constrains = False  # does it keep to a grammar by itself?
    counts = False  # does `count` tell tokens?

    def __init__(self, setup: Setup) -> None:
        self.setup, self.name = setup, setup.name
        self.chat: Chat | None = None  # the roles of a prompt's parts; None: it goes on with a bare text

    @classmethod
    @abstractmethod
    def knows(cls, greeting: Greeting) -> bool:
        """True if the server is one of this flavour."""

    @abstractmethod
    def open(self, line: RequestLine, greeting: Greeting) -> None:
        """Called once, before the first question: sets `chat` and `name`."""

    @abstractmethod
    def choose(self, line: RequestLine, question: Question) -> Choice:
        """Chooses one of `question.options`."""

    @abstractmethod
    def decide(self, line: RequestLine, question: Question) -> Choice:
        """Chooses one of `question.moves`, and one of its options."""

    @abstractmethod
    def write(self, line: RequestLine, ask: dict[str, Any], grammar: Grammar | None, most: int) -> ServerText:
        """Writes a text of at most `most` tokens. `ask` holds the prompt, the stop texts and the sampling."""

    def known_count(self, text: str) -> int | None:
        """Counts the tokens of a text from what is cached, without a request."""
        return None

    def count(self, line: RequestLine, text: str) -> int:
        """Counts the tokens of a text by a request to the server."""
        raise NotImplementedError


def recognised(greeting: Greeting) -> type[Flavour]:
    """Returns the flavour that recognises the server; installed flavours are asked before ours, and OpenAI's protocol
    is the last resort."""
    for entry in sorted(plugins.entries("servers"), key=lambda entry: entry.ours):
        for flavour in _usable(entry):
            try:
                if flavour.knows(greeting):
                    return flavour
            except Unanswered as fault:
                if entry.ours or fault.status in (None, 0, *BUSY):
                    raise  # an installed one may have asked for a page that this server does not have
            except BtError:
                raise
            except Exception as error:
                hint = "ask whoever made it, or uninstall it"
                raise plugins.PluginFault(f"{entry.said}: `knows` raised {error!r:.200}", hint) from error
    return of_entry(next(entry for entry in plugins.entries("servers") if entry.name == FALLBACK))


def _usable(entry: plugins.Entry) -> Iterator[type[Flavour]]:
    """Yields nothing for an installed flavour that cannot be imported: `btr doctor` reports it, and other servers go
    on."""
    try:
        yield of_entry(entry)
    except plugins.PluginFault:
        if entry.ours:
            raise


def of_entry(entry: plugins.Entry) -> type[Flavour]:
    """The class that an entry point of the group `bt_runtime.servers` names."""

    def fits(found: object) -> bool:
        return isinstance(found, type) and issubclass(found, Flavour)

    flavour: type[Flavour] = plugins.load(entry, "a server flavour (a class derived from `ChatServer`)", fits)
    return flavour
