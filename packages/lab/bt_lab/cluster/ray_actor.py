"""The actor on each node of a Ray cluster: it holds the node's models and runs its episodes. A task only hands its
case to the actor of its node and waits. So the episodes of a node share its models, while Ray decides placement and
retries."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bt_lab.cluster.bundle import Bundle, Named
from bt_lab.cluster.node_runner import NodeRunner
from bt_lab.run.case import Case
from bt_lab.run.outcome import Outcome
from bt_runtime.language.faults.diagnostic import BtError

TRIES = 8  # how often a call is made again when what it was made on is lost


class Unfit(NamedTuple):
    """The reason why a node cannot run episodes."""

    message: str
    hint: str


class Host:
    """Opens its models once; has a site for the evaluation that goes on."""

    def __init__(self, named: Mapping[str, Named]) -> None:
        self.named, self.models = named, dict[str, Any]()
        self.runner: NodeRunner | None = None
        self.number = 0  # number of the evaluation that the site serves
        self.settling = asyncio.Lock()

    async def run(self, number: int, bundle: Sequence[Any], case: Case) -> Outcome | Unfit:
        """Runs a case. `bundle` is a reference in a list, so that only a host without a runner fetches its content."""
        try:
            async with self.settling:
                if self.runner is None or self.number != number:
                    found = await bundle[0]
                    await asyncio.to_thread(self._settle, found)
                    self.number = number
                assert self.runner is not None
                ended = self.runner.run(case)
            return await asyncio.wrap_future(ended)
        except BtError as fault:
            return Unfit(f"{platform.node()}: {fault.message}", fault.hint)

    async def count(self, text: str) -> int | Unfit:
        """Counts the tokens of `text` with the first model, or its words when no model is open. Returns `Unfit` when
        a model cannot be opened."""
        try:
            async with self.settling:
                await asyncio.to_thread(self._open)
        except BtError as fault:
            return Unfit(f"{platform.node()}: {fault.message}", fault.hint)
        model = next(iter(self.models.values()), None)
        return int(await asyncio.to_thread(model.count, text)) if model is not None else len(text.split())

    async def rest(self) -> int:
        """Ends the episodes, and says how many ran; the models stay open."""
        async with self.settling:
            ran = len(self.runner.running) if self.runner is not None else 0
            await asyncio.to_thread(self._leave)
        return ran

    def _settle(self, bundle: Bundle) -> None:
        self._leave()
        self._open()
        self.runner = NodeRunner(bundle, self.models)

    def _leave(self) -> None:
        site, self.runner = self.runner, None
        if site is not None:
            site.close()

    def _open(self) -> None:
        """Opens each model file once, however many roles it has."""
        opened: dict[str, Any] = {}
        for role in self.named.keys() - self.models.keys():
            named = self.named[role]
            if named.where not in opened:
                opened[named.where] = named.opened()
            self.models[role] = opened[named.where]


class Hosts:
    """Maps nodes to hosts. A host is created by the first task on its node. This actor lives on the evaluation's own
    node, so that the hosts survive the loss of any other node."""

    def __init__(self, named: Mapping[str, Named]) -> None:
        self.named = named
        self.known: dict[str, Any] = {}

    def of(self, node: str) -> Any:
        if node not in self.known:
            import ray

            there = next(each for each in ray.nodes() if each["NodeID"] == node)
            self.known[node] = ray.remote(Host).options(
                num_cpus=0, num_gpus=there["Resources"].get("GPU", 0), max_restarts=-1, max_task_retries=TRIES,
                scheduling_strategy=on(node),
            ).remote(self.named)  # fmt: skip
        return self.known[node]

    def all(self) -> list[Any]:
        return list(self.known.values())


def on(node: str) -> Any:
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return NodeAffinitySchedulingStrategy(node, soft=False)


def asked(hosts: Any, what: str, *given: Any) -> Any:
    """A Ray task that passes a request to the host of its node and waits."""
    import ray

    host = ray.get(hosts.of.remote(ray.get_runtime_context().get_node_id()))
    return ray.get(getattr(host, what).remote(*given))
