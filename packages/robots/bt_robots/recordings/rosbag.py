"""Writes a run as a rosbag2, which `ros2 bag` and PlotJuggler read, without a ROS installation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bt_robots.recordings.mcap import Message, MessageMaker
from bt_runtime.journal.lines import Line
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.extra import Extra

VERSION = 9  # version of the folder's metadata
STATUS, LOG, TEXT = "diagnostic_msgs/msg/DiagnosticArray", "rcl_interfaces/msg/Log", "std_msgs/msg/String"
NUMBER, TRUTH = "std_msgs/msg/Float64", "std_msgs/msg/Bool"
MOST_ENTRIES = 200  # entries of the blackboard that have a topic of their own
LEVELS = {1: 10, 2: 20, 3: 30, 4: 40}  # Foxglove's → those of rosout


class BagTopic(NamedTuple):
    name: str
    type: str


class Bag:
    def __init__(self, path: Path, storage: str) -> None:
        with Extra("ros", "a rosbag2"):
            from rosbags.rosbag2 import StoragePlugin, Writer
            from rosbags.typesys import Stores, get_typestore
        if path.exists():
            raise BtError(f"{path} is there already", "a bag is a new folder: name another one with -o")
        self.types: Any = get_typestore(Stores.ROS2_JAZZY)
        plugin = StoragePlugin.MCAP if storage == "mcap" else StoragePlugin.SQLITE3
        self.writer: Any = Writer(path, version=VERSION, storage_plugin=plugin)
        self.connections: dict[BagTopic, Any] = {}
        self.count = 0

    def add(self, topic: BagTopic, at: int, fields: Any) -> None:
        connection = self.connections.get(topic)
        if connection is None:
            connection = self.connections[topic] = self.writer.add_connection(
                topic.name, topic.type, typestore=self.types
            )
        self.writer.write(connection, at, self.types.serialize_cdr(fields, topic.type))
        self.count += 1

    def made(self, type: str, **fields: Any) -> Any:
        return self.types.types[type](**fields)

    def stamp(self, at: int) -> Any:
        return self.made("builtin_interfaces/msg/Time", sec=at // 10**9, nanosec=at % 10**9)


def write(lines: Iterable[Line], path: Path, storage: str = "mcap") -> int:
    """Writes the bag; returns the number of messages written."""
    bag, told, entries = Bag(path, storage), MessageMaker(), dict[str, str]()
    bag.writer.open()
    try:
        for line in lines:
            for message in told.of(line):
                for topic, fields in _messages(bag, message, entries):
                    bag.add(topic, message.at, fields)
    finally:
        bag.writer.close()
    return bag.count


def _messages(bag: Bag, message: Message, entries: dict[str, str]) -> Iterator[tuple[BagTopic, Any]]:
    body = message.body
    if message.topic == "/bt/status":
        yield BagTopic("/bt/status", STATUS), _status(bag, message)
    elif message.topic == "/bt/log":
        log = {"stamp": bag.stamp(message.at), "level": LEVELS.get(body["level"], 20), "name": body["name"] or "bt"}
        yield BagTopic("/rosout", LOG), bag.made(LOG, **log, msg=body["message"], file="", function="", line=0)
    else:
        yield BagTopic(message.topic, TEXT), bag.made(TEXT, data=json.dumps(body))
        if message.topic == "/bt/blackboard" and not body.get("unset"):
            yield from _entry(bag, body, entries)


def _status(bag: Bag, message: Message) -> Any:
    """Writes a node's status as a diagnostic: level 0, or 2 after a failure."""
    header = bag.made("std_msgs/msg/Header", stamp=bag.stamp(message.at), frame_id="")
    told = [
        bag.made(
            "diagnostic_msgs/msg/DiagnosticStatus",
            level=2 if each["status"] == "FAILURE" else 0, name=each["path"], message=each["status"], hardware_id="",
            values=[bag.made("diagnostic_msgs/msg/KeyValue", key="tick", value=str(message.body["tick"]))],
        )
        for each in message.body["changes"]
    ]  # fmt: skip
    return bag.made(STATUS, header=header, status=told)


def _entry(bag: Bag, body: Mapping[str, Any], entries: dict[str, str]) -> Iterator[tuple[BagTopic, Any]]:
    """Writes an entry. Numbers and booleans get a topic for plots; a topic keeps the type of its first value."""
    value = body.get("value")
    if not isinstance(value, bool | int | float):
        return
    words = [word for word in f"{body['scope']}/{body['name']}".split("/") if word]
    name = "/bt/blackboard/" + "/".join("".join(c if c.isascii() and c.isalnum() else "_" for c in w) for w in words)
    type = entries.get(name) or (TRUTH if isinstance(value, bool) else NUMBER)
    if name not in entries and len(entries) >= MOST_ENTRIES:
        return
    entries[name] = type
    data = bool(value) if type == TRUTH else float(value)
    yield BagTopic(name, type), bag.made(type, data=data)
