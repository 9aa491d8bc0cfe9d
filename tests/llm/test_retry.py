"""A server that is busy, loads, resets or cuts is asked again; how long that takes is said by it, or by a rule."""

from __future__ import annotations

import gc
import socket
import threading
from collections.abc import Iterator
from contextlib import nullcontext, suppress

import pytest

pytest.importorskip("llguidance", reason="needs the llm extra")

from bt_runtime import BtError
from bt_runtime.llm.job import Cancelled
from bt_runtime.llm.server.endpoint import Endpoint
from bt_runtime.llm.server.retry import FIRST, JITTER, MOST, TRIES, RetryWait, asked_for

from .servers import Double, completion

WAIT = 60


class Slept:
    """A clock by hand: it says how long was waited, and nobody waits."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __call__(self, seconds: float, off: threading.Event) -> bool:
        self.seconds.append(seconds)
        return off.is_set()


@pytest.fixture
def double() -> Iterator[Double]:
    with Double(completion) as server:
        yield server


@pytest.fixture
def slept() -> Slept:
    return Slept()


@pytest.fixture
def endpoint(double: Double, slept: Slept) -> Iterator[Endpoint]:
    with Endpoint(double.address, wait=RetryWait(slept, lambda: 0.5)) as opened:
        double.asked.clear()
        yield opened


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_what_a_busy_server_refuses_is_asked_again_after_the_time_that_it_names(double, endpoint, slept, status):
    double.refuse = [(status, {"Retry-After": "7"}), (status, {})]
    assert endpoint.write("x").wait(WAIT).text == " I go on."
    assert slept.seconds == [pytest.approx(7 + FIRST * JITTER * 0.5), pytest.approx(2 * FIRST * (1 - JITTER * 0.5))]


@pytest.mark.parametrize("how", ["reset", "cut"])
def test_a_reset_and_an_answer_that_is_cut_are_asked_again(double, endpoint, slept, how):
    double.breaks = [how] * 3  # a kept connection that is gone is tried anew at once
    assert endpoint.write("x").wait(WAIT).text == " I go on."
    assert slept.seconds


def test_what_stays_busy_is_given_up_with_a_way_out(double, endpoint, slept):
    double.refuse = [(429, {})] * 50
    with pytest.raises(BtError, match="429") as fault:
        endpoint.write("x").wait(WAIT)
    assert len(slept.seconds) == TRIES - 1
    assert "fewer agents" in fault.value.hint


@pytest.mark.parametrize("status", [400, 401, 404, 500])
def test_what_is_wrong_is_not_asked_again(double, endpoint, slept, status):
    double.refuse = [(status, {"Retry-After": "1"})] * 2
    with pytest.raises(BtError, match=str(status)):
        endpoint.write("x").wait(WAIT)
    assert not slept.seconds


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("refused", [False, True])
def test_the_connection_of_a_job_is_closed_when_the_job_is_done(double, endpoint, no_collector, refused):
    """Not when its memory is freed, which may be late: a fault keeps what was there when it was raised."""
    double.refuse = [(400, {})] if refused else []
    with pytest.raises(BtError) if refused else nullcontext():
        endpoint.write("x").wait(WAIT)
    sockets = [each for each in gc.get_objects() if isinstance(each, socket.socket) and each.fileno() != -1]
    assert not [each for each in sockets if peer(each) == double.server.server_address]


def peer(each: socket.socket) -> object:
    with suppress(OSError):
        return each.getpeername()
    return None


def test_a_cancelled_job_does_not_wait_for_the_next_try(double):
    waiting = threading.Event()

    def sleep(seconds: float, off: threading.Event) -> bool:
        waiting.set()
        return off.wait(WAIT)

    with Endpoint(double.address, wait=RetryWait(sleep)) as opened:
        double.refuse = [(503, {})] * 9
        job = opened.write("x")
        assert waiting.wait(WAIT)
        job.cancel("enough")
        with pytest.raises(Cancelled):
            job.poll()
    assert opened._pool.join(WAIT)


def test_waits_grow_to_a_bound_and_differ_by_chance():
    early, late = RetryWait(chance=lambda: 0.0), RetryWait(chance=lambda: 1.0)
    assert [early.seconds(n, None) for n in (1, 2, 3)] == [FIRST, 2 * FIRST, 4 * FIRST]
    assert late.seconds(1, None) == FIRST * (1 - JITTER)
    assert early.seconds(50, None) == MOST


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("3", 3.0), ("Sun, 22 Nov 2026 10:00:05 GMT", 5.0), ("soon", None), ("", None), ("-1", None), ("9" * 70, None)],
)
def test_a_retry_after_is_seconds_or_a_moment_by_the_servers_own_date(said, seconds):
    assert asked_for(said, "Sun, 22 Nov 2026 10:00:00 GMT") == seconds
