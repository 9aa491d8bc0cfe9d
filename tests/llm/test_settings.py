from __future__ import annotations

import json
import math
import re
from dataclasses import fields
from pathlib import Path

import pytest

from bt_runtime import BtError, llm
from bt_runtime.language.faults.diagnostic import MissingExtra
from bt_runtime.language.project_file import MODEL_OPTIONS, SERVER_OPTIONS
from bt_runtime.language.settings import read_project
from bt_runtime.llm import settings
from bt_runtime.llm.local.header import read_header
from bt_runtime.llm.model_setting import adapters, apart
from bt_runtime.llm.question import sampled, sound
from bt_runtime.llm.server.endpoint import Endpoint
from bt_runtime.llm.settings import STARTER, WorkerSettings, find_model
from bt_runtime.types import Question


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.delenv("BTR_MODEL", raising=False)
    monkeypatch.delenv("BTR_PROJECT", raising=False)
    monkeypatch.chdir(tmp_path)

    def write(text: str):
        (tmp_path / "btr.yaml").write_text(text)
        return tmp_path

    return write


def test_what_is_named_comes_first_then_the_variable_then_the_project(project, monkeypatch):
    root = project("model: models/a.gguf\n")
    assert find_model() == str(root / "models" / "a.gguf")
    monkeypatch.setenv("BTR_MODEL", "/b.gguf")
    assert find_model() == "/b.gguf"
    assert find_model("/c.gguf") == "/c.gguf"


def test_planner_and_executor_may_be_different_models(project):
    project("model: a.gguf\nmodels: {planner: http://localhost:8080}\n")
    assert find_model(role="planner") == "http://localhost:8080"
    assert find_model(role="executor").endswith("a.gguf")


@pytest.mark.parametrize("text", ["", "model: [a]\n", "model: {\n", "just text\n", "models: 3\n"])
def test_no_model_or_a_spoiled_project_file_is_a_fault(project, text):
    project(text)
    with pytest.raises(BtError):
        find_model()


@pytest.mark.parametrize("text", ["", "\n", "# a project\n"])
def test_an_empty_project_file_leaves_the_model_to_what_is_named(project, text):
    project(text)
    assert find_model("http://localhost:8080") == "http://localhost:8080"


def test_an_address_opens_an_endpoint_and_a_path_a_local_model(tmp_path):
    endpoint = llm.open_model("http://127.0.0.1:9")
    assert isinstance(endpoint, Endpoint)
    endpoint.close()
    with pytest.raises(BtError, match="no model file"):
        llm.open_model(str(tmp_path / "none.gguf"))


def test_without_the_extra_a_local_model_is_refused_with_the_line_that_installs_it(monkeypatch):
    monkeypatch.setattr("bt_runtime.language.faults.extra.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="llm"):
        llm.need_llama()


def test_the_word_starter_is_the_model_that_comes_along_wherever_it_is_said(project, monkeypatch, tmp_path):
    """By name, by the variable, by the project; a file of that name in the folder is `./starter`."""
    shipped = tmp_path / "shipped.gguf"
    shipped.touch()
    monkeypatch.setattr(settings, "_STARTER_FILE", shipped)
    root = project("model: starter\n")
    (root / "starter").touch()
    assert find_model() == str(shipped)
    assert find_model(STARTER) == str(shipped)
    assert find_model("./starter") == str(root / "starter")
    project("model: other.gguf\n")
    monkeypatch.setenv("BTR_MODEL", STARTER)
    assert find_model() == str(shipped)


def test_without_its_weights_the_starter_is_a_fault_that_says_what_else_there_is(project, monkeypatch, tmp_path):
    monkeypatch.setattr(settings, "_STARTER_FILE", tmp_path / "none.gguf")
    with pytest.raises(BtError, match="`starter` extra") as raised:
        find_model(STARTER)
    assert "--model FILE.gguf" in raised.value.hint


def test_the_starter_says_what_it_is_and_fits():
    """Name, licence, a context of 2,048 tokens or more, at most 32 MB, a card beside it. NEEDS THE WEIGHTS."""
    header = read_header(find_model(STARTER))
    assert header.about["general.name"] and header.about["general.license"] == "Apache-2.0"
    assert any(key.startswith("distill.") and key.endswith("digest") for key in header.about)
    assert header.trained_context >= 2048
    assert header.size <= 32_000_000
    assert list(header.path.parent.glob("*.md"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("context", -1), ("context", math.nan), ("context", "8k"), ("context", 2**31), ("room", math.inf),
        ("lanes", -4),
        ("threads", 10**9), ("chunk", 2**40), ("width", 0), ("gpu_layers", "all"), ("gpu_layers", 1.5),
        ("patience", math.nan), ("patience", 0), ("patience", "long"), ("niceness", 90), ("threads", True),
    ],
)  # fmt: skip
def test_a_setting_that_no_model_can_be_opened_with_is_named_with_what_it_takes(name, value):
    """Before a process is started: it would die of it, or wait for ever."""
    with pytest.raises(BtError, match=name) as fault:
        settings.WorkerSettings("x.gguf", **{name: value})
    assert "it takes" in fault.value.hint


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", math.nan), ("temperature", math.inf), ("temperature", -0.1), ("temperature", "warm"),
        ("top_p", math.nan), ("top_p", 1.5), ("top_p", -math.inf), ("min_p", math.nan), ("min_p", -1), ("seed", -1),
        ("seed", 1.5), ("temperature", True), ("max_tokens", 0), ("max_tokens", 1.0),
    ],
)  # fmt: skip
def test_no_answer_is_sampled_by_what_is_no_number(name, value):
    with pytest.raises(BtError, match=name) as fault:
        sound(Question("write", **{name: value}), "\n")
    assert fault.value.hint


def test_the_coldest_temperature_takes_the_likeliest():
    """Smaller than 32 bits can say: not a division by zero, and not the last token of the vocabulary."""
    np = pytest.importorskip("numpy")
    write = pytest.importorskip("bt_runtime.llm.local.write")
    row = np.array([0.0, 3.0, 1.0, -np.inf], np.float32)
    for cold in (1e-300, 5e-324, 1e-9):
        how = Question("write", temperature=cold)
        assert write.sample(row, None, how, np.random.Generator(np.random.PCG64(0))) == 1


def test_one_mapping_names_a_model_with_its_settings_in_the_file_the_flag_and_python(project, monkeypatch):
    root = project("models: {planner: {file: a.gguf, context: 4096}, executor: {server: 'http://h:1', name: q}}\n")
    monkeypatch.setattr("bt_runtime.language.project.trust.may_send", lambda where, base: None)
    assert apart(find_model(role="planner")) == (str(root / "a.gguf"), {"context": 4096})
    assert apart(find_model(role="executor")) == ("http://h:1", {"name": "q"})
    assert apart(find_model("{file: b.gguf, threads: 2}")) == (str(root / "b.gguf"), {"threads": 2})
    endpoint = llm.open_model({"server": "http://127.0.0.1:9", "name": "q", "timeout": 5, "chat": False})
    assert (endpoint.name, endpoint.server.timeout, endpoint.chat) == ("q", 5, False)
    endpoint.close()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"context": 5}, "either"),
        ({"file": "a.gguf", "server": "http://h:1"}, "either"),
        ({"file": "http://h:1"}, "is the wrong key"),
        ({"file": "a.gguf", "contxt": 5}, "no setting `contxt`"),
        ({"file": "a.gguf", "name": "q"}, "is for a server"),
        ({"server": "http://h:1", "gpu_layers": 3}, "is for a file"),
        ("{file: [", "the model"),
        (7, "by a text or a mapping"),
    ],
)
def test_a_mapping_that_is_no_model_is_told_what_is_wrong(given, words):
    with pytest.raises(BtError, match=words) as fault:
        apart(given)
    assert fault.value.hint or given == "{file: ["


def test_a_fault_in_a_models_mapping_has_its_place(project):
    root = project("hz: 5\nmodel:\n  file: a.gguf\n  context: many\n  chunks: 3\n")
    faults = read_project(root).diagnostics
    assert {fault.span.line for fault in faults} == {4, 5}


def test_a_quantised_cache_takes_flash_attention():
    with pytest.raises(BtError, match="flash"):
        WorkerSettings("a.gguf", cache_type="q8_0", flash=False)
    with pytest.raises(BtError, match="cache_type"):
        WorkerSettings("a.gguf", cache_type="q9")


SAMPLES = {
    "name": "q", "timeout": 5, "chat": False, "turns": "one", "context": 2048, "sampler": {"top_p": 0.9, "top_k": 5},
    "seed": 7, "gpu_layers": 3, "tensor_split": [1, 2], "main_gpu": 1, "cache_type": "q8_0", "flash": True,
    "threads": 2, "chunk": 64, "room": 4096, "lanes": 1, "keep": 64, "width": 8, "repeatable": True, "batches": 2,
    "background": True, "patience": 9, "niceness": 5, "effort": "high", "think_tokens": 512,
    "lora": [{"file": "/b.gguf", "scale": 0.5}], "mmproj": "/c.gguf",
}  # fmt: skip
WRONG = {
    "sampler": {"top_z": 1},
    "tensor_split": ["a"],
    "chat": "no",
    "lora": 3,
    "repeatable": 3,
    "background": 1,
    "flash": 2,
}
OF_SERVERS = ("name", "timeout", "effort", "think_tokens")  # and of no file
DOCUMENT = Path(__file__).parents[2] / "docs" / "models.md"


@pytest.mark.parametrize("name", MODEL_OPTIONS)
def test_every_setting_can_be_said_in_the_file_after_the_flag_in_the_variable_and_in_python(project, monkeypatch, name):
    """One definition: what one place takes, all take, and it reaches what opens the model; a wrong value is a fault."""
    monkeypatch.setattr("bt_runtime.language.project.trust.may_send", lambda where, base: None)
    for place, where in (("file", str(Path.cwd() / "a.gguf")), ("server", "http://127.0.0.1:9")):
        if (place == "server" and name not in SERVER_OPTIONS) or (place == "file" and name in OF_SERVERS):
            continue
        text = json.dumps({place: where, name: SAMPLES[name]})
        root = project(f"model: {text}\n")
        assert not read_project(root).diagnostics
        wanted = (where, {name: SAMPLES[name]})
        assert apart(find_model()) == apart(find_model(text)) == apart(find_model(json.loads(text))) == wanted
        monkeypatch.setenv("BTR_MODEL", text)
        assert apart(find_model()) == wanted
        monkeypatch.delenv("BTR_MODEL")
        if place == "file":
            found = getattr(WorkerSettings(where, **{name: SAMPLES[name]}), name)
            given = adapters(SAMPLES[name]) if name == "lora" else SAMPLES[name]
            assert found == (tuple(given) if isinstance(given, list) else given)
        else:
            endpoint = llm.open_model(text)
            found = endpoint.server.timeout if name == "timeout" else getattr(endpoint, name)
            endpoint.close()
            assert found == SAMPLES[name]
    with pytest.raises(BtError, match=name) as fault:
        place = {"server": where} if name in OF_SERVERS else {"file": "a.gguf"}
        apart({**place, name: WRONG.get(name, [])})
    assert fault.value.hint


def test_the_table_of_settings_in_the_documentation_is_what_there_is():
    """Its names, and of which of the two each is."""
    table = DOCUMENT.read_text().partition("| setting | of | what it says |")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    told = {name: of for names, of, *_ in rows for name in re.findall(r"`(\w+)`", names)}
    both = {name for name in SERVER_OPTIONS if name not in OF_SERVERS}
    assert told == {
        "file": "", "server": "",
        **{n: "both" if n in both else "servers" if n in SERVER_OPTIONS else "files" for n in MODEL_OPTIONS},
    }  # fmt: skip


def test_the_settings_of_a_file_are_those_of_its_worker():
    """None is left that only Python could say, but for the file itself and what ends an option."""
    assert {field.name for field in fields(WorkerSettings)} - {"model", "terminator"} == {*MODEL_OPTIONS} - {
        *OF_SERVERS
    }


def test_a_models_seed_moves_those_of_its_questions_and_no_answer_that_is_not_sampled():
    warm, cold = Question("write", temperature=0.5, seed=3), Question("write", seed=3)
    assert sampled(warm, {}, 10).seed == 13 and sampled(cold, {}, 10).seed == 3 and sampled(warm, {}).seed == 3


@pytest.mark.parametrize(
    ("word", "way_out"),
    [
        ("startr", "did you mean `starter`?"),
        ("htp://localhost:1", "did you mean `http`?"),
        ("toyy:1", "or one of: starter"),
    ],
)
def test_a_mistyped_backend_is_told_with_the_nearest_names(word: str, way_out: str, monkeypatch) -> None:
    """No extra is asked for: what is wrong is the word."""
    monkeypatch.setattr("bt_runtime.llm.shipped.need_llama", lambda: pytest.fail("an extra was looked for"))
    with pytest.raises(BtError, match="no backend is called") as fault:
        llm.open_model(word)
    assert way_out in fault.value.hint
