"""The vocabulary of an existing model file, by llama.cpp: training uses the tokens that a worker would feed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bt_lab.distill.documents import Document, digest
from bt_lab.distill.tokenizer import Encoded
from bt_runtime.language.project.file_digest import digest as digest_of_file
from bt_runtime.llm.local.tokenizer import VocabularyToken, tokens_of_each


class FileTokenizer:
    def __init__(self, file: Path, size: int, chat: bool) -> None:
        """`chat`: control tokens in a row's text belong to the template, and become tokens."""
        self.file, self.size, self.chat = file, size, chat
        self.digest = digest(digest_of_file(file), str(chat))

    def encode(self, documents: Sequence[Document]) -> list[Encoded]:
        found = tokens_of_each(str(self.file), [document.text for document in documents], self.chat)
        return [marked(tokens, document) for tokens, document in zip(found, documents, strict=True)]

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(tokens) for tokens in tokens_of_each(str(self.file), texts, self.chat)]


def marked(tokens: Sequence[VocabularyToken], document: Document) -> Encoded:
    """Marks the tokens that reach into a span."""
    text = document.text.encode("utf-8", "surrogatepass")
    places = _places(tokens, text)
    spans = [tuple(len(document.text[:at].encode("utf-8", "surrogatepass")) for at in span) for span in document.learn]
    learn, torn = [False] * len(tokens), 0
    for start, stop in spans:
        inside = [i for i, (begin, end) in enumerate(places) if begin < stop and end > start]
        torn += bool(inside) and places[inside[0]][0] < start
        for i in inside:
            learn[i] = True
    return Encoded([token.number for token in tokens], learn, torn)


def _places(tokens: Sequence[VocabularyToken], text: bytes) -> list[tuple[int, int]]:
    """Returns the byte range of each token. Tokens that llama.cpp adds before a text (its first token, a blank) have
    none."""
    found, at = [], 0
    for number, token in enumerate(tokens):
        name = token.text.encode("utf-8", "surrogatepass")
        size = token.size if not token.steers else len(name) * text.startswith(name, at)
        if number <= 1 and at == 0 and token.text.startswith(" ") and not text.startswith(b" "):
            size -= 1
        found.append((at, min(len(text), at + size)))
        at += size
    return found
