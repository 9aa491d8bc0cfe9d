from __future__ import annotations

import contextlib
import os
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from bt_runtime import BtError
from bt_runtime.llm.local.header import ModelHeader, read_header
from bt_runtime.llm.local.offload import Need, layers_that_fit
from bt_runtime.llm.local.sizing import fit
from bt_runtime.llm.settings import WorkerSettings
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
    path, settings = tmp_path / "bad.gguf", WorkerSettings("x")
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
        fit(read_header(micro), WorkerSettings(str(micro), context=5000), 1 << 34)
    assert "at most 1024" in fault.value.hint


def test_a_cache_beyond_the_memory_names_the_number_that_works(micro):
    """The hint's number is tried: it fits."""
    header = read_header(micro)
    with pytest.raises(BtError) as fault:
        fit(header, WorkerSettings(str(micro), room=1_000_000), 10_000_000)
    number = int(fault.value.hint.split("at most ")[1].split()[0])
    assert fit(header, WorkerSettings(str(micro), room=number), 10_000_000).room == number


def test_without_wishes_the_context_is_the_trained_one_and_several_prompts_fit(micro):
    """Four contexts, or as much as half of the free memory holds; never less than one."""
    header, settings = read_header(micro), WorkerSettings(str(micro), lanes=1)
    assert [fit(header, settings, header.weights + free).room for free in (1 << 34, 1 << 19, 300_000)] == [
        4096,
        1024,
        1024,
    ]
    assert fit(header, settings, 1 << 34).context == 1024


def test_the_weights_take_their_part_of_the_memory(micro):
    """What would only just hold the weights is refused in words."""
    header = read_header(micro)
    with pytest.raises(BtError, match="the weights"):
        fit(header, WorkerSettings(str(micro)), header.weights - 1)
    with pytest.raises(BtError, match="are free"):
        fit(header, WorkerSettings(str(micro)), header.weights + 1000)


def test_the_room_shrinks_before_a_layer_leaves_the_gpu():
    """An 8B at 4 bits on a card of 8 GB: four contexts would push layers out, one context leaves all of them there."""
    about = {"general.architecture": "llama", "llama.block_count": 32, "llama.embedding_length": 4096}
    about |= {"llama.attention.head_count": 32, "llama.attention.head_count_kv": 8, "llama.context_length": 131072}
    header = ModelHeader(Path("8b.gguf"), 4_920_000_000, {**about, "tokenizer.ggml.tokens": 128256}, 300, 4_920_000_000)
    free = [int(7.6 * (1 << 30))]
    sizes = fit(header, WorkerSettings("8b.gguf"), 28 << 30, free)
    need = Need(header.layers, header.weights, sizes.cache_bytes, sizes.logits_bytes)
    assert layers_that_fit(need, free) == 33
    assert 8192 <= sizes.room < 4 * 8192
    assert fit(header, WorkerSettings("8b.gguf", room=32768), 28 << 30, free).room == 32768  # a wish is a wish
    assert fit(header, WorkerSettings("8b.gguf", cache_type="q8_0"), 28 << 30, free).room > sizes.room


def test_a_model_in_several_files_is_one(micro, tmp_path):
    """Named by its first file; its size is that of all; one that is missing is named."""
    about = gguf_of(micro, tmp_path / "m-00001-of-00002.gguf", {"split.count": 2, "x" * 21: 0})
    with pytest.raises(BtError, match=r"m-00002-of-00002\.gguf is missing"):
        read_header(about)
    (tmp_path / "m-00002-of-00002.gguf").write_bytes(bytes(5000))
    first = about.stat().st_size
    assert read_header(about).size == first + 5000
    second = gguf_of(micro, tmp_path / "n-00002-of-00002.gguf", {"split.count": 2, "x" * 21: 0})
    (tmp_path / "n-00001-of-00002.gguf").write_bytes(b"")
    with pytest.raises(BtError, match="later file") as fault:
        read_header(second)
    assert "n-00001-of-00002.gguf" in fault.value.hint


def gguf_of(micro: Path, path: Path, more: dict[str, int]) -> Path:
    """The same file with more in its header, by a multiple of 32 bytes, to which all else is aligned."""
    raw = micro.read_bytes()
    count = int.from_bytes(raw[16:24], "little")
    said = b"".join(
        len(key).to_bytes(8, "little") + key.encode() + (4).to_bytes(4, "little") + value.to_bytes(4, "little")
        for key, value in more.items()
    )
    path.write_bytes(raw[:16] + (count + len(more)).to_bytes(8, "little") + said + raw[24:])
    return path


def test_a_small_model_gets_lanes_of_its_context_and_a_quarter_as_many_as_fit(micro):
    """Each holds a whole prompt and branches beside it. What is repeatable, large or on a GPU has one cache for all."""
    header = read_header(micro)
    found = [fit(header, WorkerSettings(str(micro)), header.weights + free) for free in (1 << 34, 1 << 21, 300_000)]
    assert [(sizes.lanes, sizes.lane) for sizes in found] == [(16, 1280), (3, 1280), (1, 1024)]
    assert fit(header, WorkerSettings(str(micro), repeatable=True), 1 << 34).lanes == 1
    assert fit(header, WorkerSettings(str(micro)), 1 << 34, [1 << 34]).lanes == 1
    assert fit(replace(header, size=1 << 30), WorkerSettings(str(micro)), 1 << 34).lanes == 1


def test_only_layers_that_attend_take_room_for_each_token() -> None:
    """A hybrid says so by an interval, or by a number of heads for each layer."""
    about = {
        "general.architecture": "hybrid", "hybrid.block_count": 32, "hybrid.embedding_length": 2560,
        "hybrid.attention.head_count": 16, "hybrid.attention.head_count_kv": 4, "hybrid.attention.key_length": 256,
        "hybrid.attention.value_length": 256,
    }  # fmt: skip
    whole = ModelHeader(Path("a.gguf"), 1, about, 1, 1).bytes_per_token()
    each = ModelHeader(Path("a.gguf"), 1, {**about, "hybrid.full_attention_interval": 4}, 1, 1).bytes_per_token()
    heads = [4 if at % 4 == 3 else 0 for at in range(32)]
    told = ModelHeader(Path("a.gguf"), 1, {**about, "hybrid.attention.head_count_kv": heads}, 1, 1).bytes_per_token()
    assert (whole, each, told) == (2 * 32 * 4 * 512, whole // 4, whole // 4)
    assert each * 32_768 == 1_073_741_824
