"""Leaves in a wheel of llama-cpp-python what it uses: `python .ci/slim.py WHEEL`.

The build installs its libraries a second time, with headers, beside the package, straight into site-packages, and each
library three times, for a wheel cannot hold links. Left are the package and its metadata, and of each library the name
that Python loads and the one that the other libraries ask for."""

from __future__ import annotations

import base64
import hashlib
import re
import sys
import zipfile
from pathlib import Path

LIBRARY = re.compile(r"llama_cpp/lib/lib[\w-]+\.(so|dylib)")
VERSIONED = re.compile(r"llama_cpp/lib/(lib[\w-]+\.so)((?:\.\d+)+)$")
LOADED = ("libllama.so", "libggml.so", "libggml-base.so", "libmtmd.so")  # loaded by these names; others by version


PART = re.compile(r"bin/(lib[\w-]+\.(?:so|dylib))")  # for one kind of processor or device, loaded when it fits


def kept(name: str) -> bool:
    if PART.fullmatch(name):
        return True
    if not name.startswith("llama_cpp"):
        return False
    if name.startswith("llama_cpp/lib/") and not LIBRARY.match(name):
        return "/pkgconfig/" not in name and "/cmake/" not in name
    versioned = VERSIONED.match(name)
    if versioned:
        return versioned[2].count(".") == 1
    return not name.endswith(".so") or not name.startswith("llama_cpp/lib/") or name.rpartition("/")[2] in LOADED


def slim(wheel: Path) -> None:
    made, rows = wheel.with_suffix(".slim"), []
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target:
        record = next(name for name in source.namelist() if name.endswith(".dist-info/RECORD"))
        for info in source.infolist():
            if info.filename == record or not kept(info.filename):
                continue
            data = source.read(info)
            info.filename = PART.sub(r"llama_cpp/lib/\1", info.filename)
            target.writestr(info, data, zipfile.ZIP_DEFLATED)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append(f"{info.filename},sha256={digest},{len(data)}\n")
        target.writestr(record, "".join([*rows, f"{record},,\n"]))
    before, after = wheel.stat().st_size, made.stat().st_size
    made.replace(wheel)
    print(f"{wheel.name}: {before / 1e6:.1f} MB, now {after / 1e6:.1f} MB")


if __name__ == "__main__":
    for each in sys.argv[1:]:
        slim(Path(each))
