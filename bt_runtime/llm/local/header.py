"""The header of a GGUF file, read without llama.cpp: the model's properties, and whether the file is complete."""

from __future__ import annotations

import os
import re
import stat
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import system
from bt_runtime.llm.local.gguf import AGAIN, GgufReader
from bt_runtime.types import Json

STARTER, INSTRUCT = "starter", "instruct"  # registers of prompts
TAUGHT = "finetune.prompts"  # key in an adapter's header: the register of its lessons
MOST_FILES = 999  # files of one model
_MOST = 2**31 - 1  # llama.cpp's own numbers end there
_NUMBERS = ("context_length", "block_count", "embedding_length", "attention.head_count", "attention.head_count_kv",
            "attention.key_length", "attention.value_length", "vocab_size")  # fmt: skip


@dataclass(frozen=True, slots=True)
class ModelHeader:
    path: Path
    size: int
    about: dict[str, Json]
    tensors: int
    weights: int  # bytes of tensor data
    markers: tuple[str, ...] = field(default=(), repr=False)  # tokens that steer a model: no text may form one
    ends: tuple[str, str] = ("", "")  # texts of the tokens that begin and end a text

    @property
    def architecture(self) -> str:
        return str(self.about.get("general.architecture", "?"))

    def number(self, key: str, default: int = 0) -> int:
        """A number of this architecture; the largest one when it differs between layers."""
        name = f"{self.architecture}.{key}"
        value = self.about.get(name, default)
        for one in value if isinstance(value, list) else [value]:
            if type(one) is not int or not 0 <= one <= _MOST:
                raise BtError(f"{self.path}: {name} is {one!r:.60}, which is not a number that a model has", AGAIN)
        return max(value, default=default) if isinstance(value, list) else int(value)

    @property
    def chat_template(self) -> str | None:
        found = self.about.get("tokenizer.chat_template")
        return found if isinstance(found, str) and found.strip() else None

    @property
    def register(self) -> str:
        """Returns the prompt register that the model was trained with: the starter's for one of `btr lab distill`."""
        taught = any(key.startswith("distill.") for key in self.about)
        return STARTER if taught and self.about.get("distill.prompts") != INSTRUCT else INSTRUCT

    @property
    def keeps_state(self) -> bool:
        """True for Mamba, its relatives and hybrids: they keep a state besides or instead of a token cache."""
        parts = (".ssm.", ".shortconv.", ".wkv.", ".time_mix_extra_dim")
        return any(key.startswith(self.architecture) and any(part in key for part in parts) for key in self.about)

    @property
    def slides(self) -> bool:
        """Returns whether layers see a window of the latest tokens only. A saved state then lacks what lies before
        the window at its end, so it cannot be cut."""
        return self.number("attention.sliding_window") > 0

    @property
    def trained_context(self) -> int:
        return self.number("context_length")

    @property
    def layers(self) -> int:
        return self.number("block_count")

    @property
    def vocab(self) -> int:
        told = self.about.get("tokenizer.ggml.tokens")
        return told if type(told) is int and told else self.number("vocab_size")

    def bytes_per_token(self) -> int:
        """The bytes of one token in the key-value cache, at 16 bits."""
        heads = max(1, self.number("attention.head_count", 1))
        head = self.number("embedding_length") // heads
        key, value = self.number("attention.key_length", head), self.number("attention.value_length", head)
        return 2 * self._kv_heads(heads) * (key + value)

    def _kv_heads(self, heads: int) -> int:
        """Returns the heads with keys and values of all layers together: only the layers of a hybrid that attend have
        any."""
        most = self.number("attention.head_count_kv", heads)
        told = self.about.get(f"{self.architecture}.attention.head_count_kv")
        if isinstance(told, list):  # a number for each layer; 0: the layer keeps a state
            return (
                sum(each for each in told if isinstance(each, int)) if len(told) == self.layers else most * self.layers
            )
        interval = self.number("full_attention_interval")
        return most * (self.layers // interval if interval > 1 else self.layers)


def read_header(path: str | Path) -> ModelHeader:
    """The header, or a BtError that says in plain words what is wrong with the file."""
    path = Path(path)
    try:
        with _opened(path) as file:
            raw = GgufReader(file, path).raw()
    except OSError as fault:
        raise BtError(f"{path} cannot be read: {fault.strerror}", "check the path and its permissions") from fault
    except (struct.error, EOFError, UnicodeDecodeError, OverflowError) as fault:
        raise BtError(f"{path} is cut off or damaged in its header", "download it again") from fault
    header = ModelHeader(path, *raw)
    _check(header)
    return _with_others(header)


def register_with(header: ModelHeader, adapters: Iterable[str]) -> str:
    """Returns the register of a model under these adapters: what the last one of `btr lab finetune` was taught in, else
    the model's own."""
    told = [read_header(file).about.get(TAUGHT) for file in adapters if Path(file).is_file()]
    return next((found for found in reversed(told) if found in (STARTER, INSTRUCT)), header.register)


def _with_others(header: ModelHeader) -> ModelHeader:
    """Combines the parts of a model that is split into several files. It keeps the first file's name, from which
    llama.cpp finds the others."""
    count = header.about.get("split.count")
    if type(count) is not int or not 1 < count <= MOST_FILES:
        return header
    found = re.fullmatch(r"(.+)-(\d{5})-of-(\d{5})\.gguf", header.path.name)
    if found is None or int(found[3]) != count:
        raise BtError(
            f"{header.path} is one of {count} files, and its name does not say so", "give it its first name again"
        )
    files = [header.path.with_name(f"{found[1]}-{n:05}-of-{count:05}.gguf") for n in range(1, count + 1)]
    if missing := [file.name for file in files if not file.is_file()]:
        raise BtError(f"of {header.path.name}'s {count} files {missing[0]} is missing", "fetch all of them")
    if int(found[2]) != 1:
        raise BtError(f"{header.path.name} is a later file of a model", f"name the first: {files[0].name}")
    more = sum(file.stat().st_size for file in files[1:])
    return replace(header, size=header.size + more, weights=header.weights + more)


def _check(header: ModelHeader) -> None:
    """Checks types and ranges of all values that are read later."""
    named = header.about.get("general.architecture", "?")
    if not isinstance(named, str) or not re.fullmatch(r"[\w?.-]{1,64}", named):
        raise BtError(f"{header.path} names no architecture that can be read: {named!r:.80}", AGAIN)
    for key in _NUMBERS:
        header.number(key)
    if not isinstance(header.about.get("tokenizer.chat_template", ""), str):
        raise BtError(f"{header.path} has a chat template that is not a text", AGAIN)


def _opened(path: Path) -> BinaryIO:
    """Opens regular files only: a pipe would block, and a device may never end."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError) as fault:
        hint = "give the path of a .gguf file: --model, BTR_MODEL or btr.yaml"
        raise BtError(f"there is no model file {path}", hint) from fault
    if stat.S_ISDIR(mode):
        raise BtError(f"{path} is a folder, not a model", "name the .gguf file in it")
    descriptor = os.open(path, os.O_RDONLY | system.PLAIN) if stat.S_ISREG(mode) else -1
    if descriptor < 0 or not stat.S_ISREG(os.fstat(descriptor).st_mode):
        if descriptor >= 0:
            os.close(descriptor)
        raise BtError(f"{path} is not a file, but a pipe, a socket or a device", "name a .gguf file")
    return os.fdopen(descriptor, "rb", buffering=1 << 18)
