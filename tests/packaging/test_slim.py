"""A wheel of llama-cpp-python keeps its package, each library under the names that are asked for, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMES = {
    "bin/convert.py",
    "include/llama.h",
    "lib/libllama.so",
    "llama_cpp/__init__.py",
    "llama_cpp/lib/cmake/llama.cmake",
    "bin/libggml-cpu-haswell.so",
    "llama_cpp/lib/libggml-cpu.so",
    "llama_cpp/lib/libggml-cpu.so.0",
    "llama_cpp/lib/libllama.so",
    "llama_cpp/lib/libllama.so.0",
    "llama_cpp/lib/libllama.so.0.5.0",
    "llama_cpp/lib/pkgconfig/llama.pc",
    "llama_cpp_python-1.dist-info/METADATA",
    "llama_cpp_python-1.dist-info/RECORD",
}


def test_what_is_strewn_over_site_packages_and_what_stands_thrice_is_gone(tmp_path: Path) -> None:
    wheel = tmp_path / "llama_cpp_python-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as made:
        for name in sorted(NAMES):
            made.writestr(name, name)
    subprocess.run([sys.executable, str(ROOT / ".ci" / "slim.py"), str(wheel)], check=True, capture_output=True)
    with zipfile.ZipFile(wheel) as slim:
        assert {*slim.namelist()} == {
            "llama_cpp/__init__.py", "llama_cpp/lib/libllama.so", "llama_cpp/lib/libllama.so.0",
            "llama_cpp/lib/libggml-cpu-haswell.so", "llama_cpp/lib/libggml-cpu.so.0",
            "llama_cpp_python-1.dist-info/METADATA",
            "llama_cpp_python-1.dist-info/RECORD",
        }  # fmt: skip
        record = slim.read("llama_cpp_python-1.dist-info/RECORD").decode().splitlines()
    assert len(record) == 7 and record[-1] == "llama_cpp_python-1.dist-info/RECORD,,"
    words = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
        str(tmp_path / "site"),
        str(wheel),
    ]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True)
    assert "RECORD" not in done.stderr
