"""Tasks, while robots, coordinators and the server are killed, connections are cut and clocks are wrong. Then what
became of every task is compared with a ledger that the fleet knows nothing of. With `forged`, everybody has a key, and
two whose keys let them in send forged, malformed, repeated and late messages all the while."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from bt_fleet.server import forms, names
from bt_fleet.server.buckets import snapshot
from bt_fleet.server.keys import COORDINATOR, Keys
from bt_fleet.server.link import Address, Link
from bt_fleet.server.server import free_port
from bt_fleet.store.record import DONE, SUCCESS
from bt_fleet.store.store import Store
from bt_fleet.store.task import Task
from bt_runtime.language.project import child
from packages.fleet.tests import field_project
from packages.fleet.tests.forger import PEOPLE, WORD, Forger, Heard
from packages.fleet.tests.light_robot import Ledger
from packages.fleet.tests.namespace import Namespace
from packages.fleet.tests.proxy import Proxy

HERE = Path(__file__).parent
TREES = ("repeat", "stays", "stays-verify")


@dataclass(frozen=True)
class Plan:
    """How much of everything."""

    robots: int
    tasks: int
    kills: int
    cuts: int
    seconds: float = 0.2  # of a task, at most
    cut: tuple[float, float] = (0.5, 3.0)  # seconds that a connection is gone
    pause: float = 0.3  # seconds between two misfortunes, in the mean
    lease: float = 2.0
    shift: float = 86400.0  # seconds that a clock is wrong, at most; those of the field and of coordinators also jump
    seed: int = 0
    limit: float = 600.0
    cables: bool = False  # each robot in a network namespace of its own, whose cable is pulled out
    field: bool = False  # robots of the field, by `btr fleet join`, instead of those without physics
    forged: int = 0  # messages, at least, of those who mean harm


@dataclass
class Found:
    """What the ledger and the store say, side by side."""

    tasks: int = 0
    kills: int = 0
    cuts: int = 0
    hostile: int = 0  # messages of those who mean harm
    forged: list[str] = field(default_factory=list)  # what of them stands in the store
    lost: list[str] = field(default_factory=list)
    two_verdicts: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    unfounded: list[str] = field(default_factory=list)  # success, and the ledger knows of no effect
    verdicts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)  # tree and reason of what failed
    seconds: float = 0.0

    @property
    def sound(self) -> bool:
        return not (self.lost or self.forged or self.two_verdicts or self.doubled or self.unfounded)


class Chaos:
    def __init__(self, plan: Plan, folder: Path) -> None:
        self.plan, self.folder = plan, folder
        self.dice = random.Random(plan.seed)
        self.ledger = Ledger(folder / "ledger")
        self.port = free_port("127.0.0.1")
        self.url = f"nats://127.0.0.1:{self.port}"
        self.found = Found()
        self.project = field_project.made(folder / "project")
        self.environment = child.environment(LEDGER=str(self.ledger.path), BTR_TRUST=str(self.project))
        self.seen: dict[str, set[str]] = {}  # task → verdicts that a watcher has ever been told
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.proxies: dict[str, Proxy | Namespace] = {}
        self.over = False
        if plan.forged:
            keys, server = Keys(folder / "server"), folder / "server"
            for role, name in (*PEOPLE, ("operator", "watcher"), *(("robot", f"r{n}") for n in range(plan.robots))):
                keys.add(role, name, folder / f"{name}.key")
            self.environment["BTR_TRUST"] += f"{os.pathsep}{server}"

    def creds(self, name: str) -> Path | None:
        return self.folder / f"{name}.key" if self.plan.forged else None

    def start(self, name: str) -> None:
        if name == "up":
            words = ["up", "--data", str(self.folder / "server"), "--port", str(self.port), "--sync", "1m"]
            words += ["--host", "0.0.0.0", "--anyone"] if self.plan.cables else []
        elif name == "second":
            words = ["up", "--server", self.url]
            words += ["--creds", str(self.folder / "server" / COORDINATOR)] if self.plan.forged else []
        else:
            if self.plan.field:
                words = ["join", "--robot", name, "--project", str(self.project), "--server", self.proxies[name].url,
                         "--state", str(self.folder / name)]  # fmt: skip
                self.processes[name] = self._begun(name, self._btr(words))
                return
            shift = self.dice.uniform(-self.plan.shift, self.plan.shift)
            proxy = self.proxies[name]
            command = [sys.executable, "-P", str(HERE / "light_robot.py"), proxy.url, "r", str(self.folder),
                       str(self.ledger.path), str(shift), name[1:], "1", str(self.creds(name) or "")]  # fmt: skip
            self.processes[name] = self._begun(name, command)
            return
        self.processes[name] = self._begun(name, self._btr([*words, "--lease", str(self.plan.lease)]))

    def _btr(self, words: list[str]) -> list[str]:
        clock = [str(self.plan.shift), str(self.dice.randrange(2**31))]
        return [sys.executable, "-P", str(HERE / "skewed.py"), *clock, "fleet", *words]

    def _begun(self, name: str, words: list[str]) -> subprocess.Popen[bytes]:
        place = self.proxies.get(name)
        words = place.command(words) if isinstance(place, Namespace) else words
        with (self.folder / f"{name}.log").open("ab") as log:
            return child.start(words, self.environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def kill(self, name: str) -> None:
        """kill -9, and a new process in its place. The server dies by itself as well; `btr fleet up` starts it anew."""
        if name == "server":
            try:
                os.kill(int((self.folder / "server" / "server.pid").read_text()), signal.SIGKILL)
            except (OSError, ValueError):
                return
        else:
            child.end(self.processes[name])
            self.start(name)
        self.found.kills += 1

    async def run(self) -> Found:
        begun = time.monotonic()
        try:
            for number in range(self.plan.robots):
                made = Namespace(number, self.port) if self.plan.cables else Proxy(self.port)
                self.proxies[f"r{number}"] = await made.start()
            self.start("up")
            self.start("second")
            for name in self.proxies:
                self.start(name)
            async with await Link(Address(self.url, creds=self.creds("watcher")), "watcher").opened(60) as link:
                watcher = asyncio.create_task(link.always(lambda: self._watched(link)))
                forgers = await self._forgers(link)
                await asyncio.wait_for(asyncio.gather(self._sent(link), self._misfortune()), self.plan.limit)
                for proxy in self.proxies.values():
                    proxy.mend()
                await asyncio.wait_for(self._ended(link), self.plan.limit)
                self.over = True
                await asyncio.gather(*forgers)
                watcher.cancel()
                await asyncio.gather(watcher, return_exceptions=True)
                await self._compared(link)
        finally:
            for process in self.processes.values():
                child.end(process)
            for proxy in self.proxies.values():
                await proxy.close()
        self.found.seconds = time.monotonic() - begun
        return self.found

    async def _forgers(self, link: Link) -> list[asyncio.Task[None]]:
        """Starts those who mean harm; they go on until all tasks have ended."""
        heard, plan = Heard(), self.plan
        people = [name for _, name in PEOPLE] if plan.forged else []
        if people:
            await heard.listen(link)
        robots = list(self.proxies)
        self.hostile = [Forger(self.url, self.folder / f"{name}.key", robots, plan.tasks, plan.seed, heard)
                        for name in people]  # fmt: skip
        each = plan.forged // max(len(people), 1)
        return [asyncio.create_task(one.work(each, 0.02, lambda: not self.over)) for one in self.hostile]

    async def _watched(self, link: Link) -> None:
        await self._prepared(link)
        async for each in Store(link).watch():
            if each is not None and each[0].state == DONE:
                self.seen.setdefault(each[0].task.id, set()).add(str(each[0].verdict))

    async def _prepared(self, link: Link) -> None:
        """Until a coordinator has made the buckets."""
        while True:
            try:
                await Store(link).records()
                return
            except Exception:
                await asyncio.sleep(0.1)

    async def _sent(self, link: Link) -> None:
        """Sends every task, and every fifth a second time; again whenever nobody has acknowledged it."""
        await self._prepared(link)
        for number in range(self.plan.tasks):
            seconds = round(self.dice.uniform(0.01, self.plan.seconds), 3)
            task = Task(f"t{number}", self.dice.choice(TREES), {"seconds": seconds})
            if self.plan.field:
                task = field_project.task(f"t{number}", self.dice.choice(field_project.TREES)[0])
            for _ in range(1 + (number % 5 == 0)):
                while True:
                    try:
                        await Store(link).wish("send", {"task": task.plain()})
                        break
                    except Exception:
                        await asyncio.sleep(0.05)
        self.found.tasks = self.plan.tasks

    async def _misfortune(self) -> None:
        cuts: list[asyncio.Task[None]] = []
        what = ["kill"] * self.plan.kills + ["cut"] * self.plan.cuts
        self.dice.shuffle(what)
        for each in what:
            await asyncio.sleep(self.dice.expovariate(1 / self.plan.pause))
            robot = self.dice.choice(list(self.proxies))
            if each == "cut":
                cuts.append(asyncio.create_task(self._cut(robot)))
            else:
                self.kill(self.dice.choices([robot, "up", "second", "server"], [8, 1, 1, 1])[0])
        await asyncio.gather(*cuts)

    async def _cut(self, name: str) -> None:
        self.proxies[name].cut()
        self.found.cuts += 1
        least, most = self.plan.cut
        await asyncio.sleep(least * (most / least) ** self.dice.random())
        self.proxies[name].mend()

    async def _ended(self, link: Link) -> None:
        """Until every task is done. What stays in doubt while its robot is there is settled by a person, who looks."""
        while True:
            try:
                left = [held for held in await Store(link).records() if held.state != DONE]
            except Exception:
                left = [None]  # type: ignore[list-item]
            if not left:
                return
            await asyncio.sleep(0.25)

    async def _compared(self, link: Link) -> None:
        store, found = Store(link), self.found
        effects = Counter(task for what, task, *_ in self.ledger.lines() if what == "effect")
        held = {each.task.id: each for each in await store.records()}
        found.hostile = sum(each.sent for each in self.hostile)
        known = {f"t{number}" for number in range(self.plan.tasks)}
        found.forged = [name for name, each in held.items() if name not in known or WORD in str(each)]
        found.forged += [" ".join(line) for line in self.ledger.lines() if line[1] not in known]
        found.forged += [each.key for each in await snapshot(link, names.SETTINGS)]
        for number in range(self.plan.tasks):
            task = f"t{number}"
            if task not in held or held[task].state != DONE:
                found.lost.append(task)
                continue
            said = await store.only("fleet_verdicts", f"fleet.verdict.{task}", forms.VERDICT)
            if said is not None and WORD in str(said):
                found.forged.append(f"the verdict of {task}")
            verdicts = {str(held[task].verdict), *self.seen.get(task, ()), *([said["verdict"]] if said else ["none"])}
            if len(verdicts) > 1:
                found.two_verdicts.append(f"{task}: {verdicts}")
            found.verdicts[str(held[task].verdict)] += 1
            if held[task].verdict != SUCCESS:
                found.reasons[f"{held[task].task.tree}: {held[task].reason[:70]}"] += 1
            if effects[task] > 1 and held[task].task.tree != "repeat":
                found.doubled.append(f"{task} ({held[task].task.tree}): {effects[task]}")
            if held[task].verdict == SUCCESS and not effects[task]:
                found.unfounded.append(task)


if __name__ == "__main__":
    import shutil
    import tempfile

    words = dict(each.split("=") for each in sys.argv[1:])
    kinds = Plan.__annotations__
    made = Plan(**{k: (int if kinds[k] == "int" else float)(v) for k, v in words.items()})  # type: ignore[arg-type]
    place = Path(tempfile.mkdtemp(prefix="chaos-"))
    found = asyncio.run(Chaos(made, place).run())
    print(found)
    if found.sound:
        shutil.rmtree(place)
    raise SystemExit(not found.sound)
