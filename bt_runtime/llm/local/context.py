"""A llama.cpp context behind checks: what would abort or corrupt the process is refused here.

Only the worker process imports this. A context belongs to one thread; `stop` may be called from any.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

import llama_cpp as C
import numpy as np

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.llm.local.llama import Weights, hush, last_words

SEQUENCES = 256  # llama.cpp's own bound
DAMAGED = "its weights are damaged, or overflow in this form: download it again, or convert it anew"
_NO_ROOM, _ABORTED = 1, 2
# Called by llama.cpp between operations, on its own threads: a C function, so that Python's lock is never waited for.
# strlen answers 0 (go on) on an empty buffer, and 1 (stop) once a byte is written to it.
_STRLEN = ctypes.cast(ctypes.CDLL(None).strlen, C.ggml_abort_callback)


class TokenFeed(NamedTuple):
    """Tokens to run, in order from position `start`, in one or several sequences. The logits of the last `want` are
    returned."""

    tokens: Sequence[int]
    start: int
    seqs: tuple[int, ...]
    want: int = 1


class Aborted(Exception):
    """Raised when a decode was told to stop; micro-batches that were complete stay in the cache."""


class NoRoom(Exception):
    """Raised when a batch has no free cells; nothing was changed."""


class SequenceCache:
    """A key-value cache shared by up to 256 sequences, and the one way to run tokens through it."""

    def __init__(
        self,
        weights: Weights,
        cells: int,
        batch: int,
        threads: int,
        embed: bool = False,
        flash: bool | None = None,
        full: bool = False,
        cache_type: str = "f16",
        sequences: int = SEQUENCES,
    ) -> None:
        params = C.llama_context_default_params()
        self.sequences = 1 if embed else sequences
        batch = batch if embed else max(batch, sequences)  # llama.cpp aborts when a batch cannot hold every sequence
        params.n_ctx, params.n_batch, params.n_ubatch = cells, batch, batch
        params.n_seq_max = self.sequences
        params.n_threads = params.n_threads_batch = threads
        params.kv_unified = True
        params.no_perf = True
        params.offload_kqv = params.op_offload = weights.gpu_layers != 0  # no layers on the GPU: nothing on the GPU
        params.flash_attn_type = -1 if flash is None else int(flash)
        params.embeddings = embed
        if full:  # keys and values in 32 bits, for comparing with what computed them elsewhere
            params.type_k = params.type_v = C.GGML_TYPE_F32
        elif not embed and cache_type != "f16":
            params.type_k = params.type_v = getattr(C, f"GGML_TYPE_{cache_type.upper()}")
        self._stop = (ctypes.c_char * 2)()
        if not embed:
            params.abort_callback = _STRLEN
            params.abort_callback_data = ctypes.addressof(self._stop)
        hush()
        self.handle = C.llama_init_from_model(weights.handle, params)
        if not self.handle:
            raise BtError(
                f"llama.cpp cannot make a context of {cells} tokens: {last_words(2) or 'out of memory'}",
                "ask for a smaller one: Settings(context=2048)",
            )
        self._adapt(weights.adapters)
        self.weights, self.cells, self.batch = weights, cells, batch
        self.memory = C.llama_get_memory(self.handle)
        self._layout = _BatchArrays(batch)

    def _adapt(self, adapters: Sequence[tuple[Any, float]]) -> None:
        handles = (C.llama_adapter_lora_p_ctypes * len(adapters))(*(handle for handle, _ in adapters))
        scales = (ctypes.c_float * len(adapters))(*(scale for _, scale in adapters))
        if adapters and C.llama_set_adapters_lora(self.handle, handles, len(adapters), scales) != 0:
            self.close()
            raise BtError(f"llama.cpp cannot use the adapters: {last_words(2)}", "leave `lora` out, or fewer in it")

    # any thread
    def stop(self) -> None:
        self._stop[0] = b"\x01"

    def go_on(self) -> None:
        self._stop[0] = b"\x00"

    # the owning thread
    def decode(self, feeds: Sequence[TokenFeed]) -> list[list[Any]]:
        """Runs the feeds in one batch. Returns the wanted rows of each feed; they are views, valid until the next
        decode."""
        self._check(feeds)
        batch, places = self._layout.fill(feeds)
        self._ran(C.llama_decode(self.handle, batch))
        rows = self._rows(places[-1].stop)
        return [list(rows[place.start : place.stop]) for place in places]

    @staticmethod
    def _ran(code: int) -> None:
        """Raises what the result of a decode means."""
        if code == _ABORTED:
            raise Aborted
        if code == _NO_ROOM:
            raise NoRoom
        if code != 0:
            raise RuntimeError(f"llama_decode failed with {code}: {last_words()}")

    def _rows(self, count: int) -> Any:
        """Yields the wanted logits of the whole batch in order."""
        if not count:
            return ()
        pointer = C.llama_get_logits(self.handle)
        if not pointer:
            raise RuntimeError("no logits")
        return np.ctypeslib.as_array(pointer, shape=(count, self.weights.size))

    def _check(self, feeds: Sequence[TokenFeed]) -> None:
        if not self.handle:
            raise RuntimeError("the context is closed")
        total = sum(len(f.tokens) for f in feeds)
        if not 0 < total <= self.batch:
            raise ValueError(f"a batch of {total} tokens; 1 to {self.batch} can be run")
        for feed in feeds:
            if not feed.tokens or not 0 <= feed.want <= len(feed.tokens):
                raise ValueError(f"a feed of {len(feed.tokens)} tokens that wants {feed.want} rows")
            if not feed.seqs or not all(0 <= s < self.sequences for s in feed.seqs):
                raise ValueError(f"sequences {feed.seqs}; 0 to {self.sequences - 1} exist")
            if min(feed.tokens) < 0 or max(feed.tokens) >= self.weights.size:
                raise ValueError("a token outside the vocabulary")

    def length(self, seq: int) -> int:
        """Returns the number of tokens in a sequence."""
        return int(C.llama_memory_seq_pos_max(self.memory, self._seq(seq))) + 1

    def copy(self, source: int, target: int, length: int) -> None:
        """Share the first tokens of a sequence; costs no cells."""
        C.llama_memory_seq_cp(self.memory, self._seq(source), self._seq(target), 0, length)

    def share(self, source: int, target: int, length: int) -> None:
        """Lets both sequences hold the source's cells of their equal first tokens; frees the target's own."""
        C.llama_memory_seq_rm(self.memory, self._seq(target), 0, length)
        self.copy(source, target, length)

    def cut(self, seq: int, length: int = 0) -> None:
        """Keep only the first tokens of a sequence."""
        if not C.llama_memory_seq_rm(self.memory, self._seq(seq), length, -1):
            raise RuntimeError(f"sequence {seq} cannot be cut at {length}")

    def clear(self) -> None:
        C.llama_memory_clear(self.memory, True)

    def state_size(self) -> int:
        """Measures the bytes that a sequence takes besides its tokens, in a context that is discarded afterwards."""
        self.decode([TokenFeed([0], 0, (0,))])
        return int(C.llama_state_seq_get_size(self.handle, 0))

    def save(self, seq: int) -> Any:
        """Copies a sequence's content for a context of equal type."""
        size = C.llama_state_seq_get_size(self.handle, self._seq(seq))
        saved = (ctypes.c_uint8 * size)()
        if C.llama_state_seq_get_data(self.handle, saved, size, seq) != size:
            raise RuntimeError(f"sequence {seq} cannot be copied")
        return saved

    def restore(self, seq: int, saved: Any) -> None:
        data = (ctypes.c_uint8 * len(saved)).from_buffer_copy(saved) if isinstance(saved, bytes) else saved
        if C.llama_state_seq_set_data(self.handle, data, len(saved), self._seq(seq)) != len(saved):
            raise RuntimeError(f"sequence {seq} cannot be filled")

    def _seq(self, seq: int) -> int:
        if not self.handle:
            raise RuntimeError("the context is closed")
        if not 0 <= seq < self.sequences:
            raise ValueError(f"sequence {seq}; 0 to {self.sequences - 1} exist")
        return seq

    def vector(self, tokens: Sequence[int]) -> list[float]:
        """The embedding of a text, of unit length."""
        self._check([TokenFeed(tokens, 0, (0,), len(tokens))])
        if self.memory:
            C.llama_memory_clear(self.memory, False)
        batch, _ = self._layout.fill([TokenFeed(tokens, 0, (0,), len(tokens))])
        run = C.llama_decode if self.memory else C.llama_encode
        if run(self.handle, batch) != 0:
            raise RuntimeError(f"embedding failed: {last_words()}")
        pooled = C.llama_pooling_type(self.handle) != C.LLAMA_POOLING_TYPE_NONE
        if pooled:
            row = np.ctypeslib.as_array(C.llama_get_embeddings_seq(self.handle, 0), shape=(self.weights.width,))
        else:  # a writer has no pooling of its own: the mean of its tokens
            rows = C.llama_get_embeddings(self.handle)
            row = np.ctypeslib.as_array(rows, shape=(len(tokens), self.weights.width)).mean(axis=0)
        norm = float(np.linalg.norm(row))
        if not np.isfinite(norm):
            raise BtError("the model embeds a text as what is not a number (NaN or infinity)", DAMAGED)
        return [float(x) for x in row / (norm or 1.0)]

    def close(self) -> None:
        if self.handle:
            C.llama_free(self.handle)
            self.handle = None


class _BatchArrays:
    """The arrays of a llama_batch, kept and refilled."""

    def __init__(self, size: int) -> None:
        self.token: Any = np.zeros(size, np.int32)
        self.pos: Any = np.zeros(size, np.int32)
        self.count: Any = np.zeros(size, np.int32)
        self.out: Any = np.zeros(size, np.int8)
        self.pointers: Any = np.zeros(size, np.uintp)
        self.numbers: Any = np.arange(SEQUENCES, dtype=np.int32)  # each number is the array of one sequence
        self.first = int(self.numbers.ctypes.data)
        self.kept: list[Any] = []  # the arrays of several sequences that the pointers name
        self.batch: Any = C.llama_batch(
            n_tokens=0,
            token=_to(self.token, C.llama_token),
            embd=None,
            pos=_to(self.pos, C.llama_pos),
            n_seq_id=_to(self.count, ctypes.c_int32),
            seq_id=_to(self.pointers, ctypes.POINTER(C.llama_seq_id)),
            logits=_to(self.out, ctypes.c_int8),
        )

    def fill(self, feeds: Sequence[TokenFeed]) -> tuple[Any, list[range]]:
        """Fills the arrays with a batch; returns which of the wanted rows belong to each feed."""
        at, row, places = 0, 0, []
        self.kept = []
        for feed in feeds:
            end = at + len(feed.tokens)
            self.token[at:end] = feed.tokens
            self.pos[at:end] = range(feed.start, feed.start + end - at)
            self.count[at:end] = len(feed.seqs)
            self.pointers[at:end] = self._address(feed.seqs)
            self.out[at:end] = 0
            self.out[end - feed.want : end] = 1
            places.append(range(row, row + feed.want))
            at, row = end, row + feed.want
        self.batch.n_tokens = at
        return self.batch, places

    def _address(self, seqs: Sequence[int]) -> int:
        if len(seqs) == 1:
            return self.first + seqs[0] * 4
        several = np.array(seqs, np.int32)
        self.kept.append(several)
        return int(several.ctypes.data)


def _to(array: Any, kind: Any) -> Any:
    return array.ctypes.data_as(ctypes.POINTER(kind))
