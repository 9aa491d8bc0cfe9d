"""Caches a server's tokens of texts and texts of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bt_runtime.llm.server import answer
from bt_runtime.llm.server.answer import Unanswered
from bt_runtime.llm.server.request import RequestLine

MOST_TOKENS = 1_000_000  # tokens of all remembered texts
MOST_VOCABULARY, MOST_PIECES = 400_000, 16 << 20  # tokens that a server may name, and bytes of all their texts
_BETWEEN = 4  # tokens that are tried as what stands between two texts
LONGEST = 1024  # bytes of one token's text: the end of a prompt is put together of them, and sent back


class Tokenizer:
    def __init__(self) -> None:
        self.known: dict[str, list[int]] = {}
        self.pieces: dict[int, bytes] = {}
        self._remembered = self._size = 0

    def tokens(self, line: RequestLine, text: str) -> list[int]:
        """The tokens of plain text, none of which is a control token."""
        if text not in self.known:
            self.many(line, [text])
        return self.known[text]

    def many(self, line: RequestLine, texts: Sequence[str]) -> None:
        """Tokenises all texts in one request, separated by a token that occurs in none."""
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        for between in range(_BETWEEN if len(new) > 1 else 1):
            content = [part for text in new for part in (text, between)][:-1]
            if not content:
                return
            found = self.mixed(line, content if len(new) > 1 else new[0])
            if len(new) == 1 or found.count(between) == len(new) - 1:
                self._remember(dict(zip(new, _apart(found, between) if len(new) > 1 else [found], strict=True)))
                return
        for text in new:
            self._remember({text: self.mixed(line, text)})

    def mixed(
        self, line: RequestLine, content: str | Sequence[str | int], begin: bool = False, steer: bool = False
    ) -> list[int]:
        """Tokenises a list of texts and tokens. `begin`: the list starts the prompt. `steer`: texts belong to the
        template and may form control tokens."""
        ask = {"content": content, "add_special": begin, "parse_special": steer, "with_pieces": True}
        said = answer.listed(line.post("/tokenize", ask), "tokens")
        parts = [content] if isinstance(content, str) else content
        size = sum(len(part.encode("utf-8", "surrogatepass")) if isinstance(part, str) else 1 for part in parts)
        if len(said) > 8 * size + 64:
            raise Unanswered(f"/tokenize makes {len(said)} tokens of {size} bytes", 200)
        if size and not said:
            raise Unanswered(f"/tokenize makes no tokens of {size} bytes", 200)
        return [self._read(entry) for entry in said]

    def _remember(self, found: dict[str, list[int]]) -> None:
        self._remembered += sum(len(tokens) + 16 for tokens in found.values())
        if self._remembered > MOST_TOKENS:
            self.known.clear()
            self._remembered = sum(len(tokens) + 16 for tokens in found.values())
        self.known |= found

    def _read(self, entry: Any) -> int:
        """Reads a token's number from an answer and caches its text."""
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


def _apart(tokens: Sequence[int], between: int) -> list[list[int]]:
    found: list[list[int]] = [[]]
    for token in tokens:
        if token == between:
            found.append([])
        else:
            found[-1].append(token)
    return found


def _bytes(piece: list[Any]) -> bytes:
    try:
        return bytes(piece)
    except (ValueError, TypeError):
        raise Unanswered("/tokenize tells a text that is made of no bytes", 200) from None
