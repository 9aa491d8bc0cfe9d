"""The processes in which ALFWorld's engine plays."""

from __future__ import annotations

import importlib.util
from functools import lru_cache

from bt_runtime.envs.worker_pool import Plays, Pool
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.project import child


@lru_cache(maxsize=8)
def shared(bound: int) -> Pool:
    """Returns the pool that all worlds with this number of workers share in this process."""
    lacks = [name for name in ("textworld", "alfworld") if importlib.util.find_spec(name) is None]
    if lacks:
        raise BtError(f"ALFWorld needs {' and '.join(lacks)}", "pip install 'bt_runtime[alfworld]'")
    return Pool(bound, Plays("ALFWorld", child.python("bt_runtime.envs.alfworld.engine"), "ALFWORLD_DATA"))
