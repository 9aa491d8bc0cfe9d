"""The blackboard: scopes, threads, listeners, pictures."""

from __future__ import annotations

import sys
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bt_runtime import BtError
from bt_runtime.events import Woken, Written
from bt_runtime.testing import RUNNING, SUCCESS
from bt_runtime.tree.blackboard import Blackboard, UnknownEntry


@pytest.fixture
def hurried():
    """Threads that take turns very often."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def test_eight_threads_of_ten_thousand_increments_lose_nothing_while_the_tree_is_ticked(make, hurried):
    t = make("reactive_sequence: [set: {mine: '{mine + 1}'}, check: n >= 0, wait: {until: n < 0}]",
             header="blackboard: {n: {type: integer, default: 0}, mine: {type: integer, default: 0}}")  # fmt: skip

    def count():
        for _ in range(10_000):
            t.board.update("n", lambda n: n + 1)

    threads = [threading.Thread(target=count) for _ in range(8)]
    for thread in threads:
        thread.start()
    ticks = 0
    while any(thread.is_alive() for thread in threads):
        assert t.run.tick().running
        ticks += 1
    assert t.run.tick().running
    assert t.board["n"] == 80_000
    assert t.board["mine"] == ticks + 1


def test_a_tick_sees_one_consistent_picture(make, hurried):
    """Another thread writes a, then b, always equal or a one ahead: inside a tick neither may move."""
    seen = []
    t = make("reactive_sequence: [look: {}, look: {}, wait: {until: n < 0}]",
             header="blackboard: {n: {type: integer, default: 0}}",
             look=lambda: seen.append(t.board["n"]) or SUCCESS)  # fmt: skip
    stop = threading.Event()

    def write():
        while not stop.is_set():
            t.board.update("n", lambda n: n + 1)

    thread = threading.Thread(target=write)
    thread.start()
    for _ in range(200_000):
        assert t.run.tick().running
        if len(seen) > 600 and len(set(seen)) > 5:
            break
    stop.set()
    thread.join()
    pairs = list(zip(seen[::2], seen[1::2], strict=True))
    assert all(first == second for first, second in pairs)
    assert pairs[-1] > pairs[0]


def test_a_write_of_another_thread_waits_for_the_end_of_the_tick_and_wakes_the_runner():
    board, woken = Blackboard(), []
    board.stream.listen(lambda event: woken.append(True), Woken)
    board.begin_tick()
    thread = threading.Thread(target=lambda: board.root.__setitem__("x", 1))
    thread.start()
    thread.join()
    assert "x" not in board.root
    board.end_tick()
    assert board.root["x"] == 1
    assert woken


def test_a_write_that_arrives_late_and_breaks_is_a_crash_of_its_scope_and_the_tick_goes_on(make):
    box = {}

    def meddle():
        thread = threading.Thread(target=lambda: box["t"].board.update("x", lambda x: x + 1))
        thread.start()
        thread.join()
        return SUCCESS

    t = make("sequence: [a: {}]", header="blackboard: {x: {type: any, default: text}}", a=meddle)
    box["t"] = t
    assert t.tick() is SUCCESS
    assert "TypeError" in t.ticks[-1].crashes[0].message
    assert t.board["x"] == "text"


def test_listeners_hear_of_each_write_in_order_and_until_they_leave():
    board, heard = Blackboard(), []
    leave = board.stream.listen(lambda w: heard.append((w.name, w.value, w.sequence)), Written)
    board.root["x"] = 1
    board.root["y"] = 2
    leave()
    leave()
    board.root["x"] = 3
    assert heard == [("x", 1, 1), ("y", 2, 2)]


def test_a_listener_that_breaks_harms_neither_the_write_nor_the_other_listeners(make):
    t = make("set: {x: 1}")
    heard = []

    def broken(written):
        raise OSError("deaf")

    t.run.listen(broken, Written)
    t.run.listen(heard.append, Written)
    assert t.tick() is SUCCESS
    assert t.board["x"] == 1
    assert [w.name for w in heard] == ["x"]
    assert [line.level for line in t.lines if "deaf" in line.text] == ["warning"]


def test_a_listener_may_halt_the_run_from_another_thread(make):
    t = make("a: {}", a=RUNNING)
    t.tick()
    t.run.listen(lambda w: t.run.halt("a listener said so"), Written)
    thread = threading.Thread(target=lambda: t.board.__setitem__("x", 1))
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    assert t.skills["a"].cancels == 1


def test_a_picture_does_not_change_and_is_the_same_until_something_is_written():
    board = Blackboard()
    board.root["x"] = 1
    picture = board.snapshot()
    assert board.snapshot() is picture
    board.root["x"] = 2
    assert picture == {"": {"x": 1}}
    assert board.snapshot() == {"": {"x": 2}}


def test_an_unknown_entry_is_an_error_that_names_the_nearest_one():
    board = Blackboard()
    board.root["battery"] = 1
    with pytest.raises(UnknownEntry) as error:
        board.root["batery"]
    assert isinstance(error.value, KeyError)
    assert "did you mean `battery`?" in str(error.value)


def test_what_is_read_of_one_moment_holds_no_half_of_a_write(hurried):
    board, over = Blackboard(), threading.Event()
    board.root.update(x=0, y=0)

    def write():
        n = 0
        while not over.is_set():
            n += 1
            board.root.update(x=n, y=n)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(3000):
            whole, items, values = board.root.snapshot(), dict(board.root.items()), [*board.root.values()]
            assert whole["x"] == whole["y"] and items["x"] == items["y"] and values[0] == values[1]
    finally:
        over.set()
        thread.join()


def test_a_guard_refuses_a_value_and_the_entry_stays(make):
    t = make("succeed: {}", header="inputs: {n: {type: integer, default: 1}}")
    with pytest.raises(BtError, match="takes an integer"):
        t.board["n"] = "text"
    assert t.board["n"] == 1


@settings(max_examples=80, derandomize=True)
@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc"), st.integers()), max_size=30), st.data())
def test_scopes_agree_with_plain_dictionaries(writes, data):
    """Scopes 0 ← 1 (shares a), 0 ← 2 (open), 2 ← 3 (open, own b): a model of dictionaries gives the same values."""
    board = Blackboard()
    scopes = [board.root, board.open("/1", board.root), board.open("/2", board.root, open=True)]
    scopes.append(board.open("/3", scopes[2], open=True))
    scopes[1].shared["a"] = (board.root, "a")
    scopes[3].own = {"b"}
    home = {(1, "a"): 0, (1, "b"): 1, (1, "c"): 1, (3, "b"): 3}
    model: dict[tuple[int, str], int] = {}
    for at, name, value in writes:
        scopes[at][name] = value
        model[home.get((at, name), 0), name] = value
    for at, scope in enumerate(scopes):
        for name in "abc":
            assert scope.get(name) == model.get((home.get((at, name), 0), name))
            assert (name in scope) == ((home.get((at, name), 0), name) in model)
