"""`make arm`: wheels for Debian on arm64 exist for all that the base and the extra `robot` bring. Asks an index."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLATFORMS = ("manylinux2014_aarch64", "manylinux_2_28_aarch64")  # Debian 12 has glibc 2.36
NEEDED: dict[str, list[str]] = {"base": [], "robot": ["robot"]}  # their extras


@pytest.mark.skipif("BTR_ARM" not in os.environ, reason="asks an index, and loads 50 MB: make arm")
@pytest.mark.parametrize("python", ["3.11", "3.13"])
@pytest.mark.parametrize("part", NEEDED)
def test_every_package_has_a_wheel_for_a_small_robot(part: str, python: str, tmp_path: Path) -> None:
    """The base's are for the oldest systems; what `robot` brings wants glibc 2.28."""
    platforms = PLATFORMS[:1] if part == "base" else PLATFORMS
    words = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", str(tmp_path), "--only-binary", ":all:"]
    words += [word for platform in platforms for word in ("--platform", platform)]
    listed = [sys.executable, str(ROOT / ".ci" / "requirements"), *NEEDED[part]]
    needed = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.split()
    done = subprocess.run([*words, "--python-version", python, *needed], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    wheels = {path.name for path in tmp_path.iterdir()}
    assert all(name.endswith(("none-any.whl", "aarch64.whl")) for name in wheels)
