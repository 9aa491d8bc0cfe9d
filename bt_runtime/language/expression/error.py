"""The errors of an expression, with their place in its text."""

from __future__ import annotations

from bt_runtime.language.faults.diagnostic import BtError, Diagnostic
from bt_runtime.types import Span

SYNTAX = "BT030"
NAME = "BT031"
CALL = "BT032"
BOUND = "BT033"
VALUE = "BT034"
FOREIGN = "BT035"
HOLE = "BT036"


class ExpressionError(BtError):
    """An error of an expression. `start` and `end` count the text's characters from 0; `end` is exclusive."""

    def __init__(self, code: str, message: str, hint: str = "", start: int = 0, end: int = 0) -> None:
        super().__init__(message, hint)
        self.code = code
        self.start = start
        self.end = max(end, start + 1)

    def diagnostic(self, file: str, span: Span) -> Diagnostic:
        """Returns the error as a fault of a file; the span is its place there."""
        return Diagnostic(self.code, self.message, file, span, help=self.hint)

    def shifted(self, by: int) -> ExpressionError:
        """Returns the error with its place moved, for a surrounding text."""
        return ExpressionError(self.code, self.message, self.hint, self.start + by, self.end + by)


class Misfit(Exception):
    """Raised when an operation is impossible for its values. The expression adds the place."""

    def __init__(self, message: str, hint: str = "", code: str = VALUE) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code
