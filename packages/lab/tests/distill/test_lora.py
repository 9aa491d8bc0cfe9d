"""`btr lab finetune`: recorded runs become an adapter that llama.cpp lays over the model's own file."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch", reason="needs the distill extra")
pytest.importorskip("tokenizers", reason="needs the distill extra")
pytest.importorskip("llama_cpp", reason="needs the llm extra")

import gguf
import torch

from bt_lab.distill import chats, checkpoint, lora, pretrained, windows
from bt_lab.distill.documents import Document, write
from bt_lab.distill.file_tokenizer import FileTokenizer
from bt_lab.distill.finetune import rendered
from bt_lab.distill.network import Network, Piece
from bt_runtime import BtError
from bt_runtime.cli import main
from bt_runtime.journal import Recording
from bt_runtime.llm import starter
from bt_runtime.llm.local.header import read_header
from bt_runtime.llm.local.model import LocalModel
from bt_runtime.llm.settings import WorkerSettings
from packages.lab.tests.distill.test_sources import oracle, recorded
from tests.support.random_models import MICRO, make_gguf

WAIT = 60


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "runs"
    for seed in (7, 8, 9):
        recorded(folder, oracle(seed), seed=seed)
    return folder


def test_from_runs_to_an_adapter_that_makes_what_was_taught_likelier(tmp_path, runs, capsys):
    """The command leaves an adapter, and llama.cpp finds the taught answer likelier with it. Called once more it has
    nothing left to do, and with more tokens it goes on from its checkpoint."""
    out = tmp_path / "mine.gguf"
    words = ["lab", "finetune", "--base", "starter", "--from", str(runs), "--out", str(out), "--threads", "1"]
    words += ["--context", "512", "--batch", "1024", "--rate", "0.003"]
    assert main([*words, "--tokens", "6000"]) == 0
    row = next(chats.taught(_lives(runs), LocalChat.of(starter()), as_text=True))
    start, end = row["spans"][1]
    asked, said = row["text"][:start], row["text"][start:end].strip()
    likely = {}
    for name, adapters in (("alone", []), ("adapted", [str(out)])):
        with LocalModel(WorkerSettings(str(starter()), lora=adapters, threads=1, turns="one")) as model:
            likely[name] = model.choose(asked, [said], mode="scores").wait(WAIT).logprob
    assert likely["adapted"] > likely["alone"] + 0.05
    capsys.readouterr()
    assert main([*words, "--tokens", "6000"]) == 0
    assert "trained already" in capsys.readouterr().err
    assert main([*words, "--tokens", "9000"]) == 0
    assert "going on at step" in capsys.readouterr().err


def test_an_adapter_s_file_is_the_network_that_was_trained(tmp_path):
    """Random adapters in every matrix: llama.cpp's scores with the file are those of the network, so the parts of
    fused matrices and the order of the heads' rows are right."""
    file = make_gguf(tmp_path / "micro.gguf", MICRO)
    size, weights = pretrained.read_any(file, 128)
    network = Network(size, None, tied=False)
    network.load_state_dict(weights)
    lora.adapt(network, 4, 8.0, seed=1)
    with torch.no_grad():
        for name, value in network.named_parameters():
            if name.endswith(".b"):
                value.normal_(0.0, 0.05, generator=torch.Generator().manual_seed(len(name)))
    lora.write(tmp_path / "lora.gguf", lora.learnt(network), size, 8.0, {})
    text, options = "go to the kitchen and find the", [" apple", " fridge", " bread"]
    coder = FileTokenizer(file, size.vocab, chat=False)
    ours = []
    for option in options:
        (code,) = coder.encode([Document("", f"{text}{option}\n", ((len(text), len(text) + len(option) + 1),))])
        tokens = torch.tensor(code.tokens)
        logits = network.logits(network(tokens, [Piece(len(tokens))]))[:-1].log_softmax(-1)
        learnt = torch.tensor(code.learn)[1:]
        ours.append(logits[learnt].gather(1, tokens[1:][learnt][:, None]).sum().item())
    settings = {"threads": 1, "cache_type": "f32", "lanes": 1}
    with LocalModel(WorkerSettings(str(file), lora=[str(tmp_path / "lora.gguf")], **settings)) as model:
        theirs = model.choose(text, options, mode="scores").wait(WAIT).scores
    with LocalModel(WorkerSettings(str(file), **settings)) as model:
        bare = model.choose(text, options, mode="scores").wait(WAIT).scores
    assert theirs == pytest.approx(ours, abs=0.02)
    assert bare != pytest.approx(ours, abs=0.05)


def test_pieces_of_a_conversation_are_whole_turns_and_keep_every_answer():
    """Each answer stands in one piece, the last one too; a later piece says how many steps are left out."""
    said = [{"role": "system", "content": "s"}, {"role": "user", "content": "task"}]
    for number in range(7):
        said.append({"role": "assistant", "content": f"a{number}"})
        said.append({"role": "user", "content": f"u{number}"})
    said.pop()
    found = list(windows.pieces(said, [10] * len(said), 75))
    answers = [m["content"] for piece in found for m in piece if m["role"] == "assistant"]
    assert answers == [f"a{n}" for n in range(7)]
    assert all(10 * len(piece) <= 75 and piece[-1]["role"] == "assistant" for piece in found)
    assert [piece[1]["content"] for piece in found][:2] == ["task", "task\n(3 earlier steps left out)"]
    assert list(windows.pieces(said[:3], [10] * 3, 75)) == [said[:3]]


def test_rows_are_cut_to_the_tokens_that_the_model_s_vocabulary_makes_of_them(runs):
    """By the file's own vocabulary no row is longer than was asked for, and answers begin at a token's border."""
    coder = FileTokenizer(starter(), 1 << 16, chat=True)
    rows = list(chats.taught(_lives(runs), None, as_text=False))
    documents = list(rendered(rows, LocalChat.of(starter()), coder, 400))
    codes = coder.encode(documents)
    assert len(documents) > len(rows)
    assert max(len(code.tokens) for code in codes) <= 400
    assert not any(code.torn for code in codes) and all(any(code.learn) for code in codes)


def test_what_cannot_be_trained_is_refused_in_words(tmp_path, runs, capsys):
    """Another architecture, rows of another form, no end to the training: a line each, and nothing is written."""
    from tests.support.hybrid_models import make_hybrid

    other = make_hybrid(tmp_path / "mamba.gguf", "mamba")
    with pytest.raises(BtError, match="its architecture is mamba"):
        pretrained.read_any(other, 128)
    (tmp_path / "rows.jsonl").write_text(json.dumps({"text": "x", "spans": []}) + "\n")
    for words, why in (
        (["--from", str(tmp_path / "rows.jsonl"), "--tokens", "10"], "rows.jsonl:1: this is no row with `messages`"),
        (["--from", str(tmp_path / "nothing"), "--tokens", "10"], "there is no"),
        (["--from", str(runs)], "training needs an end"),
        (["--from", str(runs), "--tokens", "10", "--batch", "100"], "--batch at least --context"),
    ):
        assert main(["lab", "finetune", "--base", "starter", "--out", str(tmp_path / "o.gguf"), *words]) == 2
        assert why in capsys.readouterr().err
    assert not (tmp_path / "o.gguf").exists()


def test_a_checkpoint_holds_the_adapters_alone(tmp_path, runs):
    """The weights of the base are in its own file. Runs and a folder of lessons are taken together; the adapter has 16
    bits a weight, and says its base, its licence, and in which prompts most of it was taught."""
    out = tmp_path / "mine.gguf"
    text = "Your task is to: tidy up\nAct: look\nA cup.\n"
    lesson = Document("house react", f"{text}Act: done\n", ((len(text), len(text) + 10),))
    write(tmp_path / "lessons" / "house-1-000000.jsonl", [lesson] * 40)
    words = [
        "--from",
        str(runs),
        str(tmp_path / "lessons"),
        "--out",
        str(out),
        "--tokens",
        "500",
        "--context",
        "512",
        "--batch",
        "512",
    ]
    assert main(["lab", "finetune", "--base", "starter", "--threads", "1", *words]) == 0
    _, _, weights, _ = checkpoint.load(tmp_path / "mine.work" / "latest.pt")
    assert weights and all(name.endswith(lora.LEARNT) for name in weights)
    about = read_header(out).about
    assert (about["finetune.base"], about["finetune.prompts"]) == ("starter.gguf", "starter")
    assert about["general.license"] == "Apache-2.0"
    numbers = sum(tensor.n_elements for tensor in gguf.GGUFReader(out).tensors)
    assert 2 * numbers < out.stat().st_size < 2.2 * numbers + 20_000


def _lives(folder):
    from bt_lab.distill import journals
    from bt_runtime.journal.folder import journals as journals_in

    recordings = map(Recording, journals_in(folder))
    return (life for recording in recordings if journals.met(recording) for life in journals.lives(recording))


class LocalChat:
    @staticmethod
    def of(file):
        from bt_runtime.llm import Chat
        from bt_runtime.llm.local.header import read_header

        header = read_header(file)
        return Chat.of(header.chat_template, header.markers, header.ends)
