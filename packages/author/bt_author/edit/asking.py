"""A change in a sentence: a model drafts it in a thread of its own, and a person sees it as a diff, to take or drop."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from difflib import unified_diff
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from bt_author.edit.session import Session
from bt_author.loosening import loosened
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.types import Json

MOST_WISH = 2_000  # characters


class Proposal(NamedTuple):
    text: str
    notes: list[str]


class Writer(Protocol):
    """Drafts a tree's text, changed by a sentence; raises BtError in words."""

    def __call__(self, path: Path, text: str, wish: str, told: Callable[[str], object]) -> Proposal: ...


class Asking:
    """One wish at a time. Nothing of the tree changes before a proposal is taken."""

    def __init__(self, session: Session, writer: Writer | None = None) -> None:
        self.session, self.writer = session, writer
        self.wish: Wish | None = None

    def move(self, path: Path, move: str, given: Mapping[str, Any]) -> Json:
        moves = {"begin": self._begin, "look": self._look, "take": self._take, "drop": self._drop}
        if move not in moves:
            raise BtError(f"there is no move `{move:.40}` of a wish", ", ".join(moves))
        return moves[move](path, given)

    def _begin(self, path: Path, given: Mapping[str, Any]) -> Json:
        if self.writer is None:
            raise BtError("no model is there to ask", "start the page with one: btr edit --model planner.gguf")
        if self.wish is not None and self.wish.thread.is_alive():
            raise BtError("the model is still writing for an earlier wish", "wait for it")
        said = str(given["wish"]).strip()[:MOST_WISH]
        if not said:
            raise BtError("the wish is empty", "such as: when the battery is low, dock first")
        self.wish = Wish(self.writer, path, self.session.buffer(path).text, said)
        self.wish.thread.start()
        return self._said(self.wish)

    def _look(self, path: Path, given: Mapping[str, Any]) -> Json:
        wish = self._of(path)
        if given.get("wait"):
            wish.thread.join(1.0)
        return self._said(wish)

    def _take(self, path: Path, given: Mapping[str, Any]) -> Json:
        wish = self._of(path)
        if wish.proposal is None:
            raise BtError("there is no proposal", "wait for it")
        loosens = self._loosens(wish)
        if loosens and list(given.get("loosens") or ()) != loosens:
            raise BtError(f"the proposal takes away: {'; '.join(loosens)}", "agree to that, or drop it")
        if self.session.buffer(path).text != wish.text:
            raise BtError("the file has changed meanwhile", "ask again")
        self.session.change(f"asked: {wish.wish[:60]}", {path: wish.proposal.text})
        self.wish = None
        return None

    def _drop(self, path: Path, given: Mapping[str, Any]) -> Json:
        self._of(path)
        self.wish = None  # a model that is still writing writes for nobody
        return None

    def _said(self, wish: Wish) -> dict[str, Json]:
        """What came of the wish; with the interlocks that a proposal takes away, which whoever takes it agrees to."""
        said = wish.said(self.session.name(wish.path))
        return {**said, "loosens": list(self._loosens(wish))} if wish.proposal is not None else said

    def _loosens(self, wish: Wish) -> list[str]:
        workspace, proposal = self.session.workspace, wish.proposal
        root = workspace.home(wish.path.parent) or workspace.root
        return loosened(root, wish.path, wish.text, proposal.text) if proposal is not None else []

    def _of(self, path: Path) -> Wish:
        if self.wish is None or self.wish.path != path:
            raise BtError("nothing was asked for this tree", "")
        return self.wish


class Wish:
    """What was asked of one tree, and what came of it."""

    def __init__(self, writer: Writer, path: Path, text: str, wish: str) -> None:
        self.writer, self.path, self.text, self.wish = writer, path, text, wish
        self.told: list[str] = []
        self.proposal: Proposal | None = None
        self.refused = ""
        self.thread = threading.Thread(target=self._write, name="bt-edit-wish", daemon=True)

    def _write(self) -> None:
        try:
            self.proposal = self.writer(self.path, self.text, self.wish, self.told.append)
        except BtError as error:
            self.refused = str(error)
        except Exception as error:  # a model that broke is told on the page
            self.refused = f"the model has failed: {error}"

    def said(self, name: str) -> dict[str, Json]:
        if self.proposal is not None:
            rows = unified_diff(self.text.splitlines(), self.proposal.text.splitlines(), name, name, lineterm="")
            return {"state": "proposed", "diff": "\n".join(rows), "notes": list(self.proposal.notes)}
        if self.refused:
            return {"state": "refused", "why": self.refused}
        return {"state": "writing", "told": list(self.told)}
