"""Recorded runs as files of other tools: MCAP, rosbag2, a log of BehaviorTree.CPP, spans of OpenTelemetry."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from bt_runtime.journal.export import Export
from bt_runtime.journal.lines import lines
from bt_runtime.journal.reading import Recording


class _Mcap(Export):
    def write(self, recordings: Sequence[Recording], path: Path, args: argparse.Namespace) -> int:
        from bt_robots.recordings import mcap

        return mcap.write(lines(recordings[0]), path)


class _Rosbag2(Export):
    def configure(self, parser: argparse.ArgumentParser) -> None:
        text = "storage format of the rosbag2; default: mcap"
        parser.add_argument("--storage", choices=("mcap", "sqlite3"), default="mcap", help=text)

    def write(self, recordings: Sequence[Recording], path: Path, args: argparse.Namespace) -> int:
        from bt_robots.recordings import rosbag

        return rosbag.write(lines(recordings[0]), path, args.storage)


class _Otlp(Export):
    def write(self, recordings: Sequence[Recording], path: Path, args: argparse.Namespace) -> int:
        from bt_robots.telemetry import otel

        return otel.write(lines(recordings[0]), path)


class _Btlog(Export):
    def write(self, recordings: Sequence[Recording], path: Path, args: argparse.Namespace) -> int:
        from bt_robots.btcpp import btlog

        recording = recordings[0]
        nodes = [(n.number, n.path, n.kind, n.name) for n in recording.nodes]
        changes = ((recording.ticks[t].at, n, s) for t in sorted(recording.ticks) for n, s in recording.changes(t))
        return btlog.write(str(recording.head["tree"]), nodes, changes, float(recording.head["started"]), path)


MCAP, ROSBAG2, OTLP, BTLOG = _Mcap(), _Rosbag2(), _Otlp(), _Btlog()
