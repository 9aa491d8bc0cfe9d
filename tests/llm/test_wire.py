"""What a model's worker sends is data: whatever it is, it is refused in words, and nothing of it is executed."""

from __future__ import annotations

import json
import os
import pickle
import resource
import struct
import sys
from array import array
from pathlib import Path

import pytest

from bt_runtime import BtError
from bt_runtime.llm.local import process, spelling, wire
from bt_runtime.llm.local.model import LocalModel
from bt_runtime.llm.settings import WorkerSettings
from bt_runtime.types import Choice, Grammar, Question, Spent, Writing

WAIT = 60
OPTIONS = ("a cup", "a plate")
FAKE = """
import socket, sys
from pathlib import Path
sock = socket.socket(fileno=int(sys.argv[1]))
sock.recv(1 << 20)
sock.sendall(Path(sys.argv[2]).read_bytes())
while sock.recv(1 << 20):
    pass
"""
READY = wire.frame("ready", {"notes": []})
SPENT = [1, 0, 1, 0.5, 0.0]


class Bomb:
    """Executed when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return os.system, (f"touch '{self.mark}'",)


def framed(text: bytes, raw: bytes = b"") -> bytes:
    return struct.pack("=II", len(text), len(raw)) + text + raw


def answer(*data: object, numbers: bytes = b"", spent: object = SPENT, id: object = 1) -> bytes:
    return READY + framed(json.dumps(["answer", id, list(data), spent]).encode(), numbers)


HOSTILE = {
    "no JSON": framed(b"\xff\xfe{"),
    "no list": framed(b'{"kind": "ready"}'),
    "deep": framed(b"[" * 200_000),
    "huge text": struct.pack("=II", 1 << 31, 0),
    "huge numbers": struct.pack("=II", 2, 0xFFFFFFF8),
    "half a number": framed(b'["beat"]', b"abc"),
    "unknown kind": framed(b'["run", "os.system"]'),
    "no kind": framed(b"[]"),
    "ready without facts": framed(b'["ready", 3]'),
    "another choice": answer("choice", "a vault", 0, -1.0, 1.0, False),
    "a choice beyond": answer("choice", "a cup", 7, -1.0, 1.0, False),
    "a choice before": answer("choice", "a plate", -1, -1.0, 1.0, False),
    "scores that nobody asked for": answer("choice", "a cup", 0, -1.0, 1.0, True, numbers=bytes(16)),
    "a text as margin": answer("choice", "a cup", 0, -1.0, "1", False),
    "a writing": answer("writing", "rm", "stop", 1),
    "vectors": answer("vectors", 1, numbers=bytes(8)),
    "nothing spent": answer("choice", "a cup", 0, -1.0, 1.0, False, spent=None),
    "an odd error": READY + framed(b'["error", 1, {}, [], [], 3]'),
    "an odd count": READY + framed(b'["counted", 1, "many"]'),
}


@pytest.fixture
def hostile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):  # type: ignore[no-untyped-def]
    """Opens a model whose worker is a program that sends these bytes."""
    fake, said = tmp_path / "fake.py", tmp_path / "said"
    fake.write_text(FAKE)
    opened: list[LocalModel] = []
    monkeypatch.setattr(
        process.child, "python", lambda module, descriptor: [sys.executable, str(fake), descriptor, str(said)]
    )

    def model(data: bytes, path: Path) -> LocalModel:
        said.write_bytes(data)
        opened.append(LocalModel(WorkerSettings(str(path))))
        return opened[-1]

    yield model
    for each in opened:
        each.close()


@pytest.mark.parametrize("case", HOSTILE, ids=str)
def test_hostile_bytes_of_a_worker_are_refused_in_words(hostile, micro: Path, case: str) -> None:  # type: ignore[no-untyped-def]
    """Not JSON, too large, of another form, or no answer to what was asked: the job fails, and says why."""
    job = hostile(HOSTILE[case], micro).choose("take", list(OPTIONS))
    with pytest.raises(BtError, match="has sent what it may not") as fault:
        job.wait(WAIT)
    assert "hostile" in fault.value.hint and "line to the model broke" not in fault.value.message


def test_a_pickle_is_never_executed(hostile, micro: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """As a whole frame of before, and as the text of a frame."""
    bomb = pickle.dumps(Bomb(tmp_path / "executed"))
    for data in (struct.pack("<I", len(bomb)) + bomb, framed(bomb), READY + framed(bomb, bytes(8))):
        with pytest.raises(BtError):
            hostile(data, micro).choose("take", list(OPTIONS)).wait(WAIT)
        assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize(
    ("question", "value"),
    [
        (Question("choose", "p", OPTIONS), Choice("a plate", 1, -0.1, float("inf"))),
        (Question("choose", "p", OPTIONS, mode="scores"), Choice("a cup", 0, -1 / 3, 0.5, (-1 / 3, -5 / 6))),
        (Question("decide", "p", moves={"act ": OPTIONS, "stop": ()}), Choice("stop", 2, -2.0, 0.0)),
        (
            Question("write", "\ud800 ü", grammar=Grammar("regex", "a+"), stop=("\n",), seed=3),
            Writing("a", "grammar", 1),
        ),
        (Question("embed", texts=("a", "b")), [[0.1, 1 / 3], [-1.0, 2.0]]),
        (Question("embed"), []),
    ],
)
def test_questions_and_answers_arrive_as_they_were_sent(question: Question, value: object) -> None:
    """Through a frame, byte by byte, to the last bit of each number."""
    spelled = spelling.answer_as(value)
    sent = wire.frame("ask", 7, spelling.question_as(question))
    sent += wire.frame("answer", 7, spelled.data, Spent(1, 2, 3, 0.1, 0.2), numbers=spelled.numbers)
    inbox = wire.WireInbox()
    ask, told = [message for at in range(len(sent)) for message in inbox.add(sent[at : at + 1])]
    assert spelling.question_of(ask.rest[1]) == question
    assert spelling.answer_of(told.rest[1], told.numbers, question) == value
    assert spelling.spent_of(told.rest[2]) == Spent(1, 2, 3, 0.1, 0.2)


def test_settings_arrive_as_they_were_sent(micro: Path) -> None:
    settings = WorkerSettings(
        str(micro), lora=[{"file": "a.gguf", "scale": 0.5}], sampler={"top_p": 0.9}, tensor_split=[1, 2]
    )  # type: ignore[arg-type]
    (message,) = wire.WireInbox().add(wire.frame("open", spelling.settings_as(settings)))
    assert spelling.settings_of(message.rest[0]) == settings


def test_a_message_too_large_is_not_sent() -> None:
    with pytest.raises(wire.Malformed, match="too large"):
        wire.frame("answer", numbers=array("d", bytes(wire.MOST_NUMBERS + 8)))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_worker_dumps_no_core_and_holds_no_connection(open_model) -> None:  # type: ignore[no-untyped-def]
    """Its limits cost nothing; its one socket is the pair that it was started with."""
    model = open_model()
    assert model.write("the cup", max_tokens=1).wait(WAIT).tokens == 1
    limits = {r: resource.prlimit(model.pid, r) for r in (resource.RLIMIT_CORE, resource.RLIMIT_NOFILE)}
    assert limits[resource.RLIMIT_CORE] == (0, 0) and limits[resource.RLIMIT_NOFILE][1] <= 1024
    links = [str(file.readlink()) for file in Path(f"/proc/{model.pid}/fd").iterdir()]
    inodes = {link for link in links if "socket:" in link}
    net = {f"socket:[{line.split()[9]}]" for name in ("tcp", "tcp6", "udp", "udp6")
           for line in Path(f"/proc/{model.pid}/net/{name}").read_text().splitlines()[1:]}  # fmt: skip
    assert len(inodes) == 1 and not inodes & net
