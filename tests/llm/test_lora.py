"""Adapters at run time: what they add is what is computed, what does not fit is told, and a journal knows them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("gguf", reason="test models are made with gguf (the dev extra)")

import gguf

from bt_lab.run.provenance import of_model
from bt_runtime import BtError
from bt_runtime.agents.recorded import models
from bt_runtime.language.settings import read_project
from bt_runtime.llm.local.header import INSTRUCT, STARTER, TAUGHT, read_header, register_with
from bt_runtime.llm.model_setting import Adapter, adapters, apart
from bt_runtime.llm.settings import WorkerSettings, find_model
from tests.llm.adapters import drawn, merged, write_adapter
from tests.support.random_models import Shape, make_gguf

OPTIONS = ["go to the sink", "open the fridge", "take an apple", "find a cup"]
WAIT = 60


def scores(model) -> list[float]:
    return list(model.choose("Your task is to: tidy up\nAct:", OPTIONS, mode="scores").wait(WAIT).scores)


@pytest.mark.parametrize("lanes", [1, 4])
def test_an_adapter_adds_what_is_computed(open_model, micro, tmp_path, lanes):
    """Two of them, each with its alpha and scale, give the scores of a model whose weights they were added to."""
    one, two = drawn(1, micro), drawn(2, micro, rank=8)
    files = [write_adapter(tmp_path / "1.gguf", one, alpha=8.0), write_adapter(tmp_path / "2.gguf", two, alpha=8.0)]
    whole = merged(tmp_path / "b.gguf", merged(tmp_path / "a.gguf", micro, one, 8 / 4), two, 0.5 * 8 / 8)
    laid = scores(open_model(lora=[str(files[0]), {"file": str(files[1]), "scale": 0.5}], lanes=lanes))
    plain, added = scores(open_model(lanes=lanes)), scores(open_model(whole, lanes=lanes))
    assert laid == pytest.approx(added, abs=2e-3)
    assert max(abs(a - b) for a, b in zip(laid, plain, strict=True)) > 0.05


def test_a_wrong_base_is_told(open_model, tmp_path, micro):
    """An adapter of a model of other sizes, a whole model, and a file that is not there are refused in words."""
    other = make_gguf(tmp_path / "other.gguf", Shape(width=32))
    wrong = write_adapter(tmp_path / "wrong.gguf", drawn(1, other), alpha=8.0)
    for file, words in (
        (wrong, "is no adapter of"),
        (micro, "is no adapter of"),
        (tmp_path / "no.gguf", "there is no"),
    ):
        with pytest.raises(BtError, match=words):
            open_model(lora=[str(file)])


def test_a_project_names_adapters_beside_itself(tmp_path, monkeypatch):
    """`lora` is part of a model's mapping; its files are found where the model's is."""
    monkeypatch.delenv("BTR_MODEL", raising=False)
    (tmp_path / "btr.yaml").write_text("model: {file: a.gguf, lora: [tidy.gguf, {file: b/c.gguf, scale: 0.5}]}\n")
    assert read_project(tmp_path / "btr.yaml")
    where, how = apart(find_model(root=tmp_path))
    assert where == str(tmp_path / "a.gguf")
    found = WorkerSettings(where, **how).lora
    assert found == (Adapter(str(tmp_path / "tidy.gguf")), Adapter(str(tmp_path / "b/c.gguf"), 0.5))


WRONG = ["x.gguf", 3, [{"scale": 1}], [{"file": "x", "weight": 1}], [{"file": "x", "scale": "a"}], ["x"] * 17]


@pytest.mark.parametrize("given", [*WRONG, [{"file": "x", "scale": float("nan")}]])
def test_what_is_no_list_of_adapters_is_a_fault(given):
    with pytest.raises(BtError, match="lora is"):
        adapters(given)


def test_a_server_is_given_its_adapters_where_it_is_started():
    with pytest.raises(BtError, match="where it is started"):
        apart({"server": "http://127.0.0.1:1", "lora": ["x.gguf"]})


def test_a_journal_knows_its_models_adapters(micro, tmp_path):
    """Another adapter, another scale or a changed file is another model."""
    file = write_adapter(tmp_path / "1.gguf", drawn(1, micro), alpha=8.0)
    name = f'{{"file": "{micro}", "lora": [{{"file": "{file}", "scale": 1.0}}]}}'
    plain, laid = models.identified(str(micro)), models.identified(name)
    assert laid["digest"] not in ("", plain["digest"])
    write_adapter(file, drawn(2, micro), alpha=8.0)
    assert models.identified(name)["digest"] not in ("", laid["digest"])
    file.unlink()
    assert models.identified(name)["digest"] == ""


def test_a_model_is_asked_in_the_prompts_that_its_adapter_was_taught_in(micro, tmp_path):
    """The last adapter that says so decides; one of another tool leaves the model's own register."""
    header = read_header(micro)
    plain = write_adapter(tmp_path / "plain.gguf", drawn(1, micro), alpha=8.0)
    taught = {register: _taught(tmp_path / f"{register}.gguf", register) for register in (STARTER, INSTRUCT)}
    assert register_with(header, [str(plain)]) == header.register
    for register, file in taught.items():
        assert register_with(header, [*map(str, taught.values()), str(file), str(plain)]) == register


def _taught(path, register):
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_string(TAUGHT, register)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


def test_an_evaluation_knows_its_adapters(micro, tmp_path):
    """Figures with another adapter are not taken for those without."""
    file = write_adapter(tmp_path / "1.gguf", drawn(1, micro), alpha=8.0)
    laid = ([], [str(file)], [{"file": str(file), "scale": 0.5}])
    told = [of_model(SimpleNamespace(settings=WorkerSettings(str(micro), lora=lora))) for lora in laid]
    write_adapter(file, drawn(2, micro), alpha=8.0)
    told.append(of_model(SimpleNamespace(settings=WorkerSettings(str(micro), lora=[str(file)]))))
    assert all(told.count(each) == 1 for each in told)
