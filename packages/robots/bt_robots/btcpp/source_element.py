"""An element during its conversion to a node: each attribute is consumed, or reported as lost."""

from __future__ import annotations

import re
from collections.abc import Mapping

from bt_robots.btcpp import script
from bt_robots.btcpp.document import Element
from bt_robots.btcpp.model import entry_of, guessed
from bt_robots.btcpp.script import Said
from bt_robots.imports.names import Names
from bt_robots.imports.report import CannotSay, Report, State
from bt_runtime.language.expression import ExpressionError, compile
from bt_runtime.language.expression.scope import WORDS
from bt_runtime.types import Json

_NAMED = re.compile(r"'[^']*'|\"[^\"]*\"|@(\w+)|\b([A-Za-z]+)\b")  # not within texts
_TAKEN = WORDS - {"true", "false"}
BOOKKEEPING = {"_uid", "_fullpath", "ID"}  # attributes that editors and loggers add


class Given:
    def __init__(
        self, element: Element, tag: str, report: Report, enums: Mapping[str, float], entries: Names, outer: str
    ) -> None:
        self.element, self.tag, self.report, self.enums = element, tag, report, enums
        self.entries, self.outer = entries, outer  # `outer`: before the names of entries of the outermost tree
        self.shared = set[str]()  # entries of the outermost tree
        self.left = {name: text for name, text in element.attributes.items() if name not in BOOKKEEPING}
        self.reads, self.writes = set[str](), set[str]()
        self.notes: list[str] = []  # how its meaning changed, in words
        self.gone = ""  # why it could not be said at all

    def take(self, *names: str, default: str = "") -> str:
        """Takes the first of these attributes that is present."""
        for name in names:
            if name in self.left:
                return self.left.pop(name)
        return default

    def tell(self, name: str, state: State, became: str) -> None:
        self.report.add(self.element.at(name), f"`{name}` of <{self.tag}>", state, became)

    def entry(self, text: str, port: str = "") -> str:
        """The name of an entry, written with or without braces."""
        said = entry_of(text, port) or text.strip()
        if said.startswith("@"):
            return self.outermost(said[1:])
        name = self.entries.of(said)
        if name != said:
            self.notes.append(f"the entry `{said}` is called `{name}`")
        return name

    def outermost(self, said: str) -> str:
        """`@name` refers to an entry of the outermost tree; a called tree gets it as a port."""
        name = self.entries.of(said)
        self.shared.add(name)
        if self.outer:
            self.notes.append(f"`@{said}` is handed down as `{self.outer}{name}`")
        return self.outer + name

    def code(self, code: str) -> str:
        """Translates a script's names: `@name` is an entry of the outermost tree, `class` is no name here."""

        def named(found: re.Match[str]) -> str:
            if found[1]:
                return self.outermost(found[1])
            taken = found[2] in _TAKEN and found[2] not in self.enums
            return self.entry(found[2]) if taken else found[0]

        return _NAMED.sub(named, code)

    def read(self, text: str, port: str = "") -> str:
        self.reads.add(name := self.entry(text, port))
        return name

    def write(self, text: str, port: str = "") -> str:
        self.writes.add(name := self.entry(text, port))
        return name

    def number(self, text: str, port: str, scale: int = 1) -> Json:
        """Returns the number of a port in our unit; `scale`: 1000 for milliseconds to seconds."""
        if entry_of(text, port) is not None:
            name = self.read(text, port)
            return f"{{{name} / {scale}}}" if scale > 1 else f"{{{name}}}"
        found = guessed(text)
        if isinstance(found, bool) or not isinstance(found, int | float):
            raise CannotSay(f"`{port}`: `{text:.40}` is no number")
        return found if scale == 1 else found // scale if found % scale == 0 else found / scale

    def text(self, said: Said) -> str:
        """Returns an expression's text, and records the entries that it reads."""
        try:
            self.reads |= set(compile(said.text).names)
        except ExpressionError as error:
            raise CannotSay(f"`{said.text:.60}`: {error.message}") from None
        return said.text

    def asked(self, code: str) -> Said:
        said = script.condition(self.code(code), self.enums)
        self.text(said)
        return said

    def sets(self, code: str) -> tuple[dict[str, Json], Said | None]:
        found = script.read(self.code(code), self.enums)
        self.writes |= found.sets.keys()
        values = {name: self.value(said) for name, said in found.sets.items()}
        reads = {name: compile(said.text).names for name, said in found.sets.items()}
        return {name: values[name] for name in script.in_order(reads) or values}, found.value

    def value(self, said: Said) -> Json:
        """Returns a literal as a plain value, if it is one."""
        text = self.text(said)
        made = compile(text)
        if not made.names:
            plain = made.evaluate({})
            return plain.replace("{", "{{").replace("}", "}}") if isinstance(plain, str) else plain
        return f"{{{text}}}"
