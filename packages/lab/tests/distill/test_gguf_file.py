"""From documents to a file that answers: the whole pipeline at toy size, and the file against the network."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("torch", reason="needs the distill extra")
pytest.importorskip("gguf", reason="needs the distill extra")
pytest.importorskip("llama_cpp", reason="needs the llm extra")

from bt_lab.distill import checkpoint, documents, parity, pretrained, tokenizer
from bt_lab.distill.gguf_file import CHAT_TEMPLATE, write
from bt_lab.distill.network import Network
from bt_lab.distill.size import Size
from bt_lab.distill.stages import export, make, samples
from bt_lab.distill.training import Training
from bt_runtime import BtError
from bt_runtime.agents.prompt import Prompt, agent_prompt
from bt_runtime.agents.story import StoryStep
from bt_runtime.llm import Chat
from bt_runtime.llm.local.header import read_header
from bt_runtime.llm.local.model import LocalModel
from bt_runtime.llm.settings import WorkerSettings
from packages.lab.tests.distill.errands import PLACES, SYSTEM, prompt
from tests.support.random_models import make_gguf

WAIT = 60


@pytest.fixture(scope="module")
def parts(trained):
    """The tokenizer, the weights and the network of the trained run."""
    _, about, weights, _ = checkpoint.load(trained.order.work / checkpoint.LATEST)
    network = Network(Size(**about["size"]))
    network.load_state_dict(weights)
    return tokenizer.load(trained.order.work / "tokenizer.json"), weights, network


def test_the_model_answers_what_it_has_learnt(trained):
    """Through llama.cpp, asked as a run asks: thoughts are written, acts are chosen among all, each the right one."""
    acts = [f" go to {place}" for place in PLACES.values()] + [f" take {thing}" for thing in PLACES] + [" done"]
    with LocalModel(WorkerSettings(str(trained.made.path), threads=1)) as model:
        for thing, place in PLACES.items():
            first = model.decide(prompt(thing), {"Think:": (), "Act:": acts}).wait(WAIT)
            assert first.text == "Think:"
            wrote = model.write(prompt(thing) + "Think:", stop=["\n"], max_tokens=32).wait(WAIT)
            assert wrote.text == f" the {thing} is on {place}"
            thought = StoryStep("think", wrote.text.strip())
            second = model.decide(prompt(thing, (thought,)), {"Think:": (), "Act:": acts}).wait(WAIT)
            assert second.text == f"Act: go to {place}"
            assert model.choose(prompt(thing, (thought,)) + "Act:", acts).wait(WAIT).text == f" go to {place}"


def test_what_was_held_back_is_answered(trained):
    """The report tells of documents that were not trained on, by kind."""
    last = [point for point in trained.made.state.curve if "exact" in point][-1]
    assert last["exact"] == {"all": 1.0, "errand": 1.0}
    assert "errand 100.0%" in str(trained.made)


@pytest.mark.parametrize(("kind", "most"), [("f32", 1e-3), ("f16", 0.05)])
def test_the_file_is_the_network(trained, parts, tmp_path, kind, most):
    """llama.cpp splits texts into the same tokens, computes the same logits and writes the same answers as PyTorch."""
    words, weights, network = parts
    path = write(tmp_path / "m.gguf", weights, network.size, words, kind)
    known = list(samples(trained.order.places))[:6]
    odd = documents.Document("odd", "Ünï 🙂 <|end|>\n  - x\n", ((5, 9),))
    for some, sure in ((known, True), ([odd], kind == "f32")):  # of what was never seen, rounding may turn a near tie
        found = parity.compare(path, network, words, some)
        assert found.difference < most
        assert found.answers == len(some)
        if sure:
            assert (found.same, found.retold) == (found.answers, 0)


def test_parity_finds_a_file_that_is_not_the_network(trained, parts, tmp_path):
    """With one weight matrix doubled, the logits differ, and so it is told."""
    words, weights, network = parts
    other = {**weights, "blocks.1.qkv.weight": weights["blocks.1.qkv.weight"] * 2}
    path = write(tmp_path / "m.gguf", other, network.size, words, "f32")
    assert parity.compare(path, network, words, list(samples(trained.order.places))[:2]).difference > 0.1


def test_eight_bits_change_no_answer(trained):
    """The quantised file, which is the one that is kept, answers like the network."""
    found = trained.made.parity
    assert (found.same, found.retold) == (found.answers, 0)
    assert found.agreement > 0.98


@pytest.mark.parametrize("examples", ["", "Earlier tasks, and how they went:\n\nExample 1\nAct: go\n\nNow the task.\n"])
@pytest.mark.parametrize("steps", ["", "Think: x\nOK.\n"])
@pytest.mark.parametrize("system", [SYSTEM, "", "one line"])
def test_asked_as_a_chat_or_as_a_text_it_reads_the_same(system, examples, steps):
    """The file's chat template renders to exactly the text that a base model gets."""
    given = Prompt(system, examples, "Your task is to: fetch\nYou see {{ it }}.\n", steps)
    assert given.text(Chat.of(CHAT_TEMPLATE)) == given.text(None)


def test_an_agents_prompt_is_the_same_both_ways():
    """So it is for what the runtime's own builder makes."""
    made = agent_prompt(
        SYSTEM, "fetch", "You see a cup.", [StoryStep("act", "go", "You go.")], notes=["n"], examples=["e"]
    )
    assert made.text(Chat.of(CHAT_TEMPLATE)) == made.text(None)


def test_the_file_says_what_it_is(trained):
    """Architecture, context, licence, the data's digest, the seed, the command and the curve are in the header."""
    header = read_header(trained.made.path)
    about = header.about
    assert (header.architecture, header.trained_context, header.layers) == ("llama", 256, 2)
    assert about["general.license"] == "Apache-2.0"
    assert about["distill.data_digest"] == trained.made.state.data != ""
    assert (about["distill.seed"], about["distill.command"]) == ("0", "btr lab distill")
    assert '"exact"' in about["distill.curve"]
    assert about["tokenizer.ggml.add_bos_token"] is False
    assert header.chat_template == CHAT_TEMPLATE


def test_a_finished_run_is_not_trained_again(trained):
    """The same order once more trains nothing, and the file comes out the same to the byte."""
    before = trained.made.path.read_bytes()
    told: list[str] = []
    made = make(trained.order, told.append)
    assert made.state.step == trained.made.state.step
    assert any("trained already" in text for text in told)
    assert made.path.read_bytes() == before


def test_a_type_that_there_is_not_is_a_fault(trained):
    """Asked for before anything is written."""
    with pytest.raises(BtError, match="no type `q3`"):
        export(replace(trained.order, kind="q3"), print)


def test_a_file_read_back_is_the_network_it_was_made_of(parts, tmp_path):
    """Weights, size and tokens: so that training can go on from a file alone."""
    words, weights, network = parts
    path = write(tmp_path / "back.gguf", weights, network.size, words, "f32", {"command": "btr lab distill"})
    found = pretrained.read(path)
    assert found.size == network.size
    assert set(found.weights) == set(weights)
    assert all(bool((found.weights[name].cpu() == weights[name].cpu()).all()) for name in weights)
    assert found.tokenizer.tokens(prompt("mug")) == words.tokens(prompt("mug"))
    assert found.tokenizer.end == words.end


def test_training_goes_on_from_a_file_also_with_a_longer_context_and_never_with_another_size(trained, tmp_path):
    """Positions are turned: none of them is a weight."""
    words, shape = tokenizer.load(trained.order.work / "tokenizer.json"), pretrained.read(trained.made.path).size
    given = ([trained.order.work], tmp_path, words)
    longer = replace(shape, context=2 * shape.context)
    begun = Training(*given, longer, trained.order.schedule, lambda _: None, trained.made.path)
    assert begun.network.size.context == 512
    with pytest.raises(BtError, match="another size"):
        Training(*given, replace(shape, layers=3), trained.order.schedule, lambda _: None, trained.made.path)


def test_a_file_of_another_make_is_no_beginning(tmp_path):
    path = make_gguf(tmp_path / "other.gguf")
    with pytest.raises(BtError, match="not made by btr lab distill"):
        pretrained.read(path)
