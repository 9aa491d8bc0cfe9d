"""`bt.signals`: SIGTERM and Ctrl-C reach runs that no `spin` of the main thread ticks; each in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

import bt_runtime as bt

PROGRAM = """
    import sys, threading, time
    import bt_runtime as bt

    class Drive(bt.Skill):
        def start(self):
            print("started", flush=True)
        def poll(self):
            return bt.Status.RUNNING
        def cancel(self):
            print("cancelled", flush=True)

    def spin(run):
        print(run.spin().value, run.stopped, flush=True)

    tree = bt.load("version: 1\\ntree: t\\nroot: {drive: {}}\\n", skills=[Drive])
    with bt.Run(tree) as run, bt.signals(run) as caught:
        if "thread" in sys.argv:
            thread = threading.Thread(target=spin, args=(run,))
            thread.start()
            thread.join()
        elif "spin" in sys.argv:
            spin(run)
        else:
            while run.tick().running:
                time.sleep(0.001)
            print(run.status.value, run.stopped, flush=True)
    raise SystemExit(caught.number)
"""


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("how", ["loop", "thread", "spin"])
def test_a_signal_cancels_what_runs_whoever_ticks_it(how, sent):
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), how],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    try:
        assert process.stdout.readline() == "started\n"
        process.send_signal(sent)
        out, err = process.communicate(timeout=900)
    finally:
        process.kill()
    assert (out, err, process.returncode) == (f"cancelled\nINVALID {sent.name}\n", "", sent)


def run_of(text: str = "wait: 60") -> bt.Run:
    return bt.Run(bt.load(f"version: 1\ntree: t\nroot: {{{text}}}\n"))


def test_all_its_runs_are_stopped_those_that_are_added_late_too_and_the_handler_is_given_back():
    before = signal.getsignal(signal.SIGTERM)
    with run_of() as one, run_of() as two, run_of() as late:
        with bt.signals(one, two) as caught:
            one.tick()
            two.tick()
            os.kill(os.getpid(), signal.SIGTERM)
            caught.add(late)
            assert signal.getsignal(signal.SIGTERM) == before  # the same once more does what it did before
            assert [run.tick().status for run in (one, two, late)] == [bt.Status.INVALID] * 3
        assert caught.number == signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) == before


def test_outside_the_main_thread_it_is_refused_in_words():
    raised: list[BaseException] = []

    def enter() -> None:
        try:
            with bt.signals():
                pass
        except bt.BtError as error:
            raised.append(error)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert "main thread" in str(raised[0])
