"""A machine of its own, as far as the network goes: a namespace with one cable to this one. Takes the place of a proxy
whose sockets are closed: a cable that is pulled out tells nobody."""

from __future__ import annotations

import os
import subprocess


def missing() -> str:
    """Returns why none can be made here; "" where they can."""
    try:
        done = subprocess.run(["unshare", "-n", "ip", "link"], capture_output=True, text=True)
    except OSError as error:
        return str(error)
    return "" if done.returncode == 0 else f"no network namespaces here: {done.stderr.strip()}"


class Namespace:
    def __init__(self, number: int, port: int) -> None:
        self.name, self.to = f"btr-{os.getpid()}-{number}", port
        self.cable = f"btr{os.getpid() % 100000}x{number}"
        self.here, self.there = f"10.211.{number}.1", f"10.211.{number}.2"

    @property
    def url(self) -> str:
        return f"nats://{self.here}:{self.to}"

    async def start(self) -> Namespace:
        _ip("netns", "add", self.name)
        _ip("link", "add", self.cable, "type", "veth", "peer", "name", "eth0", "netns", self.name)
        _ip("address", "add", f"{self.here}/30", "dev", self.cable)
        _ip("-n", self.name, "address", "add", f"{self.there}/30", "dev", "eth0")
        for words in (["link", "set", self.cable], ["-n", self.name, "link", "set", "eth0"],
                      ["-n", self.name, "link", "set", "lo"]):  # fmt: skip
            _ip(*words, "up")
        return self

    def command(self, words: list[str]) -> list[str]:
        """Returns the command line that runs there."""
        return ["ip", "netns", "exec", self.name, *words]

    def cut(self) -> None:
        _ip("link", "set", self.cable, "down")

    def mend(self) -> None:
        _ip("link", "set", self.cable, "up")

    async def close(self) -> None:
        _ip("netns", "delete", self.name)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)
