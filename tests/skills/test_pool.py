"""The pool of threads: a job waits for no other one, and many that are quick need few threads."""

from __future__ import annotations

import threading

import pytest

from bt_runtime.skills import pool as pool_module
from bt_runtime.skills.pool import Pool

GUARD = 60  # seconds, against hanging


class Threads:
    """Stands in for the class of threads: they begin when the test says so, or cannot be started at all."""

    def __init__(self):
        self.asked = []
        self.refuses = False

    def __call__(self, *, target, name, daemon):
        self.target = target
        return self

    def start(self):
        if self.refuses:
            raise RuntimeError("can't start new thread")
        self.asked.append(self.target)


@pytest.fixture
def threads(monkeypatch):
    found = Threads()
    monkeypatch.setattr(pool_module.threading, "Thread", found)
    return found


def rung():
    bell = threading.Lock()
    bell.acquire()
    return bell


def test_jobs_that_all_wait_for_each_other_all_begin():
    pool, many = Pool(), 40
    together = threading.Barrier(many + 1)
    for _ in range(many):
        pool.run(lambda: together.wait(GUARD))
    together.wait(GUARD)


def test_a_thousand_jobs_at_once_call_one_thread_and_a_second_before_the_first_is_begun(threads):
    pool, did = Pool(), []
    for number in range(1000):
        pool.run(lambda number=number: did.append((number, len(threads.asked))))
    assert len(threads.asked) == 1
    pool._do_all(rung())
    assert did == [(number, 2) for number in range(1000)]


def test_a_thread_that_has_done_its_jobs_is_called_again_instead_of_a_new_one(threads):
    pool, did = Pool(), []
    pool.run(lambda: did.append(1))
    bell = rung()
    pool._do_all(bell)
    pool.run(lambda: did.append(2))
    assert bell.acquire(timeout=GUARD)
    pool._do_all(bell)
    assert did == [1, 2] and len(threads.asked) == 1


def test_without_a_thread_to_be_had_a_job_is_refused_and_later_ones_are_done(threads):
    pool, did = Pool(), []
    threads.refuses = True
    with pytest.raises(RuntimeError):
        pool.run(lambda: did.append(1))
    threads.refuses = False
    pool.run(lambda: did.append(2))
    pool.run(lambda: did.append(3))
    threads.refuses = True
    pool._do_all(rung())
    assert did == [2, 3]


def test_jobs_that_wait_long_are_told_and_call_more_threads_up_to_a_bound(threads):
    now = [0.0]
    pool = Pool(lambda: now[0])
    for _ in range(100):
        pool.run(lambda: None)
    assert not pool.starved() and len(threads.asked) == 1
    now[0] = pool_module.LONG
    assert all(pool.starved() for _ in range(100))
    assert len(threads.asked) == pool_module.MOST_CALLED
    pool._do_all(rung())
    assert not pool.starved()


def test_jobs_that_wait_because_no_thread_can_be_had_are_not_told_as_starved(threads):
    now = [0.0]
    pool = Pool(lambda: now[0])
    threads.refuses = True
    with pytest.raises(RuntimeError):
        pool.run(lambda: None)
    now[0] = 1.0
    assert not pool.starved()


def test_a_thread_is_started_outside_the_lock_so_that_nobody_waits_for_it(threads, monkeypatch):
    pool, locked = Pool(), []
    monkeypatch.setattr(Threads, "start", lambda self: locked.append(pool._lock.locked()))
    pool.run(lambda: None)
    assert locked == [False]
