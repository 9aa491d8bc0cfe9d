"""Reads the beginning of a GGUF file as untrusted input. It knows no model."""

from __future__ import annotations

import math
import os
import struct
from array import array
from pathlib import Path
from typing import BinaryIO, NamedTuple

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import system
from bt_runtime.types import Json

# GGUF value types → struct codes; 8 is a string, 9 an array.
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_WHOLE = {code: struct.Struct("<" + code) for code in "IQ"}
# Bytes per block and values per block of the tensor types whose size we know.
_BLOCKS = {
    0: (4, 1), 1: (2, 1), 2: (18, 32), 3: (20, 32), 6: (22, 32), 7: (24, 32), 8: (34, 32), 10: (84, 256),
    11: (110, 256), 12: (144, 256), 13: (176, 256), 14: (210, 256), 24: (1, 1), 25: (2, 1), 26: (4, 1), 30: (2, 1),
}  # fmt: skip
_PAIRS, _TENSORS, _ITEMS = 20_000, 200_000, 2_000_000  # no honest file has more (items: of all lists of text together)
_LONGEST_KEY = 4_096
_LONGEST_TEXT = 1 << 20  # bytes of a text that is kept; longer ones are passed over, and a longer template refused
_KEPT_TEXT = 8 << 20  # bytes of all kept texts together
_KEPT = 4_096  # numbers of a list that are kept (one a layer); of longer lists, as of vocabularies, only the length
_DIMENSIONS = 4  # dimensions of a tensor
_MARKERS, _LONGEST_MARK = 32_768, 256  # control tokens, and bytes of one
# Token types. A text must form none that is UNKNOWN or CONTROL, nor one that is USER_DEFINED and set apart from words.
_NORMAL, _USER_DEFINED = 1, 4
_STEERING = (2, 3, _USER_DEFINED)
AGAIN = "download it again, or convert it anew"


def _looks_set(token: str) -> bool:
    """True for a token that looks like a marker: a name within signs, as `<think>`, `[INST]`, `<｜User｜>`; not
    spaces or `->`."""
    name = token.lstrip("_▁")
    return len(name) > 2 and name[0] in "<[{>|" and name[-1] in ">]}<|" and any(map(str.isalpha, name))


class Raw(NamedTuple):
    size: int  # bytes of the file
    about: dict[str, Json]
    tensors: int
    weights: int  # bytes of tensor data
    markers: tuple[str, ...]
    ends: tuple[str, str] = ("", "")  # (token that begins a text, token that ends it)


class GgufReader:
    """Reads a header. Every length is checked against the file's remaining bytes before anything is read or kept."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self.file, self.path = file, path
        self.size = os.fstat(file.fileno()).st_size
        self.at = self.kept = self.items = 0
        self.tokens: array[int] = array("Q")  # place of each token of the vocabulary in the file
        self.marked: dict[int, bytes] = {}  # tokens that look like a control mark
        self.kinds: array[int] = array("i")

    def raw(self) -> Raw:
        magic = self.file.read(4)
        if magic != b"GGUF":
            raise BtError(f"{self.path} is not a GGUF file (it starts with {magic!r})", "convert it, or take a .gguf")
        self.at = 4
        version = self.one("I")
        if version not in (2, 3):
            raise BtError(f"{self.path}: GGUF version {version} is not known", "versions 2 and 3 are; convert it anew")
        tensors, pairs = self.count(_TENSORS), self.count(_PAIRS)
        about = dict[str, Json]()
        for _ in range(pairs):
            key = self.key()
            if key in about:
                raise BtError(f"{self.path} says {key!r:.80} twice", AGAIN)
            about[key] = self.value(key, self.one("I"))
        end = max((self.tensor() for _ in range(tensors)), default=0)
        start = -(-self.at // 32) * 32
        if tensors and start + end > self.size:
            raise BtError(
                f"{self.path} is cut off: {self.size:,} bytes of at least {start + end:,}", "download it again"
            )
        return Raw(self.size, about, tensors, end, self.markers(), self.ends(about))

    def one(self, code: str) -> int:
        whole = _WHOLE[code]
        return int(whole.unpack(self.take(whole.size))[0])

    def take(self, size: int) -> bytes:
        if size > self.size - self.at:
            raise EOFError
        data = self.file.read(size)
        if len(data) < size:
            raise EOFError
        self.at += size
        return data

    def skip(self, size: int) -> None:
        if size <= _KEPT:
            self.take(size)
            return
        if size > self.size - self.at:
            raise EOFError
        self.at += size
        self.file.seek(self.at)

    def count(self, most: int) -> int:
        number = self.one("Q")
        if number > most or number > self.size:
            raise EOFError
        return number

    def key(self) -> str:
        length = self.one("Q")
        if length > _LONGEST_KEY:
            raise EOFError
        return self.take(length).decode("utf-8", "replace")

    def value(self, key: str, kind: int) -> Json:
        if kind == _STRING:
            return self.text(key)
        if kind == _ARRAY:
            return self.array(key)
        if kind not in _SCALARS:
            raise EOFError
        code = "<" + _SCALARS[kind]
        found = struct.unpack(code, self.take(struct.calcsize(code)))[0]
        return found if not isinstance(found, float) or math.isfinite(found) else str(found)  # JSON knows no others

    def text(self, key: str) -> str:
        length = self.one("Q")
        if length > _LONGEST_TEXT or self.kept + length > _KEPT_TEXT:
            self.skip(length)
            if key == "tokenizer.chat_template":
                raise BtError(f"{self.path}: its chat template has {length:,} bytes, which is not a template", AGAIN)
            return f"({length:,} bytes)"
        self.kept += length
        return self.take(length).decode("utf-8", "replace")

    def array(self, key: str) -> Json:
        """Reads an array. A list of texts (a vocabulary) and a very long list of numbers are returned as their
        length."""
        kind, length = self.one("I"), self.count(self.size)
        if kind in _SCALARS:
            return self.numbers(key, _SCALARS[kind], length)
        if kind != _STRING:
            raise EOFError
        self.items += length
        if self.items > _ITEMS or 8 * length > self.size - self.at:
            raise EOFError
        if key == "tokenizer.ggml.tokens":
            for index in range(length):
                self.vocable(index)
            return length
        for _ in range(length):
            self.skip(self.one("Q"))
        return length

    def vocable(self, index: int) -> None:
        self.tokens.append(self.at)
        length = self.one("Q")
        if length > _LONGEST_MARK:
            self.skip(length)
            return
        text = self.take(length)
        if text.endswith(b">") and b"<" in text[:4] and len(self.marked) <= _MARKERS:
            self.marked[index] = text

    def numbers(self, key: str, code: str, length: int) -> Json:
        size = struct.calcsize("<" + code)
        if key == "tokenizer.ggml.token_type" and code in "iI" and length <= _ITEMS:
            self.kinds = array("i", struct.unpack(f"<{length}i", self.take(4 * length)))
            return length
        if length > _KEPT:
            self.skip(size * length)
            return length
        found = list(struct.unpack(f"<{length}{code}", self.take(size * length)))
        return [x if not isinstance(x, float) or math.isfinite(x) else str(x) for x in found]

    def markers(self) -> tuple[str, ...]:
        """The tokens that a text must not form, such as control tokens. The vocabulary marks them, wherever it stands
        in the file."""
        steering = [i for i, kind in enumerate(self.kinds[: len(self.tokens)]) if kind in _STEERING]
        if len(steering) > _MARKERS or len(self.marked) > _MARKERS:
            raise BtError(f"{self.path} has more control tokens than can be kept out of a text", AGAIN)
        found = dict[str, None]()
        for index in steering:
            text = self.token(self.tokens[index])
            if text.strip() and (self.kinds[index] != _USER_DEFINED or _looks_set(text)):
                found[text] = None
        for index, data in self.marked.items():
            text = data.decode("utf-8", "replace")
            # llama.cpp takes some names for control tokens whatever their type says; all that it knows look so
            if self.kind(index) == _NORMAL and _looks_set(text):
                found[text] = None
        return tuple(found)

    def ends(self, about: dict[str, Json]) -> tuple[str, str]:
        """The texts of the tokens that a template knows as `bos_token` and `eos_token`."""
        usual = (1, 2) if about.get("tokenizer.ggml.model") == "llama" else (-1, -1)
        keys = ("tokenizer.ggml.bos_token_id", "tokenizer.ggml.eos_token_id")
        numbers = [about.get(key, number) for key, number in zip(keys, usual, strict=True)]
        first, last = (
            self.token(self.tokens[n]) if type(n) is int and 0 <= n < len(self.tokens) else "" for n in numbers
        )
        return first, last

    def kind(self, index: int) -> int:
        return self.kinds[index] if index < len(self.kinds) else _NORMAL

    def token(self, place: int) -> str:
        (length,) = struct.unpack("<Q", system.read_at(self.file.fileno(), 8, place))
        if length > _LONGEST_MARK:
            raise BtError(f"{self.path} has a control token of {length:,} bytes", AGAIN)
        return system.read_at(self.file.fileno(), length, place + 8).decode("utf-8", "replace")

    def tensor(self) -> int:
        """Returns the end of a tensor in the data part; 0 for an unknown type."""
        self.skip(self.one("Q"))
        dimensions = self.one("I")
        if dimensions > _DIMENSIONS:
            raise EOFError
        shape = [self.one("Q") for _ in range(dimensions)]
        kind, offset = self.one("I"), self.one("Q")
        if kind not in _BLOCKS:
            return 0
        size, values = _BLOCKS[kind]
        return offset + math.prod(shape) // values * size
