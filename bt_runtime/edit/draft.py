"""A tree's text while it is edited: what stands in it, and the checks that hold each change to what it means."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from bt_runtime.edit import brackets
from bt_runtime.edit.lines import Lines, Untouchable
from bt_runtime.edit.outline import Item, Path, Step, outline
from bt_runtime.language import source
from bt_runtime.language.kinds.kind import Registry
from bt_runtime.language.source import Document, Node
from bt_runtime.types import Json


class Draft:
    """One text, read once. A change makes another draft."""

    def __init__(self, text: str, registry: Registry) -> None:
        self.text = text
        self.registry = registry

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Draft) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    @cached_property
    def document(self) -> Document:
        return source.parse(self.text.removeprefix("\ufeff"), "text")

    @property
    def top(self) -> Node:
        if self.document.root is None:
            fault = self.document.diagnostics[0] if self.document.diagnostics else None
            why = f"line {fault.span.line}: {fault.message}" if fault is not None and fault.span else "nothing in it"
            raise Untouchable(f"this text cannot be read ({why})", "mend it in the text first")
        return self.document.root

    @cached_property
    def root(self) -> Item | None:
        return outline(self.document.root, self.registry)

    @cached_property
    def lines(self) -> Lines:
        return Lines(self.text)

    def item(self, path: Sequence[int]) -> Item:
        assert self.top is not None
        found = self.root.at(path) if self.root is not None else None
        if found is None:
            raise Untouchable("this node is not in the text any more", "look at the text as it is now")
        return found

    def apart(self, path: Path) -> Draft:
        """The same tree, with this node and what it stands in on lines of their own."""
        draft, most = self, 200
        while most:
            most -= 1
            item = draft.item(path)
            found = brackets.outermost(draft.lines, item)
            if found is None:
                return draft
            draft = draft.same(brackets.without_brackets(draft.text, draft.top, found))
        raise Untouchable("too many brackets within brackets", "write it on lines of its own first")

    def same(self, text: str) -> Draft:
        """A text that says the same, in other lines."""
        return self.means(text, self.top.data())

    def means(self, text: str, data: Json) -> Draft:
        """The changed text, if it says just this; raises otherwise: nothing is changed unseen."""
        draft = Draft(text, self.registry)
        if draft.document.root is None or draft.document.root.data() != data:
            raise Untouchable(
                "this part of the text is written in a way that the change cannot keep",
                "an anchor that another place uses, or a text of several lines? Change it in the text",
            )
        return draft

    def data(self) -> Json:
        """The plain data of the whole text; a copy, to be changed."""
        return self.top.data()


def reach(data: Json, way: Sequence[Step]) -> Json:
    """What stands at the end of this way in plain data."""
    for step in way:
        data = data[step]
    return data
