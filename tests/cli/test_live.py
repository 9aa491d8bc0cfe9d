from __future__ import annotations

import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from fcntl import ioctl
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bt_runtime import Run, load
from bt_runtime.cli.running.live import Live
from bt_runtime.cli.running.outline import drawn
from bt_runtime.events import Line, Tick
from bt_runtime.run.view.feed import Feed
from bt_runtime.run.view.picture import PagePicture
from bt_runtime.run.view.watch import RunWatch
from tests.cli.conftest import tree
from tests.cli.screen import Screen, Terminal

WIDE = tree("parallel:", *(f"  - wait: {{name: n{i}, seconds: {100 - i % 7}}}" for i in range(1000)))
NESTED = tree(
    "sequence:",
    *(f"  - sequence: {{name: s{i}, children: [log: 'a {i}', wait: 0.01, log: 'b {i}']}}" for i in range(30)),
)


@pytest.fixture
def size(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    window = [60, 20]
    monkeypatch.setattr("bt_runtime.cli.running.live.size", lambda stream: (window[0], window[1]))
    yield window


def test_the_picture_is_redrawn_in_place_and_the_log_stays_above(size: list[int]) -> None:
    """After the run the screen holds each line of the log once, then one picture; the cursor is back."""
    out = Terminal()
    with Run(load(NESTED)) as run:
        with Live(run, out, color=False) as live:
            run.listen(lambda line: live.line(line.text), Line)
            run.listen(live.tick, Tick)
            run.spin()
        screen = Screen(*size).feed(out.getvalue())
    assert screen.cursor and screen.wrap
    logged = [line for line in screen.lines if line[:2] in ("a ", "b ")]
    assert logged == [f"{word} {i}" for i in range(30) for word in "ab"]
    pictures = [line for line in screen.lines if line.startswith("t  ")]
    assert len(pictures) == 1
    assert "✓ sequence" in screen.lines[screen.lines.index(pictures[0]) + 1]


def test_colours_only_when_asked(size: list[int]) -> None:
    for color in (True, False):
        out = Terminal()
        with Run(load(NESTED)) as run, Live(run, out, color):
            run.tick()
        assert ("\x1b[32m" in out.getvalue() or "\x1b[1m" in out.getvalue()) is color


def test_a_terminal_without_utf8_gets_ascii(size: list[int]) -> None:
    out = Terminal()
    out.encoding = "ascii"  # type: ignore[misc]
    with Run(load(NESTED)) as run, Live(run, out, color=False):
        run.tick()
    assert out.getvalue().isascii()


def test_the_picture_fits_every_window(size: list[int]) -> None:
    """However small the window becomes, the picture leaves room for the prompt, and no line is wider than it."""
    with Run(load(WIDE)) as run:
        run.tick()
        for width, height in ((200, 60), (60, 20), (30, 8), (10, 4), (2, 1)):
            size[:] = width, height
            out = Terminal()
            live = Live(run, out, color=False)
            live.draw()
            lines = out.getvalue().replace("\x1b[K", "").replace("\x1b[J", "").strip("\r").splitlines()
            assert len(lines) <= max(2, height - 1)
            assert all(len(line) <= width for line in lines)


def pictured(run: Run) -> PagePicture:
    feed = Feed()
    RunWatch(run, feed).detach()
    return feed.picture()


def test_a_wide_tree_shows_the_part_that_runs() -> None:
    """Of 1,000 children the running one is among those shown, and the numbers left out are said."""
    text = tree(
        "sequence:", *("  - succeed: {}" for _ in range(700)), "  - wait: 9", *("  - succeed: {}" for _ in range(299))
    )
    with Run(load(text)) as run:
        run.tick()
        rows = drawn(pictured(run), 12)
    assert len(rows) <= 12
    assert any(row.status == "R" and row.depth == 1 for row in rows)
    shown = sum(row.node is not None and row.depth == 1 for row in rows)
    assert sum(row.hidden for row in rows if row.node is None) == 1000 - shown


BESIDE = tree(
    "parallel:",
    "  - repeat: {times: -1, child: {sequence: [{wait: 9}, {log: a}, {fallback: [{check: 1 > 2}, {log: b}]}]}}",
    "  - sequence: [{try: {do: {sequence: [{wait: {name: door, seconds: 9}}, {log: c}]}, catch: {log: d}}}, {log: e}]",
)


@pytest.mark.parametrize("rows", range(8, 14))
def test_a_small_window_shows_every_leaf_that_runs_before_any_that_does_not(rows: int) -> None:
    with Run(load(BESIDE)) as run:
        run.tick()
        picture = pictured(run)
        found = [row.node for row in drawn(picture, rows) if row.node is not None]
    assert {picture.path(s) for s in found if s.status == "R" and not s.children} == {"/t/0/0/0", "/t/1/0/0/door"}


def test_a_window_too_small_for_one_way_down_shows_its_end() -> None:
    text = "succeed: {}"
    for _ in range(9):
        text = f"sequence: [{{{text}}}, {{wait: 9}}]"
    with Run(load(tree(text.replace("succeed: {}", "wait: {name: deepest, seconds: 9}", 1)))) as run:
        run.tick()
        rows = drawn(pictured(run), 4)
    assert [row.status for row in rows] == ["I", "R", "R", "R"] and rows[0].hidden == 7
    assert rows[-1].node is not None and rows[-1].node.row[5] == "deepest"


@settings(max_examples=60, derandomize=True)
@given(st.integers(1, 60), st.integers(0, 40))
def test_an_outline_never_exceeds_its_rows_and_keeps_the_order_of_the_tree(rows: int, ticks: int) -> None:
    with Run(load(NESTED.replace("0.01", "0"))) as run:
        for _ in range(ticks):
            run.tick()
        picture = pictured(run)
        found = drawn(picture, rows)
        order = {id(node): place for place, node in enumerate(picture.in_order())}
    assert 1 <= len(found) <= rows
    places = [order[id(row.node)] for row in found if row.node is not None]
    assert places == sorted(places)


def _in_terminal(
    words: list[str], folder: Path, columns: int, lines: int, both: bool = False
) -> tuple[subprocess.Popen[bytes], int]:
    master, slave = pty.openpty()
    ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    env = {**os.environ, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8"}
    child = subprocess.Popen(
        [sys.executable, "-m", "bt_runtime.cli", *words], cwd=folder, env=env, stderr=slave, stdin=slave,
        stdout=slave if both else subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    return child, master


def _read(master: int, until: str = "", patience: float = 30) -> str:
    """What the terminal was sent, up to a text that is waited for, or to its end."""
    got = b""
    while select.select([master], [], [], patience)[0]:
        try:
            part = os.read(master, 65536)
        except OSError:  # the other side is closed
            break
        got += part
        if not part or (until and until in got.decode("utf-8", "replace")):
            break
    return got.decode("utf-8", "replace")


@pytest.mark.parametrize(
    ("sign", "word"), [(signal.SIGINT, "INTERRUPTED"), (signal.SIGTERM, "INTERRUPTED"), (signal.SIGHUP, "INTERRUPTED")]
)
def test_a_signal_halts_the_tree_and_leaves_a_clean_screen(tmp_path: Path, sign: signal.Signals, word: str) -> None:
    """What runs is cancelled, the cursor comes back, the result is on standard output, the exit is 130."""
    (tmp_path / "skills").mkdir()
    (tmp_path / "btr.yaml").touch()
    kinds = "kinds:\n  lift: {impl: arm.py:Lift, on_resume: repeat}\n"  # begins at once, without its record on the disk
    (tmp_path / "skills" / "arm.yaml").write_text(f"version: 1\nskills: arm\n{kinds}")
    (tmp_path / "skills" / "arm.py").write_text(
        "from pathlib import Path\nimport bt_runtime as bt\nclass Lift(bt.Skill):\n    feedback = 'lifting now'\n"
        "    def start(self): pass\n    def poll(self): return bt.Status.RUNNING\n"
        "    def cancel(self): Path('cancelled').touch()\n"
    )
    (tmp_path / "t.yaml").write_text(tree("lift: {}", head="skills: [arm]"))
    child, master = _in_terminal(["run", "t.yaml"], tmp_path, 60, 20)
    sent = _read(master, until="▶ lift")
    child.send_signal(sign)
    out, _ = child.communicate(timeout=900)
    sent += _read(master)
    os.close(master)
    assert child.returncode == 130
    assert out.decode().splitlines()[0] == word
    assert (tmp_path / "cancelled").exists()
    screen = Screen(60, 20).feed(sent)
    assert screen.cursor and screen.wrap
    assert any("interrupted: at /t" in line for line in screen.lines[-4:])
    assert any("btr runs resume t-" in line for line in screen.lines[-4:])


def test_a_node_that_never_returns_is_killed_by_the_second_interrupt(tmp_path: Path) -> None:
    """The first Ctrl-C waits for the tick to end; the second does not, and still leaves the cursor visible."""
    (tmp_path / "hang.py").write_text(
        "import time\nimport py_trees\nclass Hang(py_trees.behaviour.Behaviour):\n    def update(self):\n"
        "        while True: time.sleep(0.01)\n"
    )
    (tmp_path / "t.yaml").write_text(tree("sequence:", "  - log: now", "  - py: {class: hang.py:Hang}"))
    child, master = _in_terminal(["run", "t.yaml"], tmp_path, 60, 20)
    sent = _read(master, until="now")
    child.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(0.5)
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=900)
    sent += _read(master)
    os.close(master)
    assert child.returncode == 130
    assert Screen(60, 20).feed(sent).cursor


def test_what_skills_print_stands_above_the_tree_and_a_crash_before_what_it_caused(tmp_path: Path) -> None:
    """Each line once, in order; then one picture of the tree, and the result."""
    (tmp_path / "skills").mkdir()
    (tmp_path / "btr.yaml").touch()
    kinds = "kinds:\n  say: {impl: arm.py:say, on_resume: repeat}\n  lift: {impl: arm.py:lift, on_resume: repeat}\n"
    (tmp_path / "skills" / "arm.yaml").write_text(f"version: 1\nskills: arm\n{kinds}")
    (tmp_path / "skills" / "arm.py").write_text(
        "import sys\ndef say():\n    print('hello'); print('world'); print('half', end=''); return True\n"
        "def lift():\n    print('to the other', file=sys.stderr); raise RuntimeError('the handle came off')\n"
    )
    body = ("sequence:", "  - say: {}", "  - try: {do: {lift: {}}, catch: {log: going on}}", "  - wait: 0.2")
    (tmp_path / "t.yaml").write_text(tree(*body, head="skills: [arm]"))
    child, master = _in_terminal(["run", "t.yaml"], tmp_path, 70, 24, both=True)
    sent = _read(master)
    child.wait(30)
    os.close(master)
    found = [line.rstrip() for line in Screen(70, 24).feed(sent).lines if line.strip()]
    kept = ["hello", "world", "to the other", "broke: RuntimeError: the handle came off", "going on"]
    places = [next(i for i, line in enumerate(found) if line.endswith(text)) for text in kept]
    heads = [i for i, line in enumerate(found) if line.startswith("t  ")]
    assert places == sorted(places) and len(heads) == 1 and places[-1] < heads[0], found
    assert any(line.startswith("half") for line in found) and found[-1].startswith("SUCCESS")
