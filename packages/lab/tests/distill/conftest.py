from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from packages.lab.tests.distill.errands import errands


class Trained(NamedTuple):
    """A run at toy size, whole: from documents to the file."""

    made: Any
    order: Any
    told: list[str]


@pytest.fixture(scope="session")
def one_core() -> Iterator[None]:
    """torch alone on one core: other numbers of threads add in another order."""
    torch = pytest.importorskip("torch", reason="needs the distill extra")
    pytest.importorskip("tokenizers", reason="needs the distill extra")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three shards of errands."""
    from bt_lab.distill.documents import write

    folder = tmp_path_factory.mktemp("documents")
    for number in range(3):
        write(folder / f"{number}.jsonl", errands(100, seed=number))
    return folder


@pytest.fixture(scope="session")
def trained(one_core: None, documents: Path, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """The model that has learnt where everything is."""
    pytest.importorskip("gguf", reason="needs the distill extra")
    pytest.importorskip("llama_cpp", reason="needs the llm extra")
    from bt_lab.distill.schedule import Schedule
    from bt_lab.distill.stages import StageOrder, make

    folder = tmp_path_factory.mktemp("toy")
    schedule = Schedule(
        tokens=120_000, batch=1024, rate=6e-3, warm=20, compile=False, tell_every=1e9, look_every=1e9, save_every=1e9
    )
    order = StageOrder(
        [documents], folder / "work", folder / "errands.gguf", schedule, "toy", 400, 256, command="btr lab distill"
    )
    told: list[str] = []
    return Trained(make(order, told.append), order, told)
