"""The backends that come with the runtime, registered as anybody's: a local file, and a server."""

from __future__ import annotations

import importlib.util
from typing import Any

from bt_runtime.faults.diagnostic import MissingExtra
from bt_runtime.types import Model


def local(where: str, *, key: str | None = None, **settings: Any) -> Model:
    """A GGUF file in a worker process of its own; `key` is for servers."""
    need_llama()
    from bt_runtime.llm.model import LocalModel
    from bt_runtime.llm.settings import Settings

    return LocalModel(Settings(where, **settings))


def server(where: str, *, key: str | None = None, **settings: Any) -> Model:
    """A server behind HTTP; settings of local models say nothing to it."""
    from bt_runtime.language.project_file import SERVER_OPTIONS
    from bt_runtime.llm.endpoint import Endpoint

    return Endpoint(where, key=key, **{name: value for name, value in settings.items() if name in SERVER_OPTIONS})


def need_llama() -> None:
    """Raises MissingExtra when a local model could not run; loads nothing. For the check of a tree with an agent."""
    if importlib.util.find_spec("llama_cpp") is None or importlib.util.find_spec("llguidance") is None:
        raise MissingExtra("a local model", "llm")
