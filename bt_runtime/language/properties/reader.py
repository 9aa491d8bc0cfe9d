"""Reads `properties:` of a head, a manifest or a project file; what is wrong with them has its line and column."""

from __future__ import annotations

from collections.abc import Iterator

from bt_runtime.language.expression import ExpressionError
from bt_runtime.language.faults.diagnostic import BtError, Diagnostic
from bt_runtime.language.properties.atom import read
from bt_runtime.language.properties.property import Property
from bt_runtime.language.properties.schema import ASSUMING, ON_VIOLATION, UNDECIDED, WORDS, properties_schema
from bt_runtime.language.source import Node, Scalar, YamlMap
from bt_runtime.language.validate import DocumentCheck
from bt_runtime.language.values import NAME, inside
from bt_runtime.types import Json

CODE = "BT070"


CHECK = DocumentCheck(properties_schema(), CODE, "properties")


class Properties:
    """Reads the properties of one place; faulty ones are reported and skipped."""

    def __init__(self, node: Node | None, file: str, origin: str) -> None:
        self.file, self.origin = file, origin
        self.faults: list[Diagnostic] = [fault for _, fault in CHECK.faults(node, file)] if node is not None else []
        pairs = node.pairs if isinstance(node, YamlMap) else []
        self.all = tuple(made for key, of in pairs if isinstance(of, YamlMap) for made in self.one(key, of))

    def one(self, key: Scalar, node: YamlMap) -> Iterator[Property]:
        words = [(name, of) for name, of in node if name.text in WORDS]
        if not NAME.fullmatch(key.text):
            return  # the schema has said so
        if len(words) != 1:
            many = (
                f"says {', '.join(name.text for name, _ in words)} at once" if words else "says nothing that must hold"
            )
            self.fault(f"the property `{key.text}` {many}", key, f"give it one of: {', '.join(WORDS)}")
            return
        [(word, of)] = words
        texts: dict[str, Node] = {word.text: of} if isinstance(of, Scalar) else {}
        if isinstance(of, YamlMap):
            texts = {name.text: value for name, value in of}
        said = {name: value.data() for name, value in texts.items()}
        made = Property(
            key.text, word.text, said, _text(node, "about"), _word(node, "assuming", ASSUMING, ""),
            _word(node, "on_violation", ON_VIOLATION, "warn"), _word(node, "undecided", UNDECIDED, "refuse"),
            self.file, key.span, self.origin,
        )  # fmt: skip
        if self.sound(made, texts, of):
            yield made

    def sound(self, made: Property, texts: dict[str, Node], of: Node) -> bool:
        """Adds a fault for each text that is no expression, or no formula."""
        before = len(self.faults)
        lacking = {"leads_to": ("from", "to"), "within": ("seconds",), "at_most": ("times", "of"),
                   "before": ("first", "then")}.get(made.word, (made.word,))  # fmt: skip
        if not all(name in made.given for name in lacking):
            return False  # the schema has said so
        try:
            made.atoms  # noqa: B018 - it raises
        except ExpressionError as error:
            self.at(error, texts, of)
        except BtError as error:
            self.fault(error.message, of, error.hint)
        except (ValueError, TypeError):
            return False
        return len(self.faults) == before

    def at(self, error: ExpressionError, texts: dict[str, Node], of: Node) -> None:
        """Finds the text that causes a fault by parsing each text alone."""
        for node in texts.values():
            try:
                if isinstance(node, Scalar) and not isinstance(node.value, int | float):
                    read(node.text)
            except ExpressionError as own:
                plain = isinstance(node, Scalar) and " is " not in node.text
                span = inside(node, own.start, own.end) if plain else node.span
                self.faults.append(own.diagnostic(self.file, span))
                return
        self.fault(error.message, of, error.hint)

    def fault(self, message: str, node: Node, help: str = "") -> None:
        self.faults.append(Diagnostic(CODE, message, self.file, node.span, help=help))


def _text(node: YamlMap, key: str) -> str:
    found = node.get(key)
    return found.text if isinstance(found, Scalar) else ""


def _word(node: YamlMap, key: str, known: tuple[str, ...], default: str) -> str:
    found: Json = _text(node, key)
    return str(found) if found in known else default
