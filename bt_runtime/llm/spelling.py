"""How a server spells: the tokens of texts, and the texts of tokens, as far as they were asked for."""

from __future__ import annotations

from typing import Any

from bt_runtime.llm import answer
from bt_runtime.llm.answer import Unanswered
from bt_runtime.llm.request import Line

MOST_TOKENS = 1_000_000  # of all texts whose tokens are remembered
MOST_VOCABULARY, MOST_PIECES = 400_000, 16 << 20  # tokens that a server may name, and bytes of all their texts
LONGEST = 1024  # bytes of one token's text: the end of a prompt is put together of them, and sent back


class Spelling:
    def __init__(self) -> None:
        self.known: dict[str, list[int]] = {}
        self.pieces: dict[int, bytes] = {}
        self._remembered = self._size = 0

    def tokens(self, line: Line, text: str, begin: bool = False) -> list[int]:
        """`begin`: as they stand at the beginning of a prompt."""
        if not begin and text in self.known:
            return self.known[text]
        said = answer.listed(
            line.post("/tokenize", {"content": text, "add_special": begin, "with_pieces": True}), "tokens"
        )
        if len(said) > 8 * len(text.encode("utf-8", "surrogatepass")) + 64:
            raise Unanswered(f"/tokenize makes {len(said)} tokens of {len(text)} characters", 200)
        if text and not said:
            raise Unanswered(f"/tokenize makes no tokens of {len(text)} characters", 200)
        tokens = [self._read(entry) for entry in said]
        if not begin:
            self._remembered += len(tokens) + 16
            if self._remembered > MOST_TOKENS:
                self.known.clear()
                self._remembered = len(tokens) + 16
            self.known[text] = tokens
        return tokens

    def _read(self, entry: Any) -> int:
        """A token's number; its text is remembered."""
        if not isinstance(entry, dict):
            raise Unanswered("/tokenize tells tokens without their texts", 200)
        token, piece = answer.whole(entry, "id"), entry.get("piece")
        if token not in self.pieces:
            raw = _bytes(piece) if isinstance(piece, list) else answer.text(entry, "piece").encode()
            if len(raw) > LONGEST:
                raise Unanswered(f"/tokenize tells a token of {len(raw)} bytes", 200)
            self._size += len(raw)
            if len(self.pieces) >= MOST_VOCABULARY or self._size > MOST_PIECES:
                raise Unanswered(f"/tokenize names more than {MOST_VOCABULARY} tokens, or texts without end", 200)
            self.pieces[token] = raw
        return token


def _bytes(piece: list[Any]) -> bytes:
    try:
        return bytes(piece)
    except (ValueError, TypeError):
        raise Unanswered("/tokenize tells a text that is made of no bytes", 200) from None
