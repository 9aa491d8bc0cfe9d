"""Who may do what in a fleet, as permissions that the server itself holds everybody to.

A robot answers calls and reports under its own name. Only a coordinator assigns and writes verdicts, only operators
send, and viewers read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Literal, NamedTuple, get_args

from bt_runtime.fleet import names

Role = Literal["robot", "operator", "viewer", "coordinator", "mqtt"]
ROLES: tuple[Role, ...] = get_args(Role)
MQTT_ROOT = "uagv"  # the first part of VDA 5050's topics
_BUCKETS = (names.TASKS, names.ROBOTS, names.ENTRIES, names.LOCKS, names.SETTINGS, names.TREES)
_KEEP = ("DELETE", "CREATE", "UPDATE", "MSG.DELETE", "SNAPSHOT", "RESTORE")  # of streams: for coordinators alone


class Identity(NamedTuple):
    """Somebody whom the server knows: by a public key, or an MQTT client by the hash of its password."""

    name: str
    role: Role
    public: str = ""
    password: str = ""


class Rights(NamedTuple):
    publish: tuple[str, ...]
    subscribe: tuple[str, ...]
    refused: tuple[str, ...] = ()  # of what could be published
    answers: bool = False  # may answer whoever asks it


def inbox(name: str) -> str:
    """Returns the subject below which somebody's answers arrive; nobody else may listen there."""
    return f"_INBOX.{name}"


def rights(role: Role, name: str) -> Rights:
    own = f"{inbox(name)}.>"
    if role == "coordinator":
        return Rights((">",), (">",))
    if role == "robot":
        return Rights(
            _robot(name),
            (own, names.CALL, names.HALT, names.ping(name), f"{names.ANSWER}.{name}", *_told(names.ENTRIES)),
            (),
            True,
        )
    if role == "operator":
        keep = tuple(f"$JS.API.STREAM.{word}.>" for word in _KEEP)
        writes = (names.TASKS, names.SETTINGS, names.ENTRIES, names.LOCKS, names.TREES)
        publish = (
            names.HALT, "fleet.order.>", "fleet.verdict.*", f"{names.ANSWER}.*",
            *(f"$KV.{bucket}.>" for bucket in writes), "$JS.API.>", "$JS.ACK.>", "$JS.FC.>",
        )  # fmt: skip
        return Rights(publish, (own, "fleet.>"), keep)
    if role == "mqtt":
        return Rights((f"{MQTT_ROOT}.>",), (f"{MQTT_ROOT}.>",))
    looks = tuple(
        f"$JS.API.DIRECT.GET.{stream}{end}" for stream in (names.JOURNALS, names.VERDICTS) for end in ("", ".>")
    )
    return Rights((*_reading(*_BUCKETS), *looks), (own, f"{names.CHANGED}.>", names.alive(), f"{names.SAID}.>"))


def _robot(name: str) -> tuple[str, ...]:
    orders, durable = names.ORDERS, names.consumer(name)
    return (
        names.alive(name), names.report(name), names.claim(name, "*"),
        f"fleet.journal.{name}.>", f"{names.SAID}.{name}.>",
        f"$JS.API.CONSUMER.INFO.{orders}.{durable}", f"$JS.API.CONSUMER.MSG.NEXT.{orders}.{durable}",
        f"$JS.ACK.{orders}.{durable}.>", f"$JS.API.DIRECT.GET.{names.CLAIMS}.fleet.claim.{name}.>",
        f"$JS.API.DIRECT.GET.{names.JOURNALS}",  # of any run: a spare goes on where another robot has stopped
        f"$JS.API.DIRECT.GET.{names.JOURNALS}.fleet.journal.{name}.>",
        f"$KV.{names.ENTRIES}.>", f"$KV.{names.LOCKS}.>", *_reading(names.ENTRIES, names.LOCKS, names.TREES),
    )  # fmt: skip


def _reading(*buckets: str) -> tuple[str, ...]:
    what = ("STREAM.INFO.KV_{}", "DIRECT.GET.KV_{}", "DIRECT.GET.KV_{}.>")
    return tuple(f"$JS.API.{each.format(bucket)}" for bucket in buckets for each in what)


def _told(*buckets: str) -> tuple[str, ...]:
    return tuple(f"{names.CHANGED}.{bucket}.>" for bucket in buckets)


def configuration(known: Iterable[Identity]) -> str:
    """Returns the server's `authorization` block. Who is not in it cannot connect."""
    return "authorization {\n  users = [\n" + "".join(f"    {_user(each)}\n" for each in known) + "  ]\n}\n"


def _user(each: Identity) -> str:
    may, quoted = rights(each.role, each.name), json.dumps
    publish = {"allow": list(may.publish), **({"deny": list(may.refused)} if may.refused else {})}
    permissions = f"publish: {quoted(publish)}, subscribe: {quoted({'allow': list(may.subscribe)})}"
    if may.answers:
        permissions += ', allow_responses: {max: 1, expires: "1m"}'
    who = f"nkey: {each.public}"
    if each.role == "mqtt":
        who = f"user: {quoted(each.name)}, password: {quoted(each.password)}, allowed_connection_types: [MQTT]"
    return f"{{ {who}, permissions: {{ {permissions} }} }}"
