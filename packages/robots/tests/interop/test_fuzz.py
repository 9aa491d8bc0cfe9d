"""Malformed, huge and slow clients: whatever comes, the run goes on and who asks properly is answered.

`BTR_MONITOR_FUZZ=5000` sends as many messages.
"""

from __future__ import annotations

import json
import os
import random
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

import bt_runtime as bt
from bt_robots.groot2.hooks import Hooks
from bt_robots.groot2.protocol import Refusal
from packages.robots.tests.interop.pairs import SKILLS, YAML

zmq = pytest.importorskip("zmq")
publisher = pytest.importorskip("bt_robots.groot2.publisher")
MESSAGES = int(os.environ.get("BTR_MONITOR_FUZZ", "300"))
KINDS = b"TSBIRNUDAXrt?\x00\xff"
BODIES = [
    b"", b"start", b"stop", b"[]", b"{}", b"null", b"[" * 5000, b'{"uid":1}', b'{"uid":1e400}', b'{"uid":"1"}',
    b'{"uid":1,"mode":1,"position":0,"once":true,"enabled":true,"desired_status":"SUCCESS"}',
    b'[{"uid":1,"enabled":false},{"uid":2,"enabled":false}]', b'{"uid":-1}', b"\xff\xfe", b"Main;Main;" * 500,
]  # fmt: skip


def messages(seed: int, count: int) -> Iterator[list[bytes]]:
    draw = random.Random(seed)
    for _ in range(count):
        head = struct.pack("<BBI", draw.choice((2, 2, 2, 1, 255)), draw.choice(KINDS), draw.getrandbits(32))
        kind = draw.random()
        if kind < 0.5:
            yield [head, draw.choice(BODIES)]
        elif kind < 0.7:
            yield [head]
        elif kind < 0.8:
            yield [head, *(draw.randbytes(draw.randrange(40)) for _ in range(draw.randrange(20)))]
        elif kind < 0.9:
            yield [draw.randbytes(draw.randrange(64))]
        else:
            yield [head, draw.randbytes(draw.choice((60_000, 70_000, 500_000)))]


def send(port: int, seed: int, count: int) -> None:
    """One client after another: each says some of it, in both of the ways in which ZeroMQ can ask, and goes."""
    context = zmq.Context()
    context.setsockopt(zmq.LINGER, 0)
    try:
        sockets: list[Any] = []
        for number, frames in enumerate(messages(seed, count)):
            if number % 25 == 0:
                while sockets:
                    sockets.pop().close(linger=0)
                sockets.append(context.socket(zmq.DEALER))
                sockets[-1].setsockopt(zmq.SNDTIMEO, 1000)
                sockets[-1].connect(f"tcp://127.0.0.1:{port}")
            with suppress(zmq.Again):
                sockets[-1].send_multipart([b"", *frames] if number % 10 else frames)
                if number % 3 == 0 and sockets[-1].poll(50):
                    sockets[-1].recv_multipart()
    finally:
        context.destroy(linger=0)


def knock(port: int, seed: int, count: int) -> None:
    """Bytes that are no ZeroMQ, from those who say a little and stay."""
    draw, there = random.Random(seed), []
    for _ in range(count):
        with suppress(OSError):
            one = socket.create_connection(("127.0.0.1", port), timeout=1)
            one.sendall(draw.choice((b"GET / HTTP/1.1\r\n\r\n", b"\xff" + draw.randbytes(300), b"", draw.randbytes(9))))
            there.append(one)
    for one in there:
        one.close()


def test_whatever_comes_the_run_goes_on_and_who_asks_properly_is_answered(client: Any) -> None:
    run = bt.Run(bt.load(YAML, skills=SKILLS))
    with run, publisher.Groot2(run, 0) as shown:
        asking = client(shown.port)
        tree = asking.ask("T")[1:]
        parts = [(send, 1, MESSAGES // 2), (send, 2, MESSAGES // 2), (knock, 3, min(200, MESSAGES // 10))]
        clients = [threading.Thread(target=who, args=(shown.port, seed, count)) for who, seed, count in parts]
        silent = asking.context.socket(zmq.DEALER)  # asks for large things, and takes none of them
        asking.heard.append(silent)
        silent.connect(f"tcp://127.0.0.1:{shown.port}")
        for _ in range(200):
            with suppress(zmq.Again):
                silent.send_multipart([b"", struct.pack("<BBI", 2, ord("T"), 1)], zmq.NOBLOCK)
        for each in clients:
            each.start()
        ticks = 0
        while any(each.is_alive() for each in clients):
            run.tick()
            ticks += 1
            clients[0].join(0.002)
        assert ticks > 10 and shown._thread.is_alive()
        asking.ask("A")
        assert asking.ask("T")[1:] == tree
        run.tick()
        assert asking.statuses()[1] in (1, 13)


def test_hooks_refuse_what_is_none_and_never_break() -> None:
    with bt.Run(bt.load(YAML, skills=SKILLS)) as run:
        hooks = Hooks(run, True, {1: "/Main", 2: "/Main/0"}.get)
        for body in [None, *BODIES, *(frames[-1] for frames in messages(4, MESSAGES))]:
            for change in (hooks.insert, hooks.remove, hooks.unlock):
                with suppress(Refusal):
                    change(body)
        assert all(each["uid"] in (1, 2) for each in json.loads(hooks.dump()))
