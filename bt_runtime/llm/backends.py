"""Backends open a model by its name: a file by its suffix, a server by its scheme, others by an installed name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Protocol

from bt_runtime.language import import_policy
from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.language.project import importing, plugins
from bt_runtime.types import Model

SHIPPED = ("starter", "smollm2", "smollm2-tuned", "gemma3")  # words for models that packages bring
FILE = "gguf"  # the backend of a file whose suffix names none


class Backend(Protocol):
    """An entry point of the group `bt_runtime.models`, or `path.py:Name`: a class or a function that returns a
    model."""

    def __call__(self, where: str, **settings: Any) -> Model:
        """`where` is the model's whole name, such as `echo:loud` for a backend `echo`. A backend ignores settings that
        it does not know (`key`, those of local models)."""


def backend_name(where: str) -> str:
    """`echo` and `echo:loud` → echo; `http://…` → http; a file → its suffix, else gguf."""
    if importing.in_file(where):
        return where
    known = plugins.names("models")
    scheme, colon, _ = where.partition(":")
    if scheme in known and (colon or scheme != FILE):
        return scheme
    suffix = where.rpartition(".")[2]
    return suffix if suffix in known else FILE


def is_file(where: str) -> bool:
    """True for a file on this machine, which then has a digest; any other model is known by name only."""
    name = backend_name(where)
    return name == FILE or (name != where and where.endswith(f".{name}") and not where.startswith(f"{name}:"))


def open_with_backend(where: str, **settings: Any) -> Model:
    """The model of that name, opened by its backend."""
    name = backend_name(where)
    if name == FILE and not Path(where).exists():
        _known(where)
    if importing.in_file(name):
        found, said = import_policy.bring(name), f"`{name}`"
        if not callable(found):
            raise BtError(f"{said} is not the class of a model, nor opens one", "docs/extending.md shows both")
    else:
        found, said = of_plugin(name)
    model = found(where, **settings)
    if not isinstance(model, Model):
        raise BtError(f"what {said} opens is not a model", "derive it from `bt_runtime.types.Model`")
    return model


def _known(where: str) -> None:
    """Raises for a word that names neither a file nor a backend, with the nearest of those that do."""
    word = next((part for part in Path(where).parts if ":" in part), Path(where).name).partition(":")[0]
    if not re.fullmatch(r"[A-Za-z][\w-]*", word):
        return  # a file's name
    known = [*SHIPPED, *(name for name in plugins.names("models") if name not in (FILE, *SHIPPED))]
    raise BtError(
        f"there is no model file `{Path(where).name}`, and no backend is called `{word}`",
        did_you_mean(word, known, f"give the path of a .gguf file, or one of: {', '.join(known)}"),
    )


def of_plugin(name: str) -> tuple[Backend, str]:
    """The backend of that name, and the distribution that brought it."""
    entry = plugins.find(name, "models")
    if entry is None:
        raise BtError(f"no backend is called `{name}`", f"backends here: {', '.join(plugins.names('models'))}")
    return of_entry(entry), entry.said


def of_entry(entry: plugins.Entry) -> Backend:
    backend: Backend = plugins.load(entry, "the class of a model, or a function that opens one")
    return backend
