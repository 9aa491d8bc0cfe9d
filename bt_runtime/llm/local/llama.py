"""llama.cpp's low-level interface behind checks: devices, model files, vocabularies. Only the worker imports this."""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.extra import Extra

with Extra("llm", "a local model"):
    import llama_cpp as C


_NAME = 256  # bytes of a token that is shown
_words: deque[str] = deque(maxlen=200)


@C.llama_log_callback  # type: ignore[untyped-decorator]
def listen(level: int, text: bytes, _: Any) -> None:
    if level >= 3 or _words:  # warnings and errors, and what continues them
        _words.append(text.decode("utf-8", "replace"))


def hush() -> None:
    """Discards what llama.cpp has printed so far."""
    _words.clear()


def last_words(lines: int = 6) -> str:
    """Returns the last lines that llama.cpp printed."""
    return "\n".join("".join(_words).strip().splitlines()[-lines:])


class Device(NamedTuple):
    name: str
    about: str
    free: int
    total: int
    gpu: bool


def begin() -> None:
    C.llama_log_set(listen, ctypes.c_void_p(0))
    C.llama_backend_init()
    folder = Path(C.__file__).parent / "lib"
    if next(folder.glob("*ggml-cpu-*"), None) is not None:  # a wheel for every processor: take what fits this one
        _library().ggml_backend_load_all_from_path(str(folder).encode())


def _library() -> Any:
    """libllama, and through it the ggml that it uses: a wheel may have the same file under two names."""
    return C.llama_cpp._lib


_DISCRETE, _INTEGRATED = 1, 2  # values of ggml_backend_dev_type


def devices() -> list[Device]:
    """The devices that this llama.cpp supports and finds on the machine."""
    lib, found = _library(), list[Device]()
    built_in = set[int]()  # GPUs that share the machine's memory
    try:
        lib.ggml_backend_dev_count.restype = ctypes.c_size_t
        lib.ggml_backend_dev_get.restype = ctypes.c_void_p
        lib.ggml_backend_dev_get.argtypes = [ctypes.c_size_t]
        name, about = _texts(lib, "ggml_backend_dev_name"), _texts(lib, "ggml_backend_dev_description")
        lib.ggml_backend_dev_type.argtypes = [ctypes.c_void_p]
        for i in range(lib.ggml_backend_dev_count()):
            device = lib.ggml_backend_dev_get(i)
            free, total = ctypes.c_size_t(), ctypes.c_size_t()
            lib.ggml_backend_dev_memory(ctypes.c_void_p(device), ctypes.byref(free), ctypes.byref(total))
            kind = lib.ggml_backend_dev_type(device)
            if kind == _INTEGRATED:
                built_in.add(i)
            gpu = kind in (_DISCRETE, _INTEGRATED)
            found.append(Device(name(device), about(device), free.value, total.value, gpu))
    except AttributeError:
        return []  # a library without this part of the interface
    return _used(found, built_in)


def _used(found: list[Device], built_in: set[int]) -> list[Device]:
    """The devices in use: beside a GPU with its own memory, llama.cpp ignores one that shares the machine's."""
    if any(device.gpu and i not in built_in for i, device in enumerate(found)):
        return [device._replace(gpu=False) if i in built_in else device for i, device in enumerate(found)]
    return found


def _texts(lib: Any, function: str) -> Callable[[Any], str]:
    call = getattr(lib, function)
    call.restype, call.argtypes = ctypes.c_char_p, [ctypes.c_void_p]
    return lambda device: (call(device) or b"?").decode("utf-8", "replace")


def has_amx() -> bool:
    """True when the processor has Intel's AMX tile unit."""
    try:
        return b" amx_int8" in Path("/proc/cpuinfo").read_bytes()
    except OSError:
        return False


class Weights:
    """A loaded model file with its vocabulary."""

    def __init__(
        self, path: str, gpu_layers: int = 0, progress: Callable[[], None] | None = None, main_gpu: int = 0,
        tensor_split: Sequence[float] = (), vocabulary_only: bool = False,
    ) -> None:  # fmt: skip
        params = C.llama_model_default_params()
        params.vocab_only = vocabulary_only
        params.n_gpu_layers, params.main_gpu = gpu_layers, main_gpu
        shares = (ctypes.c_float * max(len(tensor_split), C.llama_max_devices()))(*tensor_split)
        if tensor_split:
            params.tensor_split = shares
        if has_amx():  # this llama.cpp crashes there on quantised models: it never sets up AMX tiles
            params.use_extra_bufts = False

        @C.llama_progress_callback  # type: ignore[untyped-decorator]
        def on_progress(_done: float, _: Any) -> bool:
            if progress:
                progress()
            return True

        params.progress_callback = on_progress
        _words.clear()
        self.handle = C.llama_model_load_from_file(path.encode(), params)
        if not self.handle:
            raise BtError(
                f"llama.cpp cannot load {path}: {last_words(2) or 'no reason given'}",
                f"`btr doctor {path}` looks at the file",
            )
        self.path, self.gpu_layers = path, gpu_layers
        self.vocab = C.llama_model_get_vocab(self.handle)
        self.size = int(C.llama_vocab_n_tokens(self.vocab))
        self.trained = int(C.llama_model_n_ctx_train(self.handle))
        self.bytes = int(C.llama_model_size(self.handle))
        self.parameters = int(C.llama_model_n_params(self.handle))
        self.width = int(C.llama_model_n_embd(self.handle))
        self.first = int(C.llama_vocab_bos(self.vocab))
        self._pieces: dict[int, bytes] = {}
        self.adapters: list[tuple[Any, float]] = []

    def adapt(self, path: str, scale: float) -> None:
        """Adds an adapter's weights to every context created from now on."""
        if not Path(path).is_file():
            raise BtError(f"there is no adapter {path}", "`lora` names GGUF files; docs/finetune.md makes one")
        _words.clear()
        handle = C.llama_adapter_lora_init(self.handle, path.encode())
        if not handle:
            raise BtError(
                f"{path} is no adapter of {self.path}: {last_words(2) or 'no reason given'}",
                "an adapter belongs to the model that it was trained on (docs/finetune.md)",
            )
        self.adapters.append((handle, scale))

    @property
    def forgets(self) -> bool:
        """True for a model without cache entries per token: a part of a sequence cannot be removed."""
        return bool(C.llama_model_is_recurrent(self.handle) or C.llama_model_is_hybrid(self.handle))

    @property
    def writes(self) -> bool:
        return bool(C.llama_model_has_decoder(self.handle))

    def describe(self) -> str:
        buffer = ctypes.create_string_buffer(256)
        C.llama_model_desc(self.handle, buffer, 256)
        return buffer.value.decode("utf-8", "replace")

    def tokens(self, text: str, begin: bool = False, special: bool = False) -> list[int]:
        """Tokenises a text. `begin` adds the model's start token; control tokens in `text` are read as plain
        characters."""
        data = text.encode("utf-8", "surrogatepass")
        room = len(data) + 8
        buffer = (C.llama_token * room)()
        count = C.llama_tokenize(self.vocab, data, len(data), buffer, room, begin, special)
        if count < 0:
            room = -count
            buffer = (C.llama_token * room)()
            count = C.llama_tokenize(self.vocab, data, len(data), buffer, room, begin, special)
        if count < 0:
            raise BtError("the text cannot be turned into tokens", "the model's file may be incomplete: fetch it again")
        found = list(buffer[:count])
        # a template says the first token, and llama.cpp puts it in front of every text: once is enough
        return found[1:] if begin and special and self.first >= 0 and found[:2] == [self.first] * 2 else found

    def piece(self, token: int) -> bytes:
        """The bytes of a token; nothing for a control token."""
        known = self._pieces.get(token)
        if known is None:
            room = 64
            buffer = ctypes.create_string_buffer(room)
            count = C.llama_token_to_piece(self.vocab, token, buffer, room, 0, False)
            if count < 0:
                buffer = ctypes.create_string_buffer(-count)
                count = C.llama_token_to_piece(self.vocab, token, buffer, -count, 0, False)
            known = self._pieces[token] = buffer.raw[: max(0, count)]
        return known

    def shown(self, token: int) -> str:
        """Returns a token as readable text, a control token by its name."""
        buffer = ctypes.create_string_buffer(_NAME)
        count = C.llama_token_to_piece(self.vocab, token, buffer, _NAME, 0, True)
        return buffer.raw[: max(0, count)].decode("utf-8", "backslashreplace")

    def ends(self, token: int) -> bool:
        return bool(C.llama_vocab_is_eog(self.vocab, token))

    @cached_property
    def enders(self) -> list[int]:
        """Returns all tokens that end a turn or a text."""
        return [token for token in range(self.size) if self.ends(token)]

    @cached_property
    def newline(self) -> int:
        """The token of a line break; -1 when it has no token of its own."""
        return next((token for token in self.tokens("\n")[-1:] if self.piece(token) == b"\n"), -1)

    def steers(self, text: str) -> int:
        """The number of the control token of this text; -1 when it is none."""
        found = self.tokens(text, special=True)
        return found[0] if len(found) == 1 and not self.piece(found[0]) else -1

    def close(self) -> None:
        if self.handle:
            C.llama_model_free(self.handle)
            self.handle = None
