"""The file of a projector, which lets a model see pictures: checked by its header before llama.cpp gets it."""

from __future__ import annotations

from pathlib import Path

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.llm.local.header import ModelHeader, read_header

_HINT = "`mmproj` names the projector that was published with the model, often called mmproj-….gguf; or leave it out"


def check(path: str, model: ModelHeader) -> ModelHeader:
    """Returns the projector's header; raises a BtError that says why the file is none, or none of this model."""
    if not Path(path).exists():
        raise BtError(f"there is no projector {path}", _HINT)
    found = read_header(path)
    if found.architecture != "clip":
        raise BtError(f"{path} is no projector, but a model ({found.architecture})", _HINT)
    if found.about.get("clip.has_vision_encoder") is not True:
        raise BtError(f"{path} is a projector that reads no pictures", _HINT)
    if model.keeps_state:
        raise BtError(
            f"{model.path.name} keeps a state besides its tokens, and pictures are not built for such models",
            "leave `mmproj` out, or take a model without a state (docs/models.md)",
        )
    return found
