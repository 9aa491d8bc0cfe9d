"""Models that Ollama has downloaded, by name. Their GGUF files are used where Ollama stores them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from bt_runtime.language.faults.diagnostic import BtError, nearest
from bt_runtime.language.project import disk

SCHEME = "ollama:"
_WEIGHTS = "application/vnd.ollama.image.model"
_HOST, _OWNER, _TAG = "registry.ollama.ai", "library", "latest"
_PART = re.compile(r"[\w.-]+")
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
_FOLDERS = ("~/.ollama/models", "/usr/share/ollama/.ollama/models", "/var/lib/ollama/.ollama/models")


def file_of(named: str) -> Path:
    """`ollama:qwen3`, `ollama:qwen3:4b` or `ollama:hf.co/OWNER/NAME:TAG` → the file with its weights."""
    name = named.removeprefix(SCHEME)
    manifest = _manifest(name)
    for folder in _folders():
        if (path := folder / "manifests" / manifest).is_file():
            return _weights(path, folder, named)
    known = list(names())
    close = nearest(name, known)
    hint = f"did you mean `{SCHEME}{close}`?" if close else f"here: {', '.join(known[:20]) or 'none'}"
    raise BtError(f"Ollama has no model `{name:.80}` on this machine", f"{hint} (`ollama pull` fetches one)")


def names() -> Iterator[str]:
    """The names of the downloaded models."""
    for folder in _folders():
        manifests = folder / "manifests"
        for path in sorted(manifests.glob("*/*/*/*")) if manifests.is_dir() else ():
            host, owner, name, tag = path.relative_to(manifests).parts
            before = "" if (host, owner) == (_HOST, _OWNER) else f"{owner}/" if host == _HOST else f"{host}/{owner}/"
            yield f"{before}{name}" + ("" if tag == _TAG else f":{tag}")


def _folders() -> Iterator[Path]:
    own = os.environ.get("OLLAMA_MODELS")
    yield from (Path(folder).expanduser() for folder in ([own] if own else _FOLDERS))


def _manifest(name: str) -> Path:
    """Returns a manifest's path below `manifests/`."""
    path, _, tag = name.rpartition(":") if ":" in name.rpartition("/")[2] else (name, "", _TAG)
    parts = path.split("/")
    if len(parts) > 3 or not all(_PART.fullmatch(part) and part.strip(".") for part in (*parts, tag)):
        raise BtError(
            f"`{name:.80}` is no name of a model of Ollama", "write it as `ollama list` does: ollama:qwen3:4b"
        )
    return Path(*(_HOST, _OWNER)[: 3 - len(parts)], *parts, tag)


def _weights(manifest: Path, folder: Path, named: str) -> Path:
    try:
        layers = json.loads(disk.read(manifest))["layers"]
        (digest,) = [layer["digest"] for layer in layers if layer["mediaType"] == _WEIGHTS]
        found = _DIGEST.fullmatch(digest)
    except (OSError, ValueError, TypeError, KeyError):
        found = None
    if found is None:
        raise BtError(f"{manifest} does not say where the weights of `{named}` lie", "`ollama pull` fetches it anew")
    blob = folder / "blobs" / f"sha256-{found[1]}"
    if not blob.is_file():
        raise BtError(f"the weights of `{named}` are not there: {blob}", "`ollama pull` fetches them anew")
    return blob
