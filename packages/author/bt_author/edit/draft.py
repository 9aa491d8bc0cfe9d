"""A tree's text while it is edited, with checks that a change alters nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from bt_author.edit import brackets
from bt_author.edit.lines import Lines, Untouchable
from bt_author.edit.outline import Item, Path, Step, outline
from bt_runtime.language import source
from bt_runtime.language.kinds.kind import Registry
from bt_runtime.language.source import Document, Node
from bt_runtime.types import Json


class Draft:
    """One version of a text, parsed once. A change makes another draft."""

    def __init__(self, text: str, registry: Registry) -> None:
        self.text = text
        self.registry = registry

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
        """Returns the same tree with this node, and the brackets around it, on lines of their own."""
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
        """Returns a draft of a text with the same meaning in other lines; raises when the meaning differs."""
        return self.means(text, self.top.data())

    def means(self, text: str, data: Json) -> Draft:
        """Returns a draft of the changed text; raises when it means anything but this data, so that no change goes
        unseen."""
        draft = Draft(text, self.registry)
        if draft.document.root is None or draft.document.root.data() != data:
            raise Untouchable(
                "this part of the text is written in a way that the change cannot keep",
                "an anchor that another place uses, or a text of several lines? Change it in the text",
            )
        return draft

    def data(self) -> Json:
        """Returns a copy of the whole text's plain data, which may be changed."""
        return self.top.data()


def reach(data: Json, way: Sequence[Step]) -> Json:
    """Follows a path in plain data; returns the value at its end."""
    for step in way:
        data = data[step]
    return data
