"""Models: local GGUF files in a worker process, servers behind HTTP, and what plugins bring, by one protocol
(`types.Model`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bt_runtime._face import face

if TYPE_CHECKING:
    from bt_runtime.llm.chat.chat import Chat as Chat
    from bt_runtime.llm.job import Answer as Answer
    from bt_runtime.llm.server.chat_server import LONGEST as LONGEST
    from bt_runtime.llm.server.chat_server import ChatServer as ChatServer
    from bt_runtime.llm.server.chat_server import Scored as Scored
    from bt_runtime.llm.settings import starter as starter
    from bt_runtime.types import Model

__getattr__, __dir__ = face(
    __name__,
    {
        "Answer": "bt_runtime.llm.job",
        "Chat": "bt_runtime.llm.chat.chat",
        "ChatServer": "bt_runtime.llm.server.chat_server",
        "LONGEST": "bt_runtime.llm.server.chat_server",
        "Scored": "bt_runtime.llm.server.chat_server",
        "starter": "bt_runtime.llm.settings",
    },
)


def open_model(
    where: str | Mapping[str, Any] | None = None,
    *,
    role: str = "planner",
    key: str | None = None,
    **settings: Any,
) -> Model:
    """The model that is named, else BTR_MODEL's, else the project file's: a `.gguf` file, an http address, the name of
    an installed backend (`echo`, `echo:loud`), `path.py:Name`, or a mapping with settings: `{"file": "a.gguf",
    "context": 16384}`, `{"server": "http://localhost:8000", "name": "qwen"}`.

    `key` is for this very server. Without one, the environment says for which address its key is (docs/models.md).
    Local files load in the background: `ready()` waits for them, and so does `with`.
    """
    from bt_runtime.llm.backends import open_with_backend
    from bt_runtime.llm.model_setting import apart
    from bt_runtime.llm.settings import find_model

    found = apart(find_model(where, role))
    said = {"key": key} if key is not None else {}
    return open_with_backend(found.where, **said, **{**found.how, **settings})


def need_llama() -> None:
    """Raises MissingExtra when a local model could not run; loads nothing. For the check of a tree with an agent."""
    from bt_runtime.llm.shipped import need_llama

    need_llama()
