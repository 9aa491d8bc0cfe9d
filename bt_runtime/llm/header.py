"""The header of a GGUF file, read without llama.cpp: what the model is, and whether the file is whole."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from bt_runtime.diagnose import BtError
from bt_runtime.types import Json

# GGUF value types → struct codes; 8 is a string, 9 an array.
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
# Bytes per block and values per block of the tensor types whose size we know.
_BLOCKS = {
    0: (4, 1), 1: (2, 1), 2: (18, 32), 3: (20, 32), 6: (22, 32), 7: (24, 32), 8: (34, 32), 10: (84, 256),
    11: (110, 256), 12: (144, 256), 13: (176, 256), 14: (210, 256), 24: (1, 1), 25: (2, 1), 26: (4, 1), 30: (2, 1),
}  # fmt: skip
_LONGEST = 64 * 1024 * 1024  # no honest string is longer; a corrupt length must not eat the memory
_MOST = 10_000_000
_KEPT = 64  # items of an array that are kept; vocabularies are only counted


@dataclass(frozen=True, slots=True)
class Header:
    path: Path
    size: int
    about: dict[str, Json]
    tensors: int
    weights: int  # bytes of tensor data

    @property
    def architecture(self) -> str:
        return str(self.about.get("general.architecture", "?"))

    def number(self, key: str, default: int = 0) -> int:
        """A figure of this architecture; the largest where it differs between layers."""
        value = self.about.get(f"{self.architecture}.{key}", default)
        if isinstance(value, list):
            value = max((v for v in value if isinstance(v, int | float)), default=default)
        return int(value) if isinstance(value, int | float) else default

    @property
    def chat_template(self) -> str | None:
        found = self.about.get("tokenizer.chat_template")
        return found if isinstance(found, str) and found.strip() else None

    @property
    def trained_context(self) -> int:
        return self.number("context_length")

    @property
    def layers(self) -> int:
        return self.number("block_count")

    @property
    def vocab(self) -> int:
        return int(self.about.get("tokenizer.ggml.tokens", 0)) or self.number("vocab_size")

    def bytes_per_token(self) -> int:
        """What one token takes in the key-value cache, at 16 bits."""
        heads = max(1, self.number("attention.head_count", 1))
        kv_heads = self.number("attention.head_count_kv", heads)
        head = self.number("embedding_length") // heads
        key, value = self.number("attention.key_length", head), self.number("attention.value_length", head)
        return 2 * self.layers * kv_heads * (key + value)


def read_header(path: str | Path) -> Header:
    """The header, or a BtError that says in plain words what is wrong with the file."""
    path = Path(path)
    if not path.exists():
        raise BtError(f"there is no model file {path}", "give the path of a .gguf file: --model, BTR_MODEL or btr.yaml")
    if path.is_dir():
        raise BtError(f"{path} is a folder, not a model", "name the .gguf file in it")
    try:
        with path.open("rb") as file:
            return _Reader(file, path).header()
    except OSError as fault:
        raise BtError(f"{path} cannot be read: {fault.strerror}") from fault
    except (struct.error, EOFError, UnicodeDecodeError, OverflowError) as fault:
        raise BtError(f"{path} is cut off or damaged in its header", "download it again") from fault


class _Reader:
    def __init__(self, file: BinaryIO, path: Path) -> None:
        self.file, self.path = file, path
        self.size = path.stat().st_size

    def header(self) -> Header:
        magic = self.file.read(4)
        if magic != b"GGUF":
            raise BtError(f"{self.path} is not a GGUF file (it starts with {magic!r})", "convert it, or take a .gguf")
        version = self.one("I")
        if version not in (2, 3):
            raise BtError(f"{self.path}: GGUF version {version} is not known", "versions 2 and 3 are; convert it anew")
        tensors, pairs = self.count(), self.count()
        about = {self.string(): self.value(self.one("I")) for _ in range(pairs)}
        end = max((self.tensor() for _ in range(tensors)), default=0)
        header = Header(self.path, self.size, about, tensors, end)
        start = -(-self.file.tell() // 32) * 32
        if tensors and start + end > self.size:
            raise BtError(
                f"{self.path} is cut off: {self.size:,} bytes of at least {start + end:,}", "download it again"
            )
        return header

    def one(self, code: str) -> int:
        size = struct.calcsize("<" + code)
        return int(struct.unpack("<" + code, self.take(size))[0])

    def take(self, size: int) -> bytes:
        if size > _LONGEST:
            raise EOFError
        data = self.file.read(size)
        if len(data) < size:
            raise EOFError
        return data

    def count(self) -> int:
        number = self.one("Q")
        if number > _MOST:
            raise EOFError
        return number

    def string(self) -> str:
        return self.take(self.one("Q")).decode("utf-8", "replace")

    def value(self, kind: int) -> Json:
        if kind == _STRING:
            return self.string()
        if kind == _ARRAY:
            return self.array()
        if kind not in _SCALARS:
            raise EOFError
        code = "<" + _SCALARS[kind]
        return struct.unpack(code, self.take(struct.calcsize(code)))[0]

    def array(self) -> Json:
        """A long array of text (a vocabulary) becomes its length."""
        kind, length = self.one("I"), self.count()
        if kind in _SCALARS:
            code = "<" + str(length) + _SCALARS[kind]
            data = self.take(struct.calcsize(code))
            return list(struct.unpack(code, data)) if length <= _KEPT else length
        if kind != _STRING:
            raise EOFError
        for _ in range(length):
            self.take(self.one("Q"))
        return length

    def tensor(self) -> int:
        """Where this tensor ends in the data part; 0 when its type is new to us."""
        self.string()
        shape = [self.one("Q") for _ in range(min(self.one("I"), 8))]
        kind, offset = self.one("I"), self.one("Q")
        if kind not in _BLOCKS:
            return 0
        size, values = _BLOCKS[kind]
        return offset + math.prod(shape) // values * size
