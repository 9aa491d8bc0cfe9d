"""What a master control is told by a foreign broker when a vehicle's program is killed, started again, and ended."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("paho.mqtt.client", reason="needs the fleet extra")

from bt_fleet.server.server import free_port
from packages.fleet.tests.control import MOSQUITTO, Control, broker, vehicle
from packages.fleet.tests.yard import instant, make, order, truth

pytestmark = pytest.mark.skipif(MOSQUITTO is None, reason="mosquitto is not installed: apt-get install mosquitto")


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """A broker on loopback, with anybody."""
    found = free_port("127.0.0.1")
    with broker(tmp_path, found):
        yield found


def test_a_killed_vehicle_goes_on_with_its_order(tmp_path: Path, port: int) -> None:
    """Killed in the middle of a drive: the broker publishes the last will, retained. Started again: ONLINE, and the
    rest of the order, whose update is taken. SIGTERM: OFFLINE."""
    control, folder = Control(port), make(tmp_path / "agv")
    with vehicle(folder, port) as process:
        control.until(lambda c: c.words[-1:] == ["ONLINE"] and c.states)
        control.send(order("a", "b", "c", base=2))
        control.until(lambda c: c.state["lastNodeId"] == "a" and c.state["driving"])
        process.send_signal(signal.SIGKILL)
        control.until(lambda c: c.words[-1] == "CONNECTIONBROKEN")
    with vehicle(folder, port) as process:
        control.until(lambda c: c.words[-1] == "ONLINE")
        control.send(order("b", "c", "d", update=1, begin=2))
        control.until(lambda c: c.state["lastNodeId"] == "d")
        control.send(instant("stateRequest"))
        control.until(lambda c: c.action("stateRequest-1") == "FINISHED")
        process.send_signal(signal.SIGTERM)
        control.until(lambda c: c.words[-1] == "OFFLINE")
        assert process.wait(60) == 0
    control.close()
    assert (truth(folder, "at"), control.wrong) == (["a", "b", "c", "d"], [])
    late = Control(port)
    late.until(lambda c: c.retained == ["OFFLINE"])
    late.close()


def test_a_vehicle_works_on_without_its_broker(tmp_path: Path) -> None:
    """An order is driven to its end while the broker is gone; when it is back, the vehicle is ONLINE and tells where it
    is."""
    found, folder = free_port("127.0.0.1"), make(tmp_path / "agv")
    with vehicle(folder, found, YARD_POLLS="20"):
        with broker(tmp_path, found):
            control = Control(found)
            control.until(lambda c: c.states)
            control.send(order("a", "b", "c"))
            control.until(lambda c: c.state["lastNodeId"] == "a")
            control.close()
        with broker(tmp_path, found):
            control = Control(found)
            control.until(lambda c: c.words[-1:] == ["ONLINE"] and c.state.get("lastNodeId") == "c")
            control.close()
    assert (truth(folder, "at"), control.wrong) == (["a", "b", "c"], [])
