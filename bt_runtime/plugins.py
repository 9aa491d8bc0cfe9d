"""What plugins are made of: kinds of nodes, ways to do skills, monitors, exports, options of commands, worlds."""

from __future__ import annotations

from bt_runtime._face import face

TYPE_CHECKING = False
if TYPE_CHECKING:
    from bt_runtime.cli.options import Opened as Opened
    from bt_runtime.cli.options import Options as Options
    from bt_runtime.journal.export import Export as Export
    from bt_runtime.language.expression import Template as Template
    from bt_runtime.language.expression import compile as compile
    from bt_runtime.language.faults.diagnostic import nearest as nearest
    from bt_runtime.language.impls import Implementation as Implementation
    from bt_runtime.language.kinds.kind import Field as Field
    from bt_runtime.language.kinds.kind import Kind as Kind
    from bt_runtime.run.monitor import Access as Access
    from bt_runtime.run.monitor import Monitor as Monitor
    from bt_runtime.run.monitoring.grafts import Grafts as Grafts
    from bt_runtime.run.view.beside import Beside as Beside
    from bt_runtime.skills.activity import Activity as Activity
    from bt_runtime.skills.activity import Wrapping as Wrapping
    from bt_runtime.skills.activity import refused as refused
    from bt_runtime.skills.worlds.registry import Wanted as Wanted
    from bt_runtime.skills.worlds.registry import open_suite as open_suite
    from bt_runtime.tree.action import Action as Action
    from bt_runtime.tree.gates import Gate as Gate

__getattr__, __dir__ = face(
    __name__,
    {
        "Access": "bt_runtime.run.monitor",
        "Action": "bt_runtime.tree.action",
        "Activity": "bt_runtime.skills.activity",
        "Beside": "bt_runtime.run.view.beside",
        "Export": "bt_runtime.journal.export",
        "Field": "bt_runtime.language.kinds.kind",
        "Gate": "bt_runtime.tree.gates",
        "Grafts": "bt_runtime.run.monitoring.grafts",
        "Implementation": "bt_runtime.language.impls",
        "Kind": "bt_runtime.language.kinds.kind",
        "Monitor": "bt_runtime.run.monitor",
        "Opened": "bt_runtime.cli.options",
        "Options": "bt_runtime.cli.options",
        "Template": "bt_runtime.language.expression",
        "Wanted": "bt_runtime.skills.worlds.registry",
        "Wrapping": "bt_runtime.skills.activity",
        "compile": "bt_runtime.language.expression",
        "nearest": "bt_runtime.language.faults.diagnostic",
        "open_suite": "bt_runtime.skills.worlds.registry",
        "refused": "bt_runtime.skills.activity",
    },
)
