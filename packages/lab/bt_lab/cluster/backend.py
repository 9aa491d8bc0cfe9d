"""Runs episodes as tasks of a Ray cluster. Ray alone schedules: it places tasks, limits them per node, and retries
those of a lost node."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bt_lab.cluster.bundle import Named, pack
from bt_lab.cluster.ray_actor import TRIES, Hosts, Unfit, asked, on
from bt_lab.run.case import Case, Setup
from bt_lab.run.outcome import Outcome
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.extra import Extra
from bt_runtime.language.project import child

LOCAL = "local"
PLACES = "node:__internal_implicit_resource_bt_runtime"  # each node has one: how Ray is told "so many a node"
GRAIN = 10_000  # Ray counts resources in parts of this
PATIENCE = 10.0  # seconds that hosts have to end their episodes; then they are killed


class Cluster:
    """Runs episodes on a Ray cluster, inside `with`. `jobs`: episodes at once on each node; they share the node's
    models."""

    def __init__(self, address: str, models: Mapping[str, Named], jobs: int = 1) -> None:
        self.address, self.models, self.jobs = address, models, max(1, jobs)
        self.ray: Any = None
        self.hosts: Any = None
        self.number = 0

    def __enter__(self) -> Cluster:
        ray = self.ray = join(self.address)
        here = on(ray.get_runtime_context().get_node_id())
        made = ray.remote(Hosts).options(num_cpus=0, max_restarts=-1, max_task_retries=TRIES, scheduling_strategy=here)
        self.hosts = made.remote(self.models)
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._rest()
        finally:
            self.ray.shutdown()  # whatever is left of this evaluation ends with it

    def outcomes(self, setup: Setup, cases: Sequence[Case]) -> Iterator[Outcome]:
        self.number += 1
        bundle = [self.ray.put(pack(setup, [case.strategy for case in cases], self.jobs))]
        task = self._task()
        pending = {task.remote(self.hosts, "run", self.number, bundle, case): case for case in cases}
        try:
            while pending:
                (ended, *_), _ = self.ray.wait(list(pending), num_returns=1)
                yield self._outcome(ended, pending.pop(ended), setup)
        finally:
            for each in pending:
                self.ray.cancel(each)
            if pending:
                self._rest()

    def count(self, text: str) -> int:
        """Counts tokens by the first model; counts words when there is no model."""
        if not self.models:
            return len(text.split())
        return int(self._fit(self.ray.get(self._task().remote(self.hosts, "count", text))))

    def _task(self) -> Any:
        """Describes a task to Ray. It needs almost no processor, because it only waits for its host; nodes that offer
        no processor are not used."""
        lost = self.ray.exceptions.RayActorError
        places = {PLACES: GRAIN // self.jobs / GRAIN}
        return self.ray.remote(asked).options(
            num_cpus=0.001, resources=places, max_retries=TRIES, retry_exceptions=[lost], scheduling_strategy="SPREAD"
        )

    def _outcome(self, ended: Any, case: Case, setup: Setup) -> Outcome:
        faults = self.ray.exceptions
        try:
            found: Outcome = self._fit(self.ray.get(ended))
            return found
        except faults.RayError as error:
            if isinstance(error, faults.RayTaskError) and not isinstance(error, faults.RayActorError):
                said = str(error.cause).strip().partition("\n")[0]
                raise BtError(
                    f"a node cannot run episodes: {type(error.cause).__name__}: {said}",
                    "bt_runtime and its extras have to be the same on every node",
                ) from error
            task = case.task
            lost = f"lost with its node: {type(error).__name__}"
            return Outcome(case.strategy.name, task.id, case.number, task.kind, task.goal, seed=setup.seed, error=lost)

    def _fit(self, found: Any) -> Any:
        if isinstance(found, Unfit):
            raise BtError(found.message, found.hint)
        return found

    def _rest(self) -> None:
        """Tells the hosts to end their episodes; an unreachable host is skipped."""
        ray = self.ray
        known, _ = ray.wait([self.hosts.all.remote()], timeout=PATIENCE)
        hosts = ray.get(known[0]) if known else []
        if hosts:
            ray.wait([host.rest.remote() for host in hosts], num_returns=len(hosts), timeout=PATIENCE)


def join(address: str) -> Any:
    """Connects to a cluster. `auto`: the one that runs on this machine; `local`: a new one for this evaluation;
    `HOST:PORT`: the head's cluster, which this machine has joined."""
    with Extra("eval", "--ray"):
        import ray
    if "://" in address:
        raise BtError(
            f"{address} is not an address of a cluster's head", "auto, local, or HOST:PORT as `ray start` told it"
        )
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # disables Ray's telemetry
    how = {"include_dashboard": False} if address == LOCAL else {}
    try:
        with child.standing_at_home():
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **how)
    except (OSError, RuntimeError, ValueError) as fault:
        said = str(fault).strip().partition("\n")[0]
        raise BtError(
            f"there is no Ray cluster at `{address}`: {said}",
            "on the first machine `ray start --head`, on the others `ray start --address HOST:PORT`; or: --ray local",
        ) from fault
    quiet(ray)
    return ray


def quiet(ray: Any) -> None:
    """Keeps the nodes' output in Ray's own logs. `log_to_driver` does not cover it, and a lost node prints pages of
    it."""
    printing: Any = getattr(getattr(ray, "_private", None), "worker", None)
    if hasattr(printing, "_worker_logs_enabled"):
        printing._worker_logs_enabled = False
