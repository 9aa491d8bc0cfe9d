from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("gguf", reason="test models are made with gguf (the dev extra)")

from bt_runtime.llm.settings import WorkerSettings
from tests.support.random_models import MICRO, make_gguf


def need_llama() -> None:
    """Only the worker imports llama.cpp; here it is enough that it could."""
    if find_spec("llama_cpp") is None:
        pytest.skip("needs the llm extra")


@pytest.fixture(scope="session")
def micro(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random model of two layers and a thousand tokens, byte-level BPE."""
    return make_gguf(tmp_path_factory.mktemp("models") / "micro.gguf")


@pytest.fixture(scope="session")
def micro_spm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with a SentencePiece vocabulary, which puts a space before every text."""
    return make_gguf(tmp_path_factory.mktemp("models") / "spm.gguf", replace(MICRO, tokenizer="spm"))


@pytest.fixture(scope="session", params=[1, 0], ids=["batch", "lanes"])
def model(micro: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    """One worker for every test that does not harm it; what holds for all jobs in one batch holds in lanes as well."""
    need_llama()
    from bt_runtime.llm.local.model import LocalModel

    with LocalModel(WorkerSettings(str(micro), threads=1, lanes=request.param)) as opened:
        yield opened


@pytest.fixture
def open_model(micro: Path) -> Iterator[Callable[..., Any]]:
    """Workers of a test's own, closed after it."""
    need_llama()
    from bt_runtime.llm.local.model import LocalModel

    opened: list[Any] = []

    def make(path: Path = micro, ready: bool = True, **settings: Any) -> Any:
        opened.append(LocalModel(WorkerSettings(str(path), **{"threads": 1, **settings})))
        return opened[-1].ready(20) if ready else opened[-1]

    yield make
    for one in opened:
        one.close()
