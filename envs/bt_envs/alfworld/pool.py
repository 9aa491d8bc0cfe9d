"""The processes in which ALFWorld's engine plays."""

from __future__ import annotations

from functools import lru_cache

from bt_envs.alfworld.worker_pool import Plays, WorkerPool
from bt_runtime.language.faults.extra import Extra
from bt_runtime.language.project import child


@lru_cache(maxsize=8)
def shared(bound: int) -> WorkerPool:
    """Returns the pool that all worlds with this number of workers share in this process."""
    Extra("alfworld", "ALFWorld").need("textworld", "alfworld")
    return WorkerPool(bound, Plays("ALFWorld", child.python("bt_envs.alfworld.engine"), "ALFWORLD_DATA"))
