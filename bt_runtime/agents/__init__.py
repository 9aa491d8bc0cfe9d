"""Agents: a model by a script, the end of a life, and nodes of your own that ask a model."""

from __future__ import annotations

from bt_runtime._face import face

TYPE_CHECKING = False
if TYPE_CHECKING:
    from bt_runtime.agents.end import Ending as Ending
    from bt_runtime.agents.model_node import Life as Life
    from bt_runtime.agents.model_node import ModelNode as ModelNode
    from bt_runtime.agents.scripted import ScriptedModel as ScriptedModel

__getattr__, __dir__ = face(
    __name__,
    {
        "Ending": "bt_runtime.agents.end",
        "Life": "bt_runtime.agents.model_node",
        "ModelNode": "bt_runtime.agents.model_node",
        "ScriptedModel": "bt_runtime.agents.scripted",
    },
)
