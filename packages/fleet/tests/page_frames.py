"""Frames a second of the fleet's page: heartbeats and records of many robots, in headless Chromium."""

from __future__ import annotations

import random
import threading
import time
from typing import Any

from bt_fleet.page.page import FleetRows, serve
from bt_fleet.store.record import Record
from bt_fleet.store.task import Task
from tests.run.view.browser import Browser

SECONDS = 6.0
COUNT = """
  window.gaps = []; let last = performance.now(); const until = last + %d;
  const frame = (now) => { gaps.push(now - last); last = now; if (now < until) requestAnimationFrame(frame); else window.counted = true; };
  requestAnimationFrame(frame);
"""  # noqa: E501


def measured(robots: int) -> tuple[float, float]:
    """Returns frames a second, and the gap in milliseconds within which 99 of 100 frames come. Every robot beats once a
    second, and begins or ends a task every two seconds."""
    fleet: Any = type("Fleet", (), {"address": type("Address", (), {"url": "nats://127.0.0.1"})})()
    rows, dice, over = FleetRows(fleet), random.Random(0), threading.Event()
    rows._thread.start()
    shown = serve(rows)

    def beat() -> None:
        names = [f"r{number}" for number in range(robots)]
        records = {name: Record(Task(f"t-{name}", "patrol"), robot=name, sent=time.time()) for name in names}
        while not over.is_set():
            for name in names:
                now = time.time()
                rows.alive(name, {"running": f"t-{name}", "plan": dice.randint(0, 9), "place": [dice.random(), 1.0]})
                if dice.random() < 0.5:
                    record = records[name]
                    records[name] = record.started(now) if record.state != "started" else record.assigned(name, "", now)
                    rows.changed(records[name])
                if over.wait(1 / robots):
                    return

    worker = threading.Thread(target=beat)
    worker.start()
    try:
        with Browser() as browser:
            browser.open(shown.url)
            browser.until(f"document.querySelectorAll('#rows tr').length >= {2 * robots}")
            browser.js(COUNT % (SECONDS * 1000))
            browser.until("window.counted === true", 60)
            gaps = sorted(float(gap) for gap in browser.js("return window.gaps")[1:])
    finally:
        over.set()
        worker.join()
        rows.close()
        shown.close()
    return 1000 * len(gaps) / sum(gaps), gaps[int(len(gaps) * 0.99)]
