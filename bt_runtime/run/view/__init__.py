"""The live page and `btr view top`: they show a run from a stream of small events. See docs/view.md."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bt_runtime.run.view.feed import Feed as Feed
    from bt_runtime.run.view.live import View as View
    from bt_runtime.run.view.picture import PagePicture as Picture

__all__ = ["Feed", "Picture", "View"]
_ROOMS = {"Feed": "feed", "Picture": "picture", "View": "live"}


def __getattr__(name: str) -> Any:
    """Imports each name when it is first used: drawing a picture needs no server."""
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)
