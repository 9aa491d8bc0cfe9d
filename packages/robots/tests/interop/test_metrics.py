"""Counters for Prometheus, and lines for Python's own logging."""

from __future__ import annotations

import http.client
import logging
import re
import socket
import struct

import pytest

import bt_runtime as bt
from bt_robots.telemetry.metrics import Metrics
from bt_runtime import BtError, bridge
from packages.robots.tests.interop.pairs import ROUND, SKILLS, YAML

LINE = re.compile(
    r'(bt_[a-z_]+)\{tree="Main",run="Main-[0-9a-f]+",robot="[^"]+"(?:,([a-z]+)="([^"]*)")?\} ([-+0-9.e]+)'
)


def fetched(port: int, path: str = "/metrics", **headers: str) -> tuple[int, str]:
    asking = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    asking.request("GET", path, headers=headers)
    answer = asking.getresponse()
    text = answer.read().decode()
    asking.close()
    return answer.status, text


def test_the_counters_are_those_of_the_run_in_prometheus_words() -> None:
    run = bt.Run(bt.load(YAML, skills=SKILLS))
    with run, Metrics(run) as metrics:
        for _ in range(ROUND):
            run.tick()
        status, text = fetched(metrics.port)
        assert status == 200 and text.endswith("\n")
        told, known = {}, set()
        for line in text.splitlines():
            if line.startswith("#"):
                known.add(line.split()[2])
                continue
            found = LINE.fullmatch(line)
            assert found and re.sub(r"_(bucket|sum|count)$", "", found[1]) in known, line
            told[found[1], found[3]] = float(found[4])
        assert told["bt_ticks_total", None] == ROUND == told["bt_tick_seconds_count", None]
        assert told["bt_tick_seconds_bucket", "+Inf"] == ROUND and told["bt_nodes", None] == 11
        buckets = [value for (name, _), value in told.items() if name == "bt_tick_seconds_bucket"]
        assert buckets == sorted(buckets) and told["bt_running", None] == 0
        assert fetched(metrics.port, "/else")[0] == 404


def test_prometheus_own_parser_reads_every_counter_of_the_page() -> None:
    parser = pytest.importorskip("prometheus_client.parser")
    run = bt.Run(bt.load(YAML, skills=SKILLS), hz=1000)
    with run, Metrics(run) as metrics:
        run.spin()
        families = {each.name: each for each in parser.text_string_to_metric_families(fetched(metrics.port)[1])}
        wanted = {
            "bt_ticks": "counter", "bt_overruns": "counter", "bt_missed": "counter", "bt_tick_seconds": "histogram",
            "bt_jobs": "counter", "bt_model_tokens": "counter", "bt_decisions": "counter", "bt_nodes": "gauge",
            "bt_running": "gauge", "bt_changes": "counter", "bt_crashes": "counter", "bt_grafts": "counter",
            "bt_notices": "counter",
        }  # fmt: skip
        assert {name: each.type for name, each in families.items()} == wanted
        assert families["bt_ticks"].samples[0].value == ROUND
        assert {s.labels["status"]: s.value for s in families["bt_jobs"].samples} == {"success": 4, "failure": 1}


def test_one_port_tells_of_several_runs_by_tree_run_and_robot() -> None:
    parser = pytest.importorskip("prometheus_client.parser")
    tree = bt.load(YAML, skills=SKILLS)

    def told() -> dict[tuple[str, str], float]:
        families = parser.text_string_to_metric_families(fetched(metrics.port)[1])
        ticks = next(each for each in families if each.name == "bt_ticks")
        assert {s.labels["tree"] for s in ticks.samples} == {tree.name}
        return {(s.labels["run"], s.labels["robot"]): s.value for s in ticks.samples}

    with bt.Run(tree) as one, bt.Run(tree) as two, Metrics(one, robot='the "left"\\arm') as metrics:
        leave = metrics.add(two, "right")
        two.tick()
        assert told() == {(one.parts.name, 'the "left"\\arm'): 0, (two.parts.name, "right"): 1}
        leave()
        assert told() == {(one.parts.name, 'the "left"\\arm'): 0}


def test_a_robot_without_a_name_has_the_machines() -> None:
    with bt.Run(bt.load(YAML, skills=SKILLS)) as run, Metrics(run) as metrics:
        assert f'robot="{socket.gethostname()}"' in metrics.text()


@pytest.mark.parametrize("host", ["elsewhere.example", "127.0.0.1.elsewhere.example:80", "", "[::1", "localhost:x"])
def test_a_page_from_elsewhere_cannot_come_in_under_its_own_name(host: str) -> None:
    with bt.Run(bt.load(YAML, skills=SKILLS)) as run:
        with Metrics(run) as metrics:
            assert fetched(metrics.port, Host=host)[0] == 421
            assert fetched(metrics.port, Host="localhost:1")[0] == 200  # a tunnel has another port
        with Metrics(run, anyone=True) as metrics:
            assert fetched(metrics.port, Host=host)[0] == 200


def test_somebody_who_goes_away_leaves_nothing_on_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    with bt.Run(bt.load(YAML, skills=SKILLS)) as run, Metrics(run) as metrics:
        with socket.create_connection(("127.0.0.1", metrics.port)) as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset at its end
            one.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n")
        assert fetched(metrics.port)[0] == 200  # one after the other: the first is over
    assert capfd.readouterr().err == ""


def test_a_port_that_is_taken_and_a_host_that_others_reach_are_faults_in_words() -> None:
    run = bt.Run(bt.load(YAML, skills=SKILLS))
    with run, Metrics(run) as metrics:
        with pytest.raises(BtError, match="cannot listen"):
            Metrics(run, metrics.port)
        with pytest.raises(BtError, match="outside this machine"):
            Metrics(run, host="0.0.0.0")


def test_log_lines_reach_pythons_logging_with_their_level_and_path(caplog: pytest.LogCaptureFixture) -> None:
    text = (
        'version: 1\ntree: t\nroot:\n  sequence:\n    - log: {text: "low {1 + 1}", level: warning}\n    - log: 100 %s\n'
    )
    with caplog.at_level(logging.DEBUG, "bt_runtime.run"), bt.Run(bt.load(text)) as run:
        undo = bridge(run)
        run.tick()
        undo()
        run.tick()
    found = [(r.levelname, r.path, r.getMessage()) for r in caplog.records if r.name == "bt_runtime.run"]  # type: ignore[attr-defined]
    assert found == [("WARNING", "/t/0", "/t/0: low 2"), ("INFO", "/t/1", "/t/1: 100 %s")]
