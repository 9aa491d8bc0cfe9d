"""The person at the terminal: agents ask them questions, and skills their consent; a typed line is the answer."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO

from bt_runtime.events import Notice
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import plugins
from bt_runtime.run.person import Person, Reply
from bt_runtime.tree.nodes.interlocks import allows

if TYPE_CHECKING:
    from bt_runtime.run.run import Tree

BY = "BTR_PERSON"  # the variable that names the plugin by which a run asks persons (entry points `bt_runtime.persons`)
SILENCE = ""  # the answer once input has ended


class AtTerminal(Person):
    """Asks one question after another, in order of arrival; ticks go on meanwhile. A line answers the question that
    was open when its reading began, or the one that it names by number. At a terminal, a yes to a skill has to name
    that question, and input typed before the question is dropped."""

    def __init__(self, lines: TextIO | None = None) -> None:
        super().__init__()
        self.lines = lines or sys.stdin
        self.typing = self.lines.isatty()
        self.reader: threading.Thread | None = None
        self.wanted = threading.Semaphore(0)

    def put(self, reply: Reply) -> Reply:
        if self.typing and not self.open:
            drain(self.lines)
        super().put(reply)
        self.wanted.release()
        if self.reader is None:
            self.reader = threading.Thread(target=self.read, name="bt-person", daemon=True)
            self.reader.start()
        return reply

    def shown(self, reply: Reply) -> str:
        named = self.typing and reply.confirms
        return f"{reply.question} Type `yes {reply.number}` or `no {reply.number}`." if named else reply.question

    def read(self) -> None:
        """Reads lines while a question is open. When the input ends, every open question is answered."""
        while True:
            self.wanted.acquire()
            while self.open:
                began = frozenset(self.open)
                self.typed(self.lines.readline(), began)

    def typed(self, line: str, began: frozenset[int]) -> None:
        """Handles a typed answer. `began`: the questions that were open when the reading of this line began."""
        number, text = self.named(line.split())
        if number is None:
            number = next(iter([*self.open]), None)
            if number is None:
                return  # the question is withdrawn
            reply = self.open.get(number)
            unread = text != SILENCE and number not in began
            unnamed = self.typing and reply is not None and reply.confirms and allows(text)
            if reply is not None and (unread or unnamed):
                self._context().emit(
                    Notice("", "warning", f"not taken: `{text}`; it names no question. {self.again(reply)}")
                )
                return
        with suppress(BtError):  # answered on the page meanwhile
            self.answer(number, text)

    def again(self, reply: Reply) -> str:
        return f"Asked is: {reply.question} Type `yes {reply.number}` or another answer with that number."

    def named(self, words: list[str]) -> tuple[int | None, str]:
        """The open question whose number begins or ends the line, and the rest of the line."""
        for at in (0, -1):
            word = words[at] if words else ""
            if word.isascii() and word.isdigit() and len(word) < 9 and int(word) in self.open and len(words) > 1:
                return int(word), " ".join(words[1:] if at == 0 else words[:-1])
        return None, " ".join(words) or SILENCE


def drain(lines: TextIO) -> None:
    """Discards input that was typed before the question appeared."""
    with suppress(Exception):  # no terminal after all, or none of this kind
        import termios

        termios.tcflush(lines.fileno(), termios.TCIFLUSH)


def at_hand(tree: Tree, page: bool = False) -> dict[str, Any]:
    """Returns the service that asks a person, if a terminal or a page is available and the tree may ask."""
    terminal = sys.stdin.isatty() and sys.stderr.isatty()
    named = os.environ.get(BY)
    if named and asks(tree):  # started by a robot's agent: whoever looks at the fleet is asked
        return {"person": plugins.load(plugins.named(named, "persons"), "a function that returns a person")()}
    if not (terminal or page) or not asks(tree):
        return {}
    return {"person": AtTerminal() if terminal else Person()}


def asks(tree: Tree) -> bool:
    """True when the tree has a skill that needs a person's yes, or an agent that may ask a person."""
    for spec in filter(None, (tree.spec, *tree.first.loaded.values())):
        if any(kind.data["entry"].agent_options.confirm for kind in spec.registry if "entry" in kind.data):
            return True
        if any("ask" in (node.values.get("moves") or ()) for node in spec.root.walk() if node.kind.family == "agent"):
            return True
    return False
