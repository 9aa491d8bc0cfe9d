"""Small files of random weights behind real tokenizers and real chat templates, out of llama.cpp's sources.

They are looked for in BTR_LLAMA_MODELS, in `.cache/llama.cpp/models` of the checkout (`make families` puts them there),
and where uv keeps the sources that it has built; without them the tests are skipped.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[3]
CONTROL, USER = 3, 4
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_WIDTH, _ALIGN = 32, 32
MISSING = "needs llama.cpp's vocabularies and templates: `make families`, or BTR_LLAMA_MODELS"


@cache
def models() -> Path | None:
    named = os.environ.get("BTR_LLAMA_MODELS")
    kept = Path.home() / ".cache/uv"
    places = [Path(named)] if named else [ROOT / ".cache/llama.cpp/models", *kept.glob(
        "sdists-*/pypi/llama-cpp-python/0.3.36/*/src/vendor/llama.cpp/models"
    )]  # fmt: skip
    return next((place for place in places if (place / "ggml-vocab-qwen2.gguf").is_file()), None)


@dataclass(frozen=True)
class Family:
    """`tokens`: the family's own control tokens, where its vocabulary is a neighbour's."""

    vocabulary: str
    template: str
    end: int | None = None
    begin: int | None = None
    begins: bool | None = None
    tokens: Mapping[int, tuple[str, int]] = field(default_factory=dict)

    def text(self) -> str:
        place = models()
        assert place is not None
        return (place / "templates" / f"{self.template}.jinja").read_text("utf-8")


def control(**named: int) -> dict[int, tuple[str, int]]:
    return {number: (f"<|{name}|>", CONTROL) for name, number in named.items()}


_THINK = {151667: ("<think>", USER), 151668: ("</think>", USER)}
_R1 = ("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>")
_MISTRAL = ("<s>", "</s>", "[INST]", "[/INST]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[AVAILABLE_TOOLS]")
_ROLES = control(start_of_role=49152, end_of_role=49153, end_of_text=0)
_HARMONY = control(startoftext=128000, endoftext=128001, channel=128005, start=128006, end=128007, message=128008)
_HARMONY |= {128002: ("<|return|>", CONTROL), 128012: ("<|call|>", CONTROL)}
_INST = {128000 + n: (text, CONTROL) for n, text in enumerate(_MISTRAL)}
FAMILIES = {
    "Qwen2.5": Family("qwen2", "Qwen-Qwen2.5-7B-Instruct", 151645, None, False),
    "Qwen3": Family("qwen2", "Qwen-Qwen3-0.6B", 151645, None, False, _THINK),
    "Qwen3.5": Family("qwen35", "Qwen3.5-4B", 151645, None, False, _THINK),
    "Llama-3.1": Family("llama-bpe", "meta-llama-Llama-3.1-8B-Instruct", 128009),
    "Llama-3.2": Family("llama-bpe", "meta-llama-Llama-3.2-3B-Instruct", 128009),
    "Gemma 2": Family("gemma-4", "google-gemma-2-2b-it", 1, tokens={
        105: ("<start_of_turn>", CONTROL), 106: ("<end_of_turn>", CONTROL)}),
    "Gemma 4": Family("gemma-4", "google-gemma-4-31B-it", 106),
    "Phi-3.5": Family("phi-3", "microsoft-Phi-3.5-mini-instruct", 32000),
    "Mistral Nemo": Family("llama-bpe", "mistralai-Mistral-Nemo-Instruct-2407", 128001, 128000, True, _INST),
    "Mistral-Small-3.2": Family(
        "llama-bpe", "Mistral-Small-3.2-24B-Instruct-2506", 128001, 128000, True, _INST),
    "R1 (Qwen)": Family("qwen2", "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B", 151643, 151646, True, {
        151646: (_R1[0], CONTROL), 151643: (_R1[1], CONTROL), 151644: (_R1[2], CONTROL), 151645: (_R1[3], CONTROL),
        151648: ("<think>", USER), 151649: ("</think>", USER)}),
    "R1 (Llama)": Family("llama-bpe", "deepseek-ai-DeepSeek-R1-Distill-Llama-8B", 128001, 128000, True, {
        128000: (_R1[0], CONTROL), 128001: (_R1[1], CONTROL), 128011: (_R1[2], CONTROL), 128012: (_R1[3], CONTROL),
        128013: ("<think>", USER), 128014: ("</think>", USER)}),
    "gpt-oss": Family("llama-bpe", "openai-gpt-oss-120b", 128002, 128000, False, _HARMONY),
    "Command-R7B": Family("command-r", "CohereForAI-c4ai-command-r7b-12-2024-tool_use", tokens=control(
        START_THINKING=255019, END_THINKING=255020, START_RESPONSE=255021, END_RESPONSE=255022)),
    "SmolLM3": Family("llama-bpe", "HuggingFaceTB-SmolLM3-3B", 128012, None, False, {
        **control(im_start=128011, im_end=128012), 128002: ("<think>", USER), 128003: ("</think>", USER)}),
    "Granite 3.3": Family("refact", "ibm-granite-granite-3.3-2B-Instruct", 0, 0, False, _ROLES),
    "Granite 4.0": Family("refact", "ibm-granite-granite-4.0", 0, 0, False, _ROLES),
}  # fmt: skip


def make(path: Path, family: Family) -> Path:
    """The vocabulary's own entries as they are, but for what the family changes, and two layers of random weights."""
    place = models()
    assert place is not None
    entries = _entries((place / f"ggml-vocab-{family.vocabulary}.gguf").read_bytes())
    kept = {key: value for key, value in entries.items() if key.startswith("tokenizer.")}
    texts, kinds = _strings(kept["tokenizer.ggml.tokens"]), _numbers(kept["tokenizer.ggml.token_type"])
    for number, (text, kind) in family.tokens.items():
        while len(texts) <= number:
            texts.append(f"[PAD{len(texts)}]".encode())
            kinds.append(5)
        texts[number], kinds[number] = text.encode(), kind
    if len(kinds) > len(_numbers(kept["tokenizer.ggml.token_type"])) and "tokenizer.ggml.scores" in kept:
        raise ValueError("a vocabulary with scores cannot grow here")
    kept["tokenizer.ggml.tokens"] = struct.pack("<IIQ", 9, 8, len(texts)) + b"".join(map(_text, texts))
    kept["tokenizer.ggml.token_type"] = struct.pack("<IIQ", 9, 5, len(kinds)) + struct.pack(f"<{len(kinds)}i", *kinds)
    for key, number in (("bos", family.begin), ("eos", family.end)):
        if number is not None:
            kept[f"tokenizer.ggml.{key}_token_id"] = struct.pack("<II", 4, number)
    if family.begins is not None:
        kept["tokenizer.ggml.add_bos_token"] = struct.pack("<I?", 7, family.begins)
    kept["tokenizer.chat_template"] = struct.pack("<I", 8) + _text(family.text().encode())
    return _written(path, kept, len(texts))


def _entries(data: bytes) -> dict[str, bytes]:
    """Each with its type in front."""
    (pairs,) = struct.unpack_from("<Q", data, 16)
    at, found = 24, dict[str, bytes]()
    for _ in range(pairs):
        (size,) = struct.unpack_from("<Q", data, at)
        key, at = data[at + 8 : at + 8 + size].decode(), at + 8 + size
        end = _end(data, at + 4, struct.unpack_from("<I", data, at)[0])
        found[key], at = data[at:end], end
    return found


def _end(data: bytes, at: int, kind: int) -> int:
    if kind == 8:
        return at + 8 + int(struct.unpack_from("<Q", data, at)[0])
    if kind != 9:
        return at + _SIZES[kind]
    inner, length = struct.unpack_from("<IQ", data, at)
    at += 12
    if inner != 8:
        return at + int(_SIZES[inner] * length)
    for _ in range(length):
        at += 8 + struct.unpack_from("<Q", data, at)[0]
    return at


def _strings(value: bytes) -> list[bytes]:
    (length,) = struct.unpack_from("<Q", value, 8)
    at, found = 16, list[bytes]()
    for _ in range(length):
        (size,) = struct.unpack_from("<Q", value, at)
        found.append(value[at + 8 : at + 8 + size])
        at += 8 + size
    return found


def _numbers(value: bytes) -> list[int]:
    (length,) = struct.unpack_from("<Q", value, 8)
    return [*struct.unpack_from(f"<{length}i", value, 16)]


def _text(data: bytes) -> bytes:
    return struct.pack("<Q", len(data)) + data


def _written(path: Path, kept: Mapping[str, bytes], size: int) -> Path:
    whole = {"context_length": 8192, "embedding_length": _WIDTH, "block_count": 1,
             "feed_forward_length": _WIDTH, "attention.head_count": 2, "attention.head_count_kv": 1,
             "rope.dimension_count": 16, "vocab_size": size}  # fmt: skip
    entries = {"general.architecture": struct.pack("<I", 8) + _text(b"llama")}
    entries |= {f"llama.{key}": struct.pack("<II", 4, number) for key, number in whole.items()}
    entries["llama.attention.layer_norm_rms_epsilon"] = struct.pack("<If", 6, 1e-5)
    entries |= kept
    tensors = _tensors(size)
    out = [b"GGUF", struct.pack("<IQQ", 3, len(tensors), len(entries))]
    out += [_text(key.encode()) + value for key, value in entries.items()]
    place = 0
    for name, values in tensors.items():
        shape = values.shape[::-1]
        out.append(_text(name.encode()))
        out.append(struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, values.itemsize == 2, place))
        place += -(-values.nbytes // _ALIGN) * _ALIGN
    head = b"".join(out)
    body = b"".join(values.tobytes().ljust(-(-values.nbytes // _ALIGN) * _ALIGN, b"\0") for values in tensors.values())
    path.write_bytes(head.ljust(-(-len(head) // _ALIGN) * _ALIGN, b"\0") + body)
    return path


def _tensors(size: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)

    def random(*shape: int) -> Any:
        return rng.standard_normal(shape, dtype=np.float32).astype(np.float16)

    shapes = {"attn_q": (32, 32), "attn_k": (16, 32), "attn_v": (16, 32), "attn_output": (32, 32), "ffn_gate": (32, 32),
              "ffn_up": (32, 32), "ffn_down": (32, 32)}  # fmt: skip
    named = ("blk.0.attn_norm.weight", "blk.0.ffn_norm.weight", "output_norm.weight")
    norms = {name: np.ones(_WIDTH, np.float32) for name in named}
    layers = {f"blk.0.{name}.weight": random(*shape) * np.float16(0.2) for name, shape in shapes.items()}
    return {"token_embd.weight": random(size, _WIDTH) * np.float16(0.2), **norms, **layers}
