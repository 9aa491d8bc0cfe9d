"""llama.cpp's own server, started for a test."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

SERVE = """
import sys, time, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.hostnames, params.port = sys.argv[1], ["127.0.0.1"], 0
params.n_ctx, params.n_parallel, params.cpuparams.n_threads, params.warmup = int(sys.argv[2]), 2, 1, False
params.embedding = False
if sys.argv[3] == "False":
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
if sys.argv[4]:
    params.chat_template, params.use_jinja = sys.argv[4], True
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@contextmanager
def served(file: Path, context: int = 2048, flash: bool | None = None, template: str = "") -> Iterator[str]:
    """llama.cpp's own server, in a process of its own. `context` is that of both its slots together. `template`: a chat
    template instead of the file's own."""
    if find_spec("xllamacpp") is None:
        pytest.skip("needs xllamacpp, a llama-server from a package")
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(file), str(context), str(flash), template],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()
