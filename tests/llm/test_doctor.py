"""What a person reads when models are looked at: every fault with a way out, and no exception."""

from __future__ import annotations

import socket
import subprocess
import sys
from dataclasses import replace

import pytest

from bt_runtime.llm import doctor
from bt_runtime.llm.doctor import Machine, model_report
from bt_runtime.llm.local.header import read_header

from . import hostile_headers as made
from .conftest import need_llama

GIB = 1 << 30


def text(findings) -> str:
    return "\n".join(map(str, findings))


def test_a_sound_model_is_tried_and_said_to_run_on_the_processor(micro, monkeypatch):
    """On a machine without a GPU: what is installed, where it runs, how fast, and no problem."""
    need_llama()
    monkeypatch.setattr(doctor, "_machine", lambda: Machine(False, ()))
    findings = model_report(str(micro))
    said = text(findings)
    assert not [f for f in findings if f.state == "problem"], said
    for words in ("llama-cpp-python 0.3", "no GPU", "context 1024", "of memory in all", "on the processor", "tokens/s"):
        assert words in said


def test_a_missing_a_corrupt_and_a_too_long_one_each_have_a_way_out(micro, tmp_path, monkeypatch):
    """Each is one PROBLEM line and one line of help."""
    monkeypatch.setattr(doctor, "_machine", lambda: Machine(False, ()))
    monkeypatch.delenv("BTR_MODEL", raising=False)
    monkeypatch.chdir(tmp_path)
    corrupt = tmp_path / "corrupt.gguf"
    corrupt.write_bytes(micro.read_bytes()[:100_000])
    for report, words, way_out in (
        (model_report(), "no model is named", "BTR_MODEL"),
        (model_report("none.gguf"), "there is no model file", "--model"),
        (model_report(str(corrupt)), "cut off", "download it again"),
        (model_report(str(micro), context=9000), "longer than", "at most 1024"),
        (model_report("http://127.0.0.1:9"), "nobody answers", "start the server"),
    ):
        (problem,) = [f for f in report if f.state == "problem" and "installed" not in f.what]
        assert words in problem.what
        assert way_out in problem.hint


def test_a_server_that_is_there_and_does_not_answer_is_busy_and_no_problem(monkeypatch):
    """It takes the connection and says nothing, as a llama-server does that loads or computes."""
    monkeypatch.setattr(doctor, "_machine", lambda: Machine(False, ()))
    with socket.create_server(("127.0.0.1", 0)) as server:
        where = f"{{server: 'http://127.0.0.1:{server.getsockname()[1]}', timeout: 0.3}}"
        report = model_report(where)
    (busy,) = [f for f in report if f.state == "busy"]
    assert "no answer within" in busy.what and "ask again" in busy.hint
    assert not [f for f in report if f.state == "problem" and "installed" not in f.what]


def test_a_gpu_that_llama_was_not_built_for_is_pointed_out(tmp_path, monkeypatch):
    """The line that rebuilds it is in the help."""
    device = tmp_path / "nvidia0"
    device.touch()
    monkeypatch.setattr(doctor, "_DRIVERS", (("NVIDIA", (str(device),), "-DGGML_CUDA=on"),))
    said = text(doctor._hardware(Machine(False, ())))
    assert "built for the processor only" in said
    assert "-DGGML_CUDA=on" in said
    assert "finds none" in text(doctor._hardware(Machine(True, ())))


def test_what_fits_on_the_gpus_is_told_before_loading(micro):
    header = doctor.read_header(micro)
    roomy = Machine(True, (("CUDA0", "a GPU", 8 * GIB),))
    assert doctor._placement(header, 0, 0, roomy) == "all layers would run on CUDA0"
    assert "processor" in doctor._placement(header, 0, 0, Machine(False, ()))


def test_without_the_extra_the_report_names_the_line_that_installs_it(monkeypatch, micro):
    """Header and sizes are still told: they need no llama.cpp."""

    def absent(name):
        raise doctor.PackageNotFoundError(name)

    monkeypatch.setattr(doctor, "version", absent)
    said = text(model_report(str(micro)))
    assert "pip install 'bt_runtime[llm]'" in said
    assert "trained for 1024" in said


@pytest.mark.parametrize("arguments", [["none.gguf"], ["--no-test"]])
def test_it_runs_by_itself_and_a_problem_is_exit_1(arguments, tmp_path):
    command = [sys.executable, "-m", "bt_runtime.llm.doctor", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, cwd=tmp_path, env={"PATH": ""})
    assert done.returncode == 1
    assert "PROBLEM" in done.stdout and "help:" in done.stdout
    assert not done.stderr


def test_what_the_file_tells_of_itself_is_passed_on(micro):
    """Name, weights, licence, digests of what it was made from; nothing is said of a file that tells nothing."""
    header = read_header(micro)
    told = {
        "general.name": "tiny",
        "general.size_label": "2M",
        "general.license": "Apache-2.0",
        "distill.data_digest": "ab" * 16,
    }
    (finding,) = doctor._origin(replace(header, about=told))
    assert finding.what == "named tiny, 2M weights, licence Apache-2.0, data digest abababababababab"
    assert not list(doctor._origin(replace(header, about={})))


def test_a_model_whose_answers_are_no_numbers_is_a_problem(micro, tmp_path):
    """Spoilt weights load like sound ones; only asking shows it."""
    need_llama()
    bad = tmp_path / "spoilt.gguf"
    data = micro.read_bytes()
    bad.write_bytes(data[:-400_000] + b"\x00\x00\xc0\x7f" * 100_000)
    found = model_report(str(bad))
    assert [f.what for f in found if f.state == "problem"] == [
        "the model answers with what is not a number (NaN or infinity)"
    ]


def test_a_template_that_cannot_be_used_is_a_problem_before_anything_is_loaded(tmp_path):
    """Said with the way out; a model without a template is said to be asked as it is."""
    path = tmp_path / "hostile.gguf"
    template = "{{ ('a' * 10**9) * 3 }}"
    path.write_bytes(
        made.sound(tokenizer__chat_template=made.pair("tokenizer.chat_template", made.STRING, made.text(template)))
    )
    (found,) = [f for f in model_report(str(path), test=False) if f.state == "problem"]
    assert "256 MB" in found.what
    assert "chat=False" in found.hint
