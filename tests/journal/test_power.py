"""The power is cut at any moment: of what was not synced some is on the disk and some is not, page by page.

`BTR_POWERCUTS=50 pytest tests/journal/test_power.py` tries more moments (`make powercuts`).
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from bt_runtime import BtError
from bt_runtime.events import Line, Notice
from bt_runtime.journal import Recording, replay, resume
from bt_runtime.testing import SUCCESS
from tests.journal import deeds
from tests.journal.disk import Call, Disk, calls, shim

CUTS = int(os.environ.get("BTR_POWERCUTS", "4"))
ALL = [f"{deeds.KINDS[n % 3]} {n}" for n in range(deeds.COUNT)]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Call]]:
    """Where a run wrote, and what, call by call."""
    folder = tmp_path_factory.mktemp("power")
    root, log = folder / "disk", folder / "log"
    root.mkdir()
    around = {"LD_PRELOAD": str(shim(folder)), "DISK_ROOT": str(root), "DISK_LOG": str(log)}
    done = subprocess.run(
        [sys.executable, deeds.__file__, str(root), "required"], env={**os.environ, **around}, capture_output=True,
        text=True, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return root, calls(log)


@pytest.mark.parametrize("number", range(CUTS))
def test_whatever_the_disk_lost_nothing_is_done_twice_that_may_not_be_and_nothing_is_left_out(
    number, written, tmp_path
):
    root, found = written
    draw = random.Random(number)
    moment = draw.randrange(len(found) + 1)
    laid_out(root, found[:moment], draw, tmp_path)
    before = deeds_in(tmp_path)
    journals = list((tmp_path / "runs").glob("*.btr"))
    try:
        ended = Recording(journals[0]).result if journals else ""
    except BtError:
        journals = []
    if not journals:
        assert not before, f"cut {moment}: deeds without a journal"
        return
    if (tmp_path / "closed").exists():
        assert ended == "SUCCESS", "the run was told to have ended"
    said: list[str] = []
    with resume(journals[0], skills=[k.data["python"] for k in deeds.tree(tmp_path / "done").kinds]) as run:
        run.listen(lambda line: said.append(line.text), Line, Notice)
        assert run.status is SUCCESS or run.spin(seconds=60) is SUCCESS, f"cut {moment}: {said}"
    after = deeds_in(tmp_path)
    latest = ALL.index(before[-1]) if before else -1
    for n, deed in enumerate(ALL):
        in_doubt = f"no {n}" in said
        most = 2 if deed.startswith("again") and n == latest else 1
        assert in_doubt or 1 <= after.count(deed) <= most, f"cut {moment}: {deed}: {after.count(deed)}"
        assert not in_doubt or (deed.startswith("sure") and n in (latest, latest + 1) and after.count(deed) <= 1)
    assert replay(journals[0]).same


def laid_out(root: Path, found: list[Call], draw: random.Random, folder: Path) -> None:
    """The disk as it is when the power comes back. Deeds are done in the world: they stay, all of them."""
    disk = Disk()
    for call in found:
        disk.play(call)
    done = root / "done"
    left = {path: content for path, content in disk.cut(draw).items() if not path.endswith("-shm")}
    left[str(done)] = b"".join(call.data for call in found if call.path == str(done))
    if any(call.path == str(root / "closed") for call in found):
        left[str(root / "closed")] = b""
    for path, content in left.items():
        place = folder / Path(path).relative_to(root)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)


def deeds_in(folder: Path) -> list[str]:
    path = folder / "done"
    return path.read_text().splitlines() if path.exists() else []
