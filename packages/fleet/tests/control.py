"""A real MQTT broker, a vehicle's program in a process of its own, and a master control that checks all it is told."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from paho.mqtt import client as paho
from paho.mqtt.enums import CallbackAPIVersion

from bt_fleet.standards.vda5050.messages import faults
from bt_runtime.language.project import child

MOSQUITTO = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin")
ROOT = Path(__file__).parents[3]
PATIENCE = 60.0  # seconds


@contextmanager
def broker(folder: Path, port: int, *lines: str) -> Iterator[subprocess.Popen[bytes]]:
    """mosquitto on loopback."""
    assert MOSQUITTO is not None
    given = lines or ("allow_anonymous true",)
    (folder / "mosquitto.conf").write_text("\n".join((f"listener {port} 127.0.0.1", *given, "")))
    words = [MOSQUITTO, "-c", str(folder / "mosquitto.conf")]
    with (folder / "mosquitto.log").open("wb") as log, subprocess.Popen(words, stdout=log, stderr=log) as process:
        try:
            yield process
        finally:
            process.terminate()


@contextmanager
def vehicle(
    project: Path, port: int, *more: str, name: str = "r7", **environment: str
) -> Iterator[subprocess.Popen[str]]:
    """`btr fleet vda5050` of the vehicle with this name."""
    words = [sys.executable, "-P", "-m", "bt_runtime.cli", "fleet", "vda5050", "--robot", name, "--project",
             str(project), "--mqtt", f"127.0.0.1:{port}", "--manufacturer", "acme", *more]  # fmt: skip
    given = child.environment(BTR_TRUST=str(project), **environment)
    with (project / "vehicle.log").open("a") as log:
        process = subprocess.Popen(words, cwd=ROOT, env=given, stdout=log, stderr=log, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@cache
def official() -> dict[str, Any]:
    """Returns validators of the specification's own schemas (2.1), by topic, where a package that has them is there."""
    found = importlib.util.find_spec("vda5050")
    files = Path(str(found.origin)).parent.glob("validation/schemas/*.json") if found is not None else ()
    return {file.stem: Draft202012Validator(json.loads(file.read_text())) for file in files}


class Control:
    """A master control. It keeps the states and connections that it is told; each message fits the specification."""

    def __init__(
        self, port: int, user: str = "", secret: str = "", check: Callable[[str, Any], object] = lambda what, body: None
    ) -> None:
        self.states: list[dict[str, Any]] = []
        self.words: list[str] = []  # of the connection
        self.retained: list[str] = []
        self.wrong: list[object] = []
        self.check = check
        self._news = threading.Condition()
        self._awaited: Callable[[Control], object] = lambda control: False  # asked at each message: none is passed over
        self.client = paho.Client(CallbackAPIVersion.VERSION2, protocol=paho.MQTTv311)
        if user:
            self.client.username_pw_set(user, secret)
        self.client.on_message = self._told
        self.client.on_connect = lambda c, *_: c.subscribe("uagv/v2/acme/+/#", qos=1)
        end = time.monotonic() + PATIENCE
        while True:
            with suppress(OSError):
                self.client.connect("127.0.0.1", port)
                break
            assert time.monotonic() < end, "the broker did not start"
            time.sleep(0.05)
        self.client.loop_start()

    def _told(self, client: Any, data: Any, message: Any) -> None:
        what, body = message.topic.rpartition("/")[2], json.loads(message.payload)
        if what in ("order", "instantActions"):
            return
        with self._news:
            theirs = [each.message for each in official()[what].iter_errors(body)] if what in official() else []
            if wrong := faults(what, body) or theirs:
                self.wrong.append((wrong, body))
            try:
                self.check(what, body)
            except AssertionError as error:
                self.wrong.append((str(error)[:800], body))
            if what == "state":
                self.states.append(body)
            elif what == "connection":
                self.words.append(body["connectionState"])
                self.retained += [body["connectionState"]] if message.retain else []
            if self._awaited(self):
                self._came = True
                self._news.notify_all()

    def send(self, body: Mapping[str, Any], name: str = "r7") -> None:
        topic = "instantActions" if "actions" in body else "order"
        self.client.publish(f"uagv/v2/acme/{name}/{topic}", json.dumps(body), qos=1)

    def until(self, holds: Callable[[Control], object], seconds: float = PATIENCE) -> None:
        with self._news:
            self._came, self._awaited = bool(holds(self)), holds
            if not self._news.wait_for(lambda: self._came, seconds):
                raise AssertionError(f"it did not come about: {self.words[-3:]}, {self.states[-1:]}")

    @property
    def state(self) -> dict[str, Any]:
        return self.states[-1] if self.states else {}

    def action(self, id: str) -> str:
        return next((e["actionStatus"] for e in self.state.get("actionStates", ()) if e["actionId"] == id), "")

    def close(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()
