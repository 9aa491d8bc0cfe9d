"""Another strategy from a moment of a run on: the tree takes the place of the root, with the inputs that both have."""

from __future__ import annotations

import json

from bt_runtime.language import project
from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.language.loader import Loader
from bt_runtime.language.spec import TreeSpec


def instead(tree: TreeSpec, name: str) -> tuple[str, str]:
    """Returns the path of the tree's root, and the text of a node that runs the other tree there.

    Raises BtError for a tree that is not there, or that needs inputs which this one does not have."""
    loader = Loader()
    path = loader.locate(name)
    if path is None:
        known = project.names("trees")
        raise BtError(f"there is no tree `{name}`", did_you_mean(name, known, f"trees here: {', '.join(known)}"))
    other = loader.file(path).sound()
    lacks = [port for port, about in other.inputs.items() if about.required and port not in tree.inputs]
    if lacks:
        raise BtError(f"`{name}` needs the input `{lacks[0]}`, which `{tree.name}` does not have", "name another tree")
    given = {port: f"{{{port}}}" for port in other.inputs if port in tree.inputs}
    return f"/{tree.name}", json.dumps({"tree": {"file": name, "with": given}})
