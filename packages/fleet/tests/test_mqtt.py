"""What a master control is told by a foreign broker when a vehicle's program is killed, started again, and ended."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("paho.mqtt.client", reason="needs the fleet extra")

from bt_fleet.server.guarded import CERTIFICATE, PRIVATE, certify
from bt_fleet.server.server import free_port
from packages.fleet.tests.control import MOSQUITTO, Control, broker, vehicle
from packages.fleet.tests.threads import until
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
    with vehicle(folder, port, YARD_HELD="b") as process:
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
    reached = [*dict.fromkeys(truth(folder, "at"))]  # the killed one may have been there, and not have written it down
    assert (reached, control.wrong) == (["a", "b", "c", "d"], [])
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


def test_a_vehicle_and_its_broker_know_each_other_by_certificates(tmp_path: Path) -> None:
    """With the broker's authority and a certificate of its own the vehicle is let in; a broker whose certificate
    another authority has signed is told nothing."""
    theirs, ours = certify(tmp_path / "broker", ["127.0.0.1"]), certify(tmp_path / "vehicle", ["r7"])
    lines = (
        "user root", "allow_anonymous true", f"cafile {ours}", f"certfile {theirs.with_name(CERTIFICATE)}",
        f"keyfile {theirs.with_name(PRIVATE)}", "require_certificate true",
    )  # fmt: skip
    tls, plain = free_port("127.0.0.1"), free_port("127.0.0.1")
    own = ("--mqtt-cert", str(ours.with_name(CERTIFICATE)), "--mqtt-key", str(ours.with_name(PRIVATE)))
    with broker(tmp_path, tls, *lines, f"listener {plain} 127.0.0.1"):
        control = Control(plain)
        with vehicle(make(tmp_path / "wrong"), tls, "--mqtt-ca", str(ours), *own):
            until(lambda: "tries again" in (tmp_path / "wrong" / "vehicle.log").read_text())
            assert control.words == []
        with vehicle(make(tmp_path / "agv"), tls, "--mqtt-ca", str(theirs), *own):
            control.until(lambda c: c.words[-1:] == ["ONLINE"] and c.states)
            control.send(order("a", "b"))
            control.until(lambda c: c.state["lastNodeId"] == "b")
        control.close()
    assert control.wrong == []


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("vehicle_facts", "", "nobody tells batteryState.batteryCharge, batteryState.charging, operatingMode"),
        ("vehicle_drive", "", "there is no tree `vehicle_drive`"),
        ("vehicle_act", "version: 1\ntree: vehicle_act\nroot: {succeed: {}}\n", "`vehicle_act` has no port `action`"),
    ],
)
def test_what_a_vehicles_project_lacks_is_said_at_its_start(tmp_path: Path, name: str, text: str, why: str) -> None:
    """Before anything is told to a broker; the program ends."""
    tree = make(tmp_path) / "trees" / f"{name}.yaml"
    tree.write_text(text) if text else tree.unlink()
    with vehicle(tmp_path, free_port("127.0.0.1")) as process:
        assert process.wait(60) == 2
    assert why in (tmp_path / "vehicle.log").read_text()
