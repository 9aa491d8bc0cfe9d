"""`btr lab finetune` of Gemma 3: the network is llama.cpp's, layer by layer, and so is the adapter that is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs the distill extra")
pytest.importorskip("tokenizers", reason="needs the distill extra")
pytest.importorskip("llama_cpp", reason="needs the llm extra")

import torch

from bt_lab.distill import lora, pretrained
from bt_lab.distill.documents import Document
from bt_lab.distill.file_tokenizer import FileTokenizer
from bt_lab.distill.gemma import Gemma, GemmaSize
from bt_lab.distill.network import Piece
from bt_runtime import BtError
from bt_runtime.llm.local.model import LocalModel
from bt_runtime.llm.settings import WorkerSettings
from tests.support.attention_models import WINDOW, make_attending
from tests.support.random_models import Shape
from tests.support.real_shapes import SHAPES, make_shape, smaller

TEXT = (
    "".join(f"go to the kitchen and find the {thing}, " for thing in ("apple", "fridge", "bread", "lamp")) * 2
    + "then the"
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: Any) -> Path:
    """Seven layers: the sixth has no window."""
    shape = Shape(layers=7, width=96, heads=3, kv_heads=1)
    return make_attending(tmp_path_factory.mktemp("gemma") / "gemma.gguf", "gemma3", shape)


def network_of(file: Path, adapted: Path | None = None) -> Gemma:
    size, weights = pretrained.read_any(file, 256)
    assert isinstance(size, GemmaSize) and size.window == WINDOW
    network = Gemma(size)
    network.load_state_dict(weights)
    if adapted is not None:
        lora.adapt(network, 4, 8.0, seed=1)
        with torch.no_grad():
            for name, value in network.named_parameters():
                if name.endswith(".b"):
                    value.normal_(0.0, 0.05, generator=torch.Generator().manual_seed(len(name)))
        lora.write(adapted, lora.learnt(network), size, 8.0, {})
    return network


def scores(file: Path, adapters: list[str], options: list[str]) -> list[float]:
    settings = WorkerSettings(str(file), lora=adapters, threads=1, cache_type="f32", lanes=1)
    with LocalModel(settings) as model:
        return list(model.choose(TEXT, options, mode="scores").wait(60).scores)


def ours(file: Path, network: Gemma, options: list[str]) -> list[float]:
    coder, found = FileTokenizer(file, network.size.vocab, chat=False), []
    for option in options:
        said = ((len(TEXT), len(TEXT) + len(option) + 1),)
        (code,) = coder.encode([Document("", f"{TEXT}{option}\n", said)])
        assert len(code.tokens) > 2 * WINDOW
        tokens, learnt = torch.tensor(code.tokens), torch.tensor(code.learn)[1:]
        with torch.no_grad():
            logits = network.logits(network(tokens, [Piece(len(tokens))]))[:-1].log_softmax(-1)
        found.append(logits[learnt].gather(1, tokens[1:][learnt][:, None]).sum().item())
    return found


def test_the_network_and_its_adapter_are_those_of_llama_cpp(file: Path, tmp_path: Path) -> None:
    options = [" cup", " box", " key"]
    assert scores(file, [], options) == pytest.approx(ours(file, network_of(file), options), abs=0.01)
    adapter = tmp_path / "lora.gguf"
    network = network_of(file, adapter)
    adapted = scores(file, [str(adapter)], options)
    assert adapted == pytest.approx(ours(file, network, options), abs=0.01)
    assert adapted != pytest.approx(scores(file, [], options), abs=0.1)


def test_documents_of_one_row_do_not_see_each_other_through_a_window(file: Path) -> None:
    """Two documents behind one opening give what each gives alone behind it."""
    network = network_of(file)
    draw = torch.Generator().manual_seed(3)
    opening, first, second = (torch.randint(3, 1000, (n,), generator=draw) for n in (40, 21, 35))
    with torch.no_grad():
        row = torch.cat([opening, first, second])
        together = network(row, [Piece(40), Piece(21, 0, 40), Piece(35, 0, 40)])
        for start, part in ((40, first), (61, second)):
            alone = network(torch.cat([opening, part]), [Piece(40 + len(part))])[40:]
            assert torch.allclose(together[start : start + len(part)], alone, atol=1e-4)


def test_a_gemma_of_another_form_is_refused_by_name() -> None:
    told: dict[str, Any] = {"general.architecture": "gemma3"}
    told |= {"gemma3.attention.key_length": 8, "gemma3.attention.value_length": 8, "gemma3.rope.scaling.factor": 8.0}
    assert "scaled" in pretrained.unlike(told, {})
    assert "blk.0.attn_sinks.weight" in pretrained.unlike(told, {"blk.0.attn_sinks.weight": None})


def test_another_architecture_is_refused_with_those_that_are_known(tmp_path: Path) -> None:
    other = make_shape(tmp_path / "other.gguf", smaller(SHAPES["Qwen3-8B"]))
    with pytest.raises(BtError, match="its architecture is qwen3") as refused:
        pretrained.read_any(other, 64)
    assert "Gemma 3" in refused.value.hint
