"""A real Ray cluster of two nodes, each with processes of its own, over a real model."""

from __future__ import annotations

import builtins
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bt_lab.cluster import backend as cluster
from bt_lab.cluster.backend import Cluster
from bt_lab.cluster.bundle import Named, named
from bt_lab.run import evaluation
from bt_lab.run import results_file as ledger
from bt_lab.run.backend import Local
from bt_lab.run.evaluation import Again
from bt_lab.run.outcome import Outcome
from bt_runtime import BtError
from bt_runtime.language.faults.diagnostic import MissingExtra
from packages.lab.tests.bench.wander import HOW, SETUP, make_model, told, wandering

# A lost node is noticed within seconds instead of a minute.
QUICK = {"health_check_period_ms": 1000, "health_check_failure_threshold": 3, "health_check_initial_delay_ms": 0}
PATIENCE = 60.0  # a guard against waiting for ever: by the numbers above it takes 3 to 5 seconds


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def absent(name: str, *rest: Any, **more: Any) -> Any:
        if name == "ray":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(MissingExtra, match="`eval` extra"):
        cluster.join("auto")


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    """A head that runs nothing, where the evaluation is started, and two nodes."""
    if not os.environ.get("BTR_RAY"):
        pytest.skip("starts a cluster, which takes long: make ray")
    pytest.importorskip("ray", reason="needs the eval extra")
    pytest.importorskip("llama_cpp", reason="needs the llm extra")
    from ray.cluster_utils import Cluster as Machines

    around = pytest.MonkeyPatch()
    around.setenv("RAY_USAGE_STATS_ENABLED", "0")
    around.setenv("RAY_worker_niceness", "0")  # else a busy machine starves the workers
    small = {"object_store_memory": 80_000_000}
    machines = Machines(
        initialize_head=True,
        head_node_args={"num_cpus": 0, "include_dashboard": False, "_system_config": QUICK, **small},
    )
    for _ in range(2):
        machines.add_node(num_cpus=1, **small)
    yield machines
    machines.shutdown()
    around.undo()


@pytest.fixture(scope="module")
def model(nodes: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def models(model: Path) -> dict[str, Named]:
    return {"default": named(str(model), **HOW)}


def hosts(backend: Cluster) -> list[Any]:
    found: list[Any] = backend.ray.get(backend.hosts.all.remote())
    return found


def noticed(backend: Cluster, left: int) -> int:
    """How many nodes can work, once the cluster has noticed that only so many are left: that takes it seconds."""
    until = time.monotonic() + PATIENCE
    while True:
        alive = sum(1 for each in backend.ray.nodes() if each["Alive"] and each["Resources"].get("CPU"))
        if alive == left or time.monotonic() > until:
            return alive
        threading.Event().wait(0.2)


def test_the_outcomes_are_those_of_one_machine_whichever_node_ran_what(
    nodes: Any, models: dict[str, Named], tmp_path: Path
) -> None:
    todo = wandering(tmp_path, 6)
    opened = models["default"].opened()
    with closing(opened):
        alone = list(Local({"default": opened}, 2).outcomes(SETUP, todo))
    with Cluster(nodes.address, models, 2) as backend:
        together = list(backend.outcomes(SETUP, todo))
        assert len(hosts(backend)) == 2  # both nodes took part, with one host each
        assert backend.count("find an apple") > 0
    assert told(together) == told(alone)
    assert all(o.decisions > 1 and not o.error for o in alone)
    assert len({o.decided for o in alone}) > 1


def test_when_nobody_waits_any_longer_nothing_goes_on_and_the_next_evaluation_can_begin(
    nodes: Any, models: dict[str, Named], tmp_path: Path
) -> None:
    todo = wandering(tmp_path, 8)
    with Cluster(nodes.address, models, 2) as backend:
        stream = backend.outcomes(SETUP, todo)
        next(iter(stream))
        stream.close()  # type: ignore[attr-defined]
        before = backend.ray.get([host.rest.remote() for host in hosts(backend)])
        again = list(backend.outcomes(SETUP, todo[:2]))
    assert before == [0] * len(before)
    assert [o.error for o in again] == ["", ""]


def test_a_node_without_the_model_is_told(nodes: Any, models: dict[str, Named], tmp_path: Path) -> None:
    absent = {"default": models["default"]._replace(where=str(tmp_path / "none.gguf"))}
    with Cluster(nodes.address, absent) as backend, pytest.raises(BtError, match=r"there is no model .*none\.gguf"):
        list(backend.outcomes(SETUP, wandering(tmp_path, 2)))


def test_no_cluster_at_an_address_is_told_in_a_line() -> None:
    pytest.importorskip("ray", reason="needs the eval extra")
    with pytest.raises(BtError, match="is not an address"):
        cluster.join("ray://somewhere:10001")


def test_a_lost_nodes_episodes_are_run_again_and_each_is_in_the_ledger_once(
    nodes: Any, models: dict[str, Named], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The last test: its cluster has one node less."""
    todo = wandering(tmp_path, 10)
    lines: list[int] = []

    def heard(outcome: Outcome, left: int) -> None:
        lines.append(len(ledger.read(tmp_path / ledger.RESULTS)))
        if len(lines) == 2:
            lost = nodes.worker_nodes.copy().pop()
            for each in lost.all_processes["raylet"]:
                os.kill(each.process.pid, signal.SIGKILL)

    with Cluster(nodes.address, models, 2) as backend:
        evaluation.run(tmp_path, SETUP, todo, backend, Again(), heard)
        alive = noticed(backend, 1)
    found = ledger.read(tmp_path / ledger.RESULTS)
    assert "raylet" not in capfd.readouterr().out  # pages of Ray's own, on what programs read
    assert alive == 1
    assert lines == list(range(1, 11))  # a line for each, none of them twice
    assert Counter(o.key for o in found) == Counter(case.key for case in todo)
    assert [o.error for o in found] == [""] * 10
