"""What a master control is told by a foreign broker when a bridge is killed, is started again, and ends in order."""

from __future__ import annotations

import json
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("paho.mqtt.client", reason="needs the fleet extra")
pytest.importorskip("nats", reason="needs the fleet extra")

from paho.mqtt import client as paho
from paho.mqtt.enums import CallbackAPIVersion

from bt_fleet.server.server import free_port
from bt_fleet.standards.vda5050 import bridge
from bt_fleet.standards.vda5050.mqtt import Mqtt
from packages.fleet.tests.test_vda5050 import Noted

MOSQUITTO = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin")
pytestmark = pytest.mark.skipif(MOSQUITTO is None, reason="mosquitto is not installed: apt-get install mosquitto")
ROOT = Path(__file__).parents[3]


def work(port: int) -> None:
    """A bridge of two robots that beat, until SIGTERM: as `btr fleet vda5050`, without a fleet."""
    over, news = threading.Event(), queue.Queue[tuple[object, ...]]()
    signal.signal(signal.SIGTERM, lambda *_: over.set())
    _connected(port).close()
    mqtt = Mqtt("127.0.0.1", port, news)
    made = bridge.Bridge(Noted(), mqtt, "acme")
    mqtt.start(made.subscriptions)
    for robot in ("r7", "r8"):
        news.put(("alive", robot, {}))
    bridge.serve(made, news, over.is_set)
    made.leave()
    mqtt.close()


class Control:
    """Hears what the broker has of each robot's connection, retained or new."""

    def __init__(self, port: int) -> None:
        self.told: queue.Queue[tuple[str, str]] = queue.Queue()
        self.client = paho.Client(CallbackAPIVersion.VERSION2, protocol=paho.MQTTv311)
        self.client.on_message = lambda _c, _d, m: self.told.put((m.topic.split("/")[3], self._word(m.payload)))
        self.client.on_connect = lambda c, *_: c.subscribe("uagv/v2/acme/+/connection", qos=1)
        self.client.connect("127.0.0.1", port)
        self.client.loop_start()

    def _word(self, payload: bytes) -> str:
        return str(json.loads(payload)["connectionState"])

    def until(self, word: str) -> None:
        """Waits until each robot's latest word is this one."""
        latest: dict[str, str] = {}
        while latest != {"r7": word, "r8": word}:
            robot, latest_word = self.told.get(timeout=60)
            latest[robot] = latest_word

    def close(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """A broker on loopback."""
    found = free_port("127.0.0.1")
    (tmp_path / "mosquitto.conf").write_text(f"listener {found} 127.0.0.1\nallow_anonymous true\n")
    assert MOSQUITTO is not None
    words = [MOSQUITTO, "-c", str(tmp_path / "mosquitto.conf")]
    with (tmp_path / "log").open("wb") as log, subprocess.Popen(words, stdout=log, stderr=log) as broker:
        try:
            yield found
        finally:
            broker.terminate()


def test_a_killed_bridge_leaves_no_robot_online(port: int) -> None:
    """Killed: the broker publishes each robot's last will, retained. Started again: online. SIGTERM: offline."""
    words = [sys.executable, "-c", f"from packages.fleet.tests.test_mqtt import work; work({port})"]
    control: Control | None = None
    for end, word in ((signal.SIGKILL, "CONNECTIONBROKEN"), (signal.SIGTERM, "OFFLINE")):
        with subprocess.Popen(words, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
            try:
                control = control or _connected(port)
                control.until("ONLINE")
                process.send_signal(end)
                control.until(word)
                process.wait(60)  # an end in order is an end of its connections too
            finally:
                process.kill()
    assert control is not None
    control.close()
    late = Control(port)  # what is retained
    late.until("OFFLINE")
    late.close()


def _connected(port: int) -> Control:
    for _ in range(600):
        try:
            return Control(port)
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the broker did not start")
