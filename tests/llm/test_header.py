from __future__ import annotations

import contextlib
import os
import socket
from dataclasses import replace

import pytest

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.llm.fit import fit
from bt_runtime.llm.header import read_header
from bt_runtime.llm.settings import Settings
from tests.llm import hostile_headers as made


def test_the_header_tells_the_model(micro):
    """Without llama.cpp: architecture, context, vocabulary, and what a token takes in the cache."""
    header = read_header(micro)
    assert (header.architecture, header.trained_context, header.vocab, header.layers) == ("llama", 1024, 1024, 2)
    assert header.bytes_per_token() == 2 * 2 * 2 * (16 + 16)
    assert 0 < header.weights < header.size


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda data: data[:-1000], "cut off"),
        (lambda data: data[:100], "cut off or damaged"),
        (lambda data: b"", "not a GGUF"),
        (lambda data: b"PK\x03\x04" + data[4:], "not a GGUF"),
        (lambda data: data[:4] + b"\x09\0\0\0" + data[8:], "version 9"),
        (lambda data: data[:8] + b"\xff" * 8 + data[16:], "damaged"),
        (lambda data: data[:16] + b"\xff" * 8 + data[24:], "damaged"),
        (lambda data: data[:24] + b"\xff" * 8 + data[32:], "damaged"),
    ],
)
def test_a_spoiled_file_is_a_fault_in_plain_words(micro, tmp_path, spoil, words):
    """Truncated, foreign, corrupt: said at once, without loading it."""
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(spoil(micro.read_bytes()))
    with pytest.raises(BtError, match=words):
        read_header(bad)


def test_no_header_whatever_escapes_as_another_exception(tmp_path):
    """Wrong numbers, endless lengths, damage: a header that can be worked with, or words with a way out."""
    path, settings = tmp_path / "bad.gguf", Settings("x")
    for name, data in made.headers(700, seed=int(os.environ.get("SEED", "0"))):
        path.write_bytes(data)
        try:
            fit(read_header(path), settings, 1 << 34)
        except BtError as fault:
            assert fault.message.isprintable(), name
            assert fault.hint, name
            assert len(fault.message) < 400 + len(str(path)), name


def test_a_header_cut_at_any_byte_is_a_fault(tmp_path):
    """No length is believed before the file was seen to be that long."""
    whole, path = made.sound(), tmp_path / "cut.gguf"
    path.write_bytes(whole)
    header = read_header(path)
    assert (header.layers, header.vocab, header.bytes_per_token()) == (2, 8, 2 * 2 * 2 * 32)
    for at in reversed(range(len(whole) - 4096)):
        os.truncate(path, at)
        with pytest.raises(BtError):
            read_header(path)


def test_the_vocabulary_says_what_steers_the_model(tmp_path):
    """Unknown and control tokens, user-defined ones that look like one, and names that llama.cpp knows."""
    tokens = [
        "<unk>",
        "<s>",
        "<｜end▁of▁sentence｜>",
        ">>TITLE<<",
        "<think>",
        "  ",
        "</p>x",
        "<|im_end|>",
        "<",
        "<0x0A>",
    ]
    kinds = [2, 3, 3, 3, 4, 4, 4, 1, 1, 6]
    path = tmp_path / "marks.gguf"
    vocabulary = made.texts("tokenizer.ggml.tokens", tokens)
    path.write_bytes(
        made.sound(
            tokenizer__ggml__tokens=vocabulary,
            tokenizer__ggml__token_type=made.numbers("tokenizer.ggml.token_type", made.I32, kinds),
        )
    )
    assert read_header(path).markers == (*tokens[:5], "<|im_end|>")


def test_only_a_file_is_opened(tmp_path):
    """A pipe that nobody writes, a socket, a device without an end: said at once, nothing is waited for."""
    os.mkfifo(tmp_path / "pipe.gguf")
    (tmp_path / "device.gguf").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listening:
        with contextlib.chdir(tmp_path):  # a socket's path is short
            listening.bind("socket.gguf")
        for name in ("pipe.gguf", "device.gguf", "socket.gguf"):
            with pytest.raises(BtError, match="is not a file"):
                read_header(tmp_path / name)


@pytest.mark.parametrize("name", ["a\0b.gguf", "x" * 300 + ".gguf", "file/under.gguf"])
def test_a_name_that_no_file_can_have_is_a_fault(tmp_path, name):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(BtError):
        read_header(tmp_path / name)


def test_a_missing_file_and_a_folder_are_faults(tmp_path):
    for path in (tmp_path / "none.gguf", tmp_path):
        with pytest.raises(BtError):
            read_header(path)


def test_a_context_beyond_the_training_names_the_number_that_works(micro):
    with pytest.raises(BtError, match="1024") as fault:
        fit(read_header(micro), Settings(str(micro), context=5000), 1 << 34)
    assert "at most 1024" in fault.value.hint


def test_a_cache_beyond_the_memory_names_the_number_that_works(micro):
    """The hint's number is tried: it fits."""
    header = read_header(micro)
    with pytest.raises(BtError) as fault:
        fit(header, Settings(str(micro), room=1_000_000), 10_000_000)
    number = int(fault.value.hint.split("at most ")[1].split()[0])
    assert fit(header, Settings(str(micro), room=number), 10_000_000).room == number


def test_without_wishes_the_context_is_the_trained_one_and_several_prompts_fit(micro):
    """Four contexts, or as much as half of the free memory holds; never less than one."""
    header, settings = read_header(micro), Settings(str(micro), lanes=1)
    assert [fit(header, settings, free).room for free in (1 << 34, 1 << 19, 300_000)] == [4096, 1024, 1024]
    assert fit(header, settings, 1 << 34).context == 1024


def test_a_small_model_gets_lanes_of_its_context_and_a_quarter_as_many_as_fit(micro):
    """Each holds a whole prompt and branches beside it. What is repeatable, large or on a GPU has one cache for all."""
    header = read_header(micro)
    found = [fit(header, Settings(str(micro)), free) for free in (1 << 34, 1 << 21, 300_000)]
    assert [(sizes.lanes, sizes.lane) for sizes in found] == [(16, 1280), (3, 1280), (1, 1024)]
    assert fit(header, Settings(str(micro), repeatable=True), 1 << 34).lanes == 1
    assert fit(header, Settings(str(micro)), 1 << 34, gpu=True).lanes == 1
    assert fit(replace(header, size=1 << 30), Settings(str(micro)), 1 << 34).lanes == 1
