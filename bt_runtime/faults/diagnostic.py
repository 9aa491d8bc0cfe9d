"""Faults as data: gathered with their place, formatted once at the edge (see `format`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from bt_runtime.types import Span


Severity = Literal["error", "warning"]
SHOWN = 10  # faults in the text of an exception; a program that was not asked prints no hundreds of lines


class Edit(NamedTuple):
    """What stands at a place is replaced; at an empty place, something is put in."""

    span: Span
    text: str


class Fix(NamedTuple):
    """A way out that a program can take: what it does, in words, and as edits of the diagnostic's file."""

    title: str
    edits: tuple[Edit, ...]
    sure: bool = False  # nothing in it has to be filled in by a person: `btr validate --fix` takes it


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


class BtError(Exception):
    """Something a person can fix: one line that says what is wrong, and a hint that says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  help: {self.hint}" if self.hint else self.message


class MissingExtra(BtError):
    """An optional part is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the `{extra}` extra", f"pip install 'bt_runtime[{extra}]'")
        self.extra = extra


class TooLong(BtError):
    """A prompt that does not fit its model's context. `tokens`: what it takes with its answer, of `limit`; 0 where the
    model does not tell."""

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
    """For `ExitStack.push`: what breaks while something else was already wrong is a note on that, not instead of it."""

    def leave(kind: object, error: BaseException | None, trace: object) -> None:
        try:
            close()
        except Exception as later:
            if error is None:
                raise
            for note in (f"and while closing: {type(later).__name__}: {later}", *getattr(later, "__notes__", ())):
                error.add_note(note)

    return leave


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that a person most likely meant, or None when nothing is near."""
    import difflib  # only when something is already wrong

    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return found[0] if found else None
