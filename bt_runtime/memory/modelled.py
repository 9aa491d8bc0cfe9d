"""Embeds with a GGUF embedding model, run by llama.cpp."""

from __future__ import annotations

from collections.abc import Sequence

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.types import Model

PATIENCE_S = 60.0


class Modelled:
    """`name` must change with the model file: its name and checksum, for instance."""

    def __init__(self, model: Model, name: str, patience_s: float = PATIENCE_S) -> None:
        self._model, self._patience = model, patience_s
        self.fingerprint = f"gguf:{name}"
        self._dim = 0

    @property
    def dim(self) -> int:
        if not self._dim:
            self._dim = len(self.embed(["a"])[0])
        return self._dim

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        job = self._model.embed(texts)
        try:
            return job.wait(self._patience)  # never called in the tick's thread
        except TimeoutError:
            job.cancel("the memory waited too long")
            raise BtError(
                f"{self.fingerprint} did not answer within {self._patience:g} s", "is the model loaded?"
            ) from None
