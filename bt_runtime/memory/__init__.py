"""Memory: experiences, a notebook, working memory, and the protocols of stores."""

from __future__ import annotations

from bt_runtime._face import face

TYPE_CHECKING = False
if TYPE_CHECKING:
    from bt_runtime.memory.episodes import Episodes as Episodes
    from bt_runtime.memory.index import Hit as Hit
    from bt_runtime.memory.index import Index as Index
    from bt_runtime.memory.notebook import Notebook as Notebook
    from bt_runtime.memory.opening import Memory as Memory
    from bt_runtime.memory.working import WorkingMemory as WorkingMemory

__getattr__, __dir__ = face(
    __name__,
    {
        "Episodes": "bt_runtime.memory.episodes",
        "Hit": "bt_runtime.memory.index",
        "Index": "bt_runtime.memory.index",
        "Memory": "bt_runtime.memory.opening",
        "Notebook": "bt_runtime.memory.notebook",
        "WorkingMemory": "bt_runtime.memory.working",
    },
)
