"""Faults as data: gathered with their place, formatted once at the edge (see `format`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from bt_runtime.types import Span


Severity = Literal["error", "warning"]
SHOWN = 10  # faults in the text of an exception; a program that was not asked prints no hundreds of lines


class Edit(NamedTuple):
    """Replaces the text at a place; an empty place inserts it."""

    span: Span
    text: str


class Fix(NamedTuple):
    """A fix that a program can apply: its description, and its edits of the diagnostic's file."""

    title: str
    edits: tuple[Edit, ...]
    sure: bool = False  # `btr validate --fix` may make it without asking


class Diagnostic(NamedTuple):
    code: str  # BT012; `btr explain BT012` tells more
    message: str
    file: str = ""
    span: Span | None = None
    label: str = ""  # beside the caret: "did you mean `sequence`?"
    help: str = ""  # a way out, under the source
    severity: Severity = "error"
    fixes: tuple[Fix, ...] = ()  # the likeliest first; see language/fixes.py

    def __str__(self) -> str:
        at = (
            f"{self.file}:{self.span.line}:{self.span.column}: "
            if self.span
            else (f"{self.file}: " if self.file else "")
        )
        tail = f" ({self.label or self.help})" if self.label or self.help else ""
        return f"{at}{self.severity}[{self.code}]: {self.message}{tail}"


def text_of(value: object) -> str:
    """Returns the value as text, or its class when `str` fails, so that describing an error never raises another."""
    try:
        return str(value)
    except Exception:
        return f"({type(value).__name__})"


def message_of(error: BaseException) -> str:
    """Returns an exception's class and message; of our own errors the message alone. Never raises."""
    if isinstance(error, BtError) and error.message:
        return text_of(error.message)
    said = text_of(error)
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


class BtError(Exception):
    """An error that a person can fix: a message with the cause, and a hint with the remedy."""

    message = hint = ""  # defaults for a subclass that does not call our `__init__`

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.hint = text_of(message), text_of(hint)

    def __str__(self) -> str:
        return f"{self.message}\n  help: {self.hint}" if self.hint else self.message


class MissingExtra(BtError):
    """Raised when an optional part is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the `{extra}` extra", f"pip install 'bt_runtime[{extra}]'")
        self.extra = extra


class TooLong(BtError):
    """Raised for a prompt that exceeds its model's context. `tokens`: what it needs with its answer, of `limit`; 0 if
    unknown."""

    def __init__(self, message: str, hint: str = "", tokens: int = 0, limit: int = 0) -> None:
        super().__init__(message, hint)
        self.tokens, self.limit = tokens, limit


class Faults(BtError):
    """Every fault of a document at once. Raised by `load`; never by the tick."""

    def __init__(self, diagnostics: Iterable[Diagnostic], sources: dict[str, str] | None = None) -> None:
        self.diagnostics: Sequence[Diagnostic] = tuple(diagnostics)
        self.sources = sources or {}  # file → text, so that the edge can show the lines
        count = len(self.diagnostics)
        lines = [str(d) for d in self.diagnostics[:SHOWN]]
        more = [f"and {count - SHOWN} more: `diagnostics` has them all"] if count > SHOWN else []
        super().__init__("\n".join([f"{count} fault{'' if count == 1 else 's'}", *lines, *more]))


def closing(close: Callable[[], object]) -> Callable[..., None]:
    """Returns a callback for `ExitStack.push`. An error during clean-up becomes a note of the first error and never
    masks it."""

    def leave(kind: object, error: BaseException | None, trace: object) -> None:
        try:
            close()
        except Exception as later:
            if error is None:
                raise
            for note in (f"and while closing: {type(later).__name__}: {later}", *getattr(later, "__notes__", ())):
                error.add_note(note)

    return leave


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The most similar known word, or None when none is similar."""
    import difflib  # imported only when there is a fault

    folded = {each.casefold(): each for each in known}  # SUCCESS is success
    said = word.casefold()
    found = difflib.get_close_matches(said, list(folded), n=3, cutoff=cutoff)
    swapped = [each for each in found if sorted(each) == sorted(said)]  # `wiat` is `wait`, and not `want`
    return folded[(swapped or found)[0]] if found else None


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "", cutoff: float = 0.6) -> str:
    """Returns the question whether the most similar known word is meant; `otherwise` when none is similar."""
    close = nearest(word, known, cutoff)
    return f"did you mean `{close}`?" if close else otherwise
