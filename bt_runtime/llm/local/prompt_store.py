"""The states of computed prompts on disk, so that the next start need not compute a fixed beginning again.

An entry is a file of this user's, of mode 0600: a digest, the tokens, and llama.cpp's state of the sequence that holds
them. Its name begins with a digest of all that a state depends on. A damaged file is told and removed."""

from __future__ import annotations

import os
import struct
from array import array
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from bt_runtime.language.project import disk, system
from bt_runtime.language.project.file_digest import digest
from bt_runtime.llm.local.prefix import common
from bt_runtime.llm.settings import WorkerSettings

SUFFIX = ".state"
LEAST = 256  # tokens that are worth a file
MOST_TOKENS = 1 << 16  # tokens of one entry
_LAYOUT = 2  # 1: with flash attention where llama.cpp turned it on, also on the processor
_MAGIC = b"btr view prompt 3\n"
_HEAD = struct.Struct("<16sI")  # digest of the tokens and the state; the number of tokens
_PRIVATE = 0o600


class StoredPrompt(NamedTuple):
    path: Path
    tokens: tuple[int, ...]

    def shared(self, prompt: Sequence[int]) -> int:
        return common(self.tokens, prompt)


def key(settings: WorkerSettings, build: str) -> str:
    """Returns a digest of all that a state depends on besides its tokens: weights, adapters, and the cache's form."""
    files = [(digest(Path(settings.model)), 1.0)]
    files += [(digest(Path(adapter.file)), adapter.scale) for adapter in settings.lora]
    told = repr((_LAYOUT, build, files, settings.cache_type, settings.flash, settings.gpu_layers))
    return blake2b(told.encode(), digest_size=8).hexdigest()


class PromptStore:
    """Stores states. `most`: bytes of all files in the folder, including those of other models. `tell` is called for
    damaged files."""

    def __init__(self, key: str, most: int, tell: Callable[[str], None], folder: Path | None = None) -> None:
        self.key, self.most, self.tell = key, most, tell
        self.folder = folder or disk.cache("prompts")
        self.folder.chmod(0o700)
        self.entries: list[StoredPrompt] = []
        self.entries += [entry for path in self.folder.glob(f"{key}-*{SUFFIX}") if (entry := self._read(path))]

    def best(self, prompt: Sequence[int]) -> tuple[StoredPrompt | None, int]:
        """Returns the entry that shares the longest beginning with a prompt, and that length."""
        return max(((e, e.shared(prompt)) for e in self.entries), key=lambda pair: pair[1], default=(None, 0))

    def state(self, entry: StoredPrompt) -> bytes | None:
        """The entry's state; None when the file is damaged or gone."""
        try:
            data = self._whole(entry.path)
        except (OSError, ValueError) as fault:
            self.drop(entry, str(fault))
            return None
        with suppress(OSError):
            os.utime(entry.path)  # used now: the others go first
        return data[len(_MAGIC) + _HEAD.size + 4 * len(entry.tokens) :]

    def keep(self, tokens: Sequence[int], state: bytes) -> None:
        """Writes an entry; its path is made from its tokens."""
        head = array("i", tokens).tobytes()
        body = head + state
        data = b"".join((_MAGIC, _HEAD.pack(blake2b(body, digest_size=16).digest(), len(tokens)), body))
        name = blake2b(head, digest_size=8).hexdigest()
        path = self.folder / f"{self.key}-{name}{SUFFIX}"
        if len(data) > self.most:
            return
        try:
            self._make_room(len(data))
            disk.write(path, data, mode=_PRIVATE)
        except OSError as fault:  # a full or read-only disk: it is computed next time
            self.tell(f"the state of a prompt is not kept: {fault.strerror}")
            return
        self.entries.append(StoredPrompt(path, tuple(tokens)))

    def drop(self, entry: StoredPrompt, why: str) -> None:
        """Removes an entry that is of no use."""
        self.entries = [each for each in self.entries if each is not entry]
        self.tell(f"{entry.path.name} is ignored: {why}")
        with suppress(OSError):
            entry.path.unlink()

    def _make_room(self, size: int) -> None:
        found = sorted((path.stat().st_mtime, path.stat().st_size, path) for path in self.folder.glob(f"*{SUFFIX}"))
        total = sum(each for _, each, _ in found) + size
        for _, each, path in found:
            if total <= self.most:
                return
            path.unlink(missing_ok=True)
            self.entries = [entry for entry in self.entries if entry.path != path]
            total -= each

    def _read(self, path: Path) -> StoredPrompt | None:
        """Reads an entry without its state; a damaged file is reported and removed."""
        entry = StoredPrompt(path, ())
        try:
            with os.fdopen(disk.opened(path, os.O_RDONLY | system.NO_FOLLOW), "rb") as file:
                self._own(os.fstat(file.fileno()))
                _, count = _head(file.read(len(_MAGIC) + _HEAD.size))
                tokens = array("i", file.read(4 * count))
                if len(tokens) != count:
                    raise ValueError("it is cut off")
        except FileNotFoundError:
            return None  # another process made room
        except (OSError, ValueError) as fault:
            self.drop(entry, str(fault))
            return None
        return StoredPrompt(path, tuple(tokens))

    def _whole(self, path: Path) -> bytes:
        with os.fdopen(disk.opened(path, os.O_RDONLY | system.NO_FOLLOW), "rb") as file:
            about = os.fstat(file.fileno())
            self._own(about)
            if about.st_size > self.most:
                raise ValueError("it is too large")
            data = file.read()
        told, _ = _head(data[: len(_MAGIC) + _HEAD.size])
        if blake2b(memoryview(data)[len(_MAGIC) + _HEAD.size :], digest_size=16).digest() != told:
            raise ValueError("it is damaged")
        return data

    @staticmethod
    def _own(about: os.stat_result) -> None:
        """Checks that a file belongs to this user alone, because its state is loaded into llama.cpp unchecked."""
        if about.st_uid != system.user() or about.st_mode & 0o022:
            raise ValueError("others may write to it")


def _head(data: bytes) -> tuple[bytes, int]:
    if len(data) != len(_MAGIC) + _HEAD.size or not data.startswith(_MAGIC):
        raise ValueError("it is no state of a prompt")
    told, count = _HEAD.unpack(data[len(_MAGIC) :])
    if not LEAST <= count <= MOST_TOKENS:
        raise ValueError("its header is damaged")
    return told, count
