"""The backends shipped with the runtime, registered by entry points: a local file, and a server."""

from __future__ import annotations

from typing import Any

from bt_runtime.language.faults.extra import Extra
from bt_runtime.types import Model


def local(where: str, *, key: str | None = None, **settings: Any) -> Model:
    """Opens a GGUF file in a worker process. `key` is ignored: it is for servers."""
    need_llama()
    from bt_runtime.llm.local.model import LocalModel
    from bt_runtime.llm.settings import WorkerSettings

    return LocalModel(WorkerSettings(where, **settings))


def smollm2(where: str, **settings: Any) -> Model:
    """The instruct model of the extra `smollm`, a local file."""
    from bt_runtime.llm.settings import NAMED_FILES

    return local(str(NAMED_FILES[where]()), **settings)


def server(where: str, *, key: str | None = None, **settings: Any) -> Model:
    """Opens a server behind HTTP. Settings of local models are ignored."""
    from bt_runtime.language.project_file import SERVER_OPTIONS
    from bt_runtime.llm.server.endpoint import Endpoint

    return Endpoint(where, key=key, **{name: value for name, value in settings.items() if name in SERVER_OPTIONS})


def need_llama() -> None:
    """Raises MissingExtra when a local model could not run; loads nothing. For the check of a tree with an agent."""
    Extra("llm", "a local model").need("llama_cpp", "llguidance")
