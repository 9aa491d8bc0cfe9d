"""The wire format of ROS 2 on zenoh, as rmw_zenoh uses it: names, attachments, liveliness tokens."""

from __future__ import annotations

import hashlib
import struct
from typing import NamedTuple

SPACE = "@ros2_lv"  # key prefix of liveliness tokens
UNVERSIONED = "TypeHashNotSupported"  # type hash that servers of older distributions send
GID = 16  # bytes by which an endpoint is known
_ATTACHED = struct.Struct(f"<qqB{GID}s")


def qos(reliable: bool, latched: bool, depth: int) -> str:
    """Returns the part of a token that tells an endpoint's quality of service; what is usual is left out."""
    return f"{'' if reliable else 2}:{1 if latched else ''}:,{depth}:,:,:,,"


QOS = qos(True, False, 10)


def dds(type: str) -> str:
    """`std_msgs/msg/String` → std_msgs::msg::dds_::String_"""
    package, sort, name = type.split("/")
    return f"{package}::{sort}::dds_::{name}_"


def key(domain: int, name: str, type: str, version: str) -> str:
    """Returns the zenoh key of a topic or a service."""
    return f"{domain}/{name.strip('/')}/{dds(type)}/{version}"


def mangled(name: str) -> str:
    return name.replace("/", "%") or "%"


class Node(NamedTuple):
    domain: int
    session: str  # the session's id
    name: str

    @property
    def token(self) -> str:
        return f"{SPACE}/{self.domain}/{self.session}/0/0/NN/%/%/{mangled(self.name)}"

    def endpoint(self, number: int, sort: str, name: str, type: str, version: str, qos: str = QOS) -> str:
        """Returns the liveliness token of an endpoint. `sort`: MP and MS publish and subscribe, SS and SC serve and
        call."""
        where = f"{SPACE}/{self.domain}/{self.session}/0/{number}/{sort}/%/%/{mangled(self.name)}"
        return f"{where}/{mangled(full(name))}/{dds(type)}/{version}/{qos}"


def full(name: str) -> str:
    return f"/{name.strip('/')}"


def servers(domain: int, name: str, type: str) -> str:
    """Returns the key that matches all servers of this name and type, of any version."""
    return f"{SPACE}/{domain}/*/*/*/SS/*/*/*/{mangled(full(name))}/{dds(type)}/*/*"


def version_of(token: str) -> str:
    """Returns the type's version from an endpoint's token."""
    return token.split("/")[-2]


def gid(token: str) -> bytes:
    return hashlib.blake2b(token.encode(), digest_size=GID).digest()


class Attached(NamedTuple):
    """The attachment of each message and request."""

    number: int
    stamp: int  # nanoseconds
    gid: bytes

    def packed(self) -> bytes:
        return _ATTACHED.pack(self.number, self.stamp, len(self.gid), self.gid)


def attached(data: bytes) -> Attached:
    """Raises ValueError for what is none."""
    if len(data) != _ATTACHED.size or data[16] != GID:
        raise ValueError("what goes with this message is not as rmw_zenoh writes it")
    number, stamp, _, gid = _ATTACHED.unpack(data)
    return Attached(number, stamp, gid)
