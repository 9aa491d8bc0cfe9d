"""Pictures by llama.cpp's libmtmd: a projector file turns one into embeddings that stand where tokens stand.

Only the worker imports this. In the lists of tokens that a prompt consists of, each embedding has a number below zero,
which no other picture gets; so prefixes, logits and prompts are shared and told apart as with tokens."""

from __future__ import annotations

import ctypes
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import llama_cpp as C
import numpy as np

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.llm import picture
from bt_runtime.llm.local.llama import Weights, hush, last_words, listen

_HELD = 256 << 20  # bytes of embeddings that are held for pictures no job needs now
_BUILD = (
    "build llama-cpp-python without `-DLLAVA_BUILD=OFF`, or name the folder of a libmtmd of the same version in the "
    "variable MTMD_CPP_LIB (in a checkout: `make mtmd`)"
)
_OTHER = "`mmproj` names the projector that was published with this model"


class PictureTokens(NamedTuple):
    """A picture as the model gets it: its tokens, and the embeddings of those below zero; -1-base is the first."""

    tokens: tuple[int, ...]
    base: int
    rows: Any


class Projector:
    """A loaded projector file. `beat` is called between two pieces of work."""

    def __init__(
        self, path: str, weights: Weights, threads: int, gpu: bool, beat: Callable[[], None] = lambda: None
    ) -> None:
        try:
            from llama_cpp import mtmd_cpp
        except (ImportError, OSError, RuntimeError) as absent:
            raise BtError(
                "`mmproj` needs libmtmd, and this llama.cpp was built without it (docs/models.md)", _BUILD
            ) from absent
        self.lib: Any = mtmd_cpp
        self.lib.mtmd_log_set(listen, ctypes.c_void_p(0))
        self.lib.mtmd_helper_log_set(listen, ctypes.c_void_p(0))
        params = self.lib.mtmd_context_params_default()
        params.use_gpu, params.n_threads, params.warmup, params.print_timings = gpu, threads, False, False
        hush()
        self.handle = self.lib.mtmd_init_from_file(path.encode(), weights.handle, params)
        if not self.handle:
            raise BtError(f"llama.cpp cannot use the projector {path}: {last_words(3) or 'no reason given'}", _OTHER)
        self.path, self.width, self.beat = path, weights.width, beat
        self._check(weights)
        self.known: OrderedDict[str, PictureTokens] = OrderedDict()  # pictures by digest, the last used ones last
        self.bases: list[int] = []  # first tokens of held pictures, ascending
        self.by_base: dict[int, PictureTokens] = {}
        self.next = 0
        self.jobs: dict[int, set[str]] = {}  # job → the pictures in its prompts

    def _check(self, weights: Weights) -> None:
        lib, why = self.lib, ""
        if not lib.mtmd_support_vision(self.handle):
            why = "it reads no pictures"
        elif lib.mtmd_decode_use_mrope(self.handle):
            why = "its pictures take positions in two dimensions (M-RoPE), which is not built here"
        elif lib.mtmd_decode_use_non_causal(self.handle, None):
            why = "its pictures are attended without an order, which is not built here"
        elif int(C.llama_model_n_embd_inp(weights.handle)) != weights.width:
            why = "its embeddings go into several layers, which is not built here"
        elif weights.forgets:
            why = "the model keeps a state, and pictures are not built for those"
        if why:
            self.close()
            raise BtError(f"the projector {self.path} cannot be used: {why}", "docs/models.md says which can")

    # Pictures of jobs ------------------------------------------------------------------------

    def tokens(self, job: int, file: str) -> tuple[int, ...]:
        """Returns a picture's tokens; its embeddings are held until the job is released."""
        found, data = picture.read(Path(file))
        if found.digest != Path(file).stem:
            raise BtError(f"the picture {file} was changed since it was kept", picture.WAY_OUT)
        if (seen := self.known.get(found.digest)) is None:
            seen = self.known[found.digest] = self._seen(data, file)
            self.by_base[seen.base] = seen
            self.bases = [*self.bases, seen.base]
        self.known.move_to_end(found.digest)
        self.jobs.setdefault(job, set()).add(found.digest)
        return seen.tokens

    def release(self, job: int) -> None:
        """Forgets which pictures a job needs, and the embeddings of the longest unused pictures beyond a bound."""
        self.jobs.pop(job, None)
        needed = set().union(*self.jobs.values())
        held = sum(seen.rows.nbytes for seen in self.known.values())
        for digest in [d for d in self.known if d not in needed]:
            if held <= _HELD:
                return
            seen = self.known.pop(digest)
            self.bases = [base for base in self.bases if base != seen.base]
            del self.by_base[seen.base]
            held -= seen.rows.nbytes

    def rows(self, tokens: Sequence[int]) -> Any:
        """Returns the embeddings of tokens below zero, one a row."""
        bases = self.bases  # replaced as a whole: another thread may look into it
        found: Any = np.empty((len(tokens), self.width), np.float32)
        for at, token in enumerate(tokens):
            place = -1 - token
            base = bases[bisect_right(bases, place) - 1]
            found[at] = self.by_base[base].rows[place - base]
        return found

    # libmtmd ---------------------------------------------------------------------------------

    def _seen(self, data: bytes, file: str) -> PictureTokens:
        tokens, rows = list[int](), list[Any]()
        base = count = self.next
        with self._chunks(data, file) as chunks:
            for chunk in chunks:
                self.beat()
                size = int(self.lib.mtmd_input_chunk_get_n_tokens(chunk))
                if self.lib.mtmd_input_chunk_get_type(chunk) == self.lib.MTMD_INPUT_CHUNK_TYPE_TEXT:
                    number = ctypes.c_size_t()
                    text = self.lib.mtmd_input_chunk_get_tokens_text(chunk, ctypes.byref(number))
                    tokens += text[: number.value]
                    continue
                if self.lib.mtmd_encode_chunk(self.handle, chunk) != 0:
                    raise BtError(f"llama.cpp cannot encode the picture {file}: {last_words(2)}", _OTHER)
                out = self.lib.mtmd_get_output_embd(self.handle)
                rows.append(np.ctypeslib.as_array(out, shape=(size, self.width)).copy())
                tokens += range(-1 - count, -1 - count - size, -1)
                count += size
        if not rows:
            raise BtError(f"the projector makes nothing of the picture {file}", _OTHER)
        self.next = count
        table = np.concatenate(rows)
        if not np.isfinite(table).all():
            raise BtError(f"the projector {self.path} makes what is not a number of {file} (NaN or infinity)", _OTHER)
        return PictureTokens(tuple(tokens), base, table)

    @contextmanager
    def _chunks(self, data: bytes, file: str) -> Iterator[list[Any]]:
        """Yields what stands in a prompt for one picture: its embeddings, and the tokens around and between them."""
        lib = self.lib
        hush()
        with ExitStack() as stack:
            buffer = (ctypes.c_uint8 * len(data)).from_buffer_copy(data)
            bitmap = lib.mtmd_helper_bitmap_init_from_buf(self.handle, buffer, len(data), False)
            if not bitmap:
                raise BtError(
                    f"the picture {file} cannot be decoded: {last_words(2) or 'it is damaged'}", picture.WAY_OUT
                )
            stack.callback(lib.mtmd_bitmap_free, bitmap)
            chunks = lib.mtmd_input_chunks_init()
            stack.callback(lib.mtmd_input_chunks_free, chunks)
            marker = lib.mtmd_get_marker(self.handle)
            text = lib.mtmd_input_text(text=marker, text_len=len(marker), add_special=False, parse_special=True)
            bitmaps = (lib.mtmd_bitmap_p_ctypes * 1)(bitmap)
            if lib.mtmd_tokenize(self.handle, chunks, ctypes.byref(text), bitmaps, 1) != 0:
                raise BtError(f"the picture {file} cannot be prepared: {last_words(2)}", picture.WAY_OUT)
            yield [lib.mtmd_input_chunks_get(chunks, n) for n in range(lib.mtmd_input_chunks_size(chunks))]

    def close(self) -> None:
        if self.handle:
            self.lib.mtmd_free(self.handle)
            self.handle = None
