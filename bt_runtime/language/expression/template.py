"""A text with holes, such as `go to {room}`. `{{` and `}}` stand for braces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bt_runtime.language.expression.expression import Computed, Expression

if TYPE_CHECKING:
    from bt_runtime.language.expression.hole import Hole


class Template(Computed):
    """A parsed template. A template that is a single hole keeps the type of its value."""

    __slots__ = ("names", "pieces", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.pieces: Sequence[str | Hole] = (text,)
        self.names: dict[str, tuple[int, int]] = {}  # free name → its first place in this text
        if "{" in text or "}" in text:
            from bt_runtime.language.expression.hole import cut

            self.pieces = cut(text)
            for hole in self.holes:
                for name, (start, end) in hole.expression.names.items():
                    self.names.setdefault(name, (start + hole.at, end + hole.at))

    @property
    def holes(self) -> list[Hole]:
        return [piece for piece in self.pieces if not isinstance(piece, str)]

    @property
    def constant(self) -> bool:
        """True when the text has no hole."""
        return len(self.pieces) == 1 and isinstance(self.pieces[0], str)

    @property
    def whole(self) -> Expression | None:
        """The expression of a template that is a single hole; else None."""
        first = self.pieces[0]
        return first.expression if len(self.pieces) == 1 and not isinstance(first, str) else None

    root = property(lambda self: (self.pieces, len(self.text)))

    def __repr__(self) -> str:
        return f"Template({self.text!r})"
