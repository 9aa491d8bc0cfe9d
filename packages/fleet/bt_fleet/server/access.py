"""Who may do what in a fleet, as a configuration of the server: each robot and each person has an account of its own.

Streams live in the coordinators' account. The others reach exactly the subjects that are listed here. An answer
returns to the account that asked: a `reply` to a foreign subject ends where nobody listens.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Literal, NamedTuple, get_args

from bt_fleet.server import names

Role = Literal["robot", "operator", "viewer", "coordinator", "mqtt"]
ROLES: tuple[Role, ...] = get_args(Role)
MQTT_ROOT = "uagv"  # the first part of VDA 5050's topics
CORE, MQTT = "fleet", "mqtt"  # accounts: the coordinators', and that of all MQTT clients
SERVER_API = "$JS.API"
API = "fleet.api"  # what others than coordinators call it: their own account answers for `$JS.API`
_BOARDS = (names.ENTRIES, names.LOCKS)  # the robots' own buckets: each writes below its own name
_MQTT_STORE = "{max_memory: 64MB, max_file: 256MB, max_streams: 16, max_consumers: 512}"


class Identity(NamedTuple):
    """Somebody whom the server knows: by a public key, or an MQTT client by the hash of its password."""

    name: str
    role: Role
    public: str = ""
    password: str = ""


class Rights(NamedTuple):
    """Subjects of the coordinators' account."""

    publish: tuple[str, ...]
    hear: tuple[str, ...]


def rights(role: Role, name: str) -> Rights:
    """Returns what a robot, an operator or a viewer of this name may publish and hear; `*` stands for every name."""
    if role == "robot":
        return Rights(_told_by(name), _told_to(name))
    if role == "operator":
        own = tuple(names.kept(bucket, f"*.{name}") for bucket in _BOARDS)
        switches = tuple(names.kept(names.SETTINGS, key("*", name)) for key in (names.halt, names.drain))
        more = (names.kept(names.TREES), names.wish("*", name), names.answer("*", name))
        return Rights((*switches, *own, *more, *_LOOKS), _NEWS)
    if role == "viewer":
        return Rights(_LOOKS, _NEWS)
    return Rights((), ())


_LOOKS = tuple(f"{SERVER_API}.{what}" for what in ("STREAM.INFO.*", "DIRECT.GET.*", "DIRECT.GET.*.>"))
_NEWS = (f"{names.CHANGED}.>", f"{names.NEWS_OF}.>")


def _told_by(name: str) -> tuple[str, ...]:
    orders, durable, copies = names.ORDERS, names.consumer(name), names.copies(name)
    reads = tuple(f"{SERVER_API}.{what}.KV_{bucket}{end}" for bucket in (*_BOARDS, names.TREES)
                  for what, end in (("STREAM.INFO", ""), ("DIRECT.GET", ""), ("DIRECT.GET", ".>")))  # fmt: skip
    return (
        names.alive(name), names.fetch(name), names.bid(name, "*"), names.report(name), names.claim(name, "*"),
        names.journal(name), names.said(name, "*"), names.halted(name),
        *(names.kept(bucket, f"*.{name}") for bucket in _BOARDS),
        f"{SERVER_API}.CONSUMER.MSG.NEXT.{orders}.{durable}", f"$JS.ACK.{orders}.{durable}.>",
        f"{SERVER_API}.DIRECT.GET.{names.claims(name)}.{names.claim(name, '*')}",
        f"{SERVER_API}.DIRECT.GET.{copies}.{names.journal(name)}", *reads,
    )  # fmt: skip


def _told_to(name: str) -> tuple[str, ...]:
    settings = (names.changed(names.SETTINGS, names.halt(robot)) for robot in (names.EVERY, name))
    return (names.call(name), names.news(names.answer(name, "*")), *settings,
            *(names.changed(bucket) for bucket in _BOARDS))  # fmt: skip


# What the coordinators' account offers. Who may use which part of it is what the others import.
_MANY = ("DIRECT.GET.*", "CONSUMER.MSG.NEXT.*.*")  # several answers to one question
_OFFERED = (
    "$KV.>", "$JS.ACK.*.*.>", f"{SERVER_API}.STREAM.INFO.*", f"{SERVER_API}.DIRECT.GET.*.>",
    *(f"fleet.{what}.>" for what in (
        "alive", "fetch", "bid", "report", "claim", "copy", "said", "halted", "answer", "wish")),
)  # fmt: skip
_TOLD = (f"{names.CHANGED}.>", f"{names.NEWS_OF}.>", f"{names.CALL}.*")


def configuration(known: Iterable[Identity]) -> str:
    """Returns the server's `accounts` block. Who is not in it cannot connect."""
    known = list(known)
    offered = [*(f"{{service: {_quoted(subject)}}}" for subject in _OFFERED),
               *(f"{{service: {_quoted(f'{SERVER_API}.{what}')}, response_type: Stream}}" for what in _MANY),
               *(f"{{stream: {_quoted(subject)}}}" for subject in _TOLD)]  # fmt: skip
    core = [each for each in known if each.role == "coordinator"]
    mqtt = [each for each in known if each.role == "mqtt"]
    lines = ["accounts {", f"  {CORE} {{ jetstream: enabled, users: {_users(core)},", "    exports: ["]
    lines += [f"      {each}" for each in offered] + ["    ] }"]
    if mqtt:
        lines.append(f"  {MQTT} {{ jetstream: {_MQTT_STORE}, users: {_users(mqtt)} }}")
    for each in known:
        if each.role not in ("coordinator", "mqtt"):
            lines += [f"  {_quoted(f'{each.role} {each.name}')} {{ users: {_users([each])},", "    imports: ["]
            lines += [f"      {line}" for line in _imports(rights(each.role, each.name))] + ["    ] }"]
    return "\n".join([*lines, "}", ""])


def _imports(may: Rights) -> list[str]:
    return [*(_import("service", subject) for subject in may.publish), *(_import("stream", s) for s in may.hear)]


def _import(what: str, subject: str) -> str:
    to = f", to: {_quoted(_local(subject))}" if _local(subject) != subject else ""
    return f"{{{what}: {{account: {CORE}, subject: {_quoted(subject)}}}{to}}}"


def _local(subject: str) -> str:
    """Returns what a subject of the coordinators' account is called in the others."""
    return subject.replace(SERVER_API, API) if subject.startswith(f"{SERVER_API}.") else subject


def _users(known: Iterable[Identity]) -> str:
    return f"[{', '.join(_user(each) for each in known)}]"


def _user(each: Identity) -> str:
    if each.role == "coordinator":
        return f"{{nkey: {each.public}}}"
    if each.role != "mqtt":  # the server asks these also where a trace of a message is to be told
        allowed = _quoted({"allow": [_local(subject) for subject in rights(each.role, each.name).publish]})
        return f"{{nkey: {each.public}, permissions: {{publish: {allowed}}}}}"
    who = f"user: {_quoted(each.name)}, password: {_quoted(each.password)}, allowed_connection_types: [MQTT]"
    may = _quoted({"allow": [MQTT_ROOT, f"{MQTT_ROOT}.>"]})  # MQTT's `uagv/#` is both for the server
    return f"{{{who}, permissions: {{publish: {may}, subscribe: {may}}}}}"


_quoted = json.dumps
