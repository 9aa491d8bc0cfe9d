"""The live page and `btr top`: a run as a stream of small events, and what is made of them. See docs/view.md."""

from bt_runtime.view.feed import Feed
from bt_runtime.view.live import View
from bt_runtime.view.picture import Picture

__all__ = ["Feed", "Picture", "View"]
