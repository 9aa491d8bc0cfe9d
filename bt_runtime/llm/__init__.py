"""Models: local GGUF files in a worker process, and servers behind HTTP, by one protocol (`types.Model`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bt_runtime.faults.diagnostic import MissingExtra

if TYPE_CHECKING:
    from bt_runtime.llm.endpoint import Endpoint
    from bt_runtime.llm.model import LocalModel


def open_model(
    where: str | None = None,
    *,
    role: str = "planner",
    key: str | None = None,
    **settings: Any,
) -> LocalModel | Endpoint:
    """The model that is named, else BTR_MODEL's, else the project file's; a `.gguf` file or an http address.

    `key` is for this very server. Without one, the environment says for which address its key is (docs/models.md).
    Local files load in the background: `ready()` waits for them, and so does `with`.
    """
    from bt_runtime.llm.settings import Settings, find_model, is_address

    found = find_model(where, role)
    if is_address(found):
        from bt_runtime.llm.endpoint import Endpoint

        return Endpoint(found, key=key)
    need_llama()
    from bt_runtime.llm.model import LocalModel

    return LocalModel(Settings(found, **settings))


def need_llama() -> None:
    """Raises MissingExtra when a local model could not run; loads nothing. For the check of a tree with an agent."""
    from importlib.util import find_spec

    if find_spec("llama_cpp") is None or find_spec("llguidance") is None:
        raise MissingExtra("a local model", "llm")
