"""Draws a scene from above as raw RGB bytes: floor, furniture, things, robot. Equal scenes give equal pixels."""

from __future__ import annotations

import math
import struct
import zlib

from bt_envs.alfred import kinds
from bt_envs.thor.scene import Scene

FLOOR, ROBOT, NOSE = b"\xe8\xe4\xdc", b"\x20\x60\xd0", b"\xff\xff\xff"
MARGIN = 0.5  # metres around the outermost things


def draw(scene: Scene, width: int, height: int) -> bytes:
    """Draws the scene; rows go from the bottom up, as the library expects: z grows upward in the picture."""
    picture = bytearray(FLOOR * (width * height))
    places = [(e["position"]["x"], e["position"]["z"]) for e in scene.objects.values()] + sorted(scene.stands)
    low_x, low_z = min(p[0] for p in places) - MARGIN, min(p[1] for p in places) - MARGIN
    span = max(max(p[0] for p in places) - low_x, max(p[1] for p in places) - low_z) + MARGIN
    scale = min(width, height) / span

    def square(x: float, z: float, half: float, colour: bytes) -> None:
        left, right = int((x - half - low_x) * scale), int((x + half - low_x) * scale) + 1
        low, high = int((z - half - low_z) * scale), int((z + half - low_z) * scale) + 1
        left, right = max(left, 0), min(right, width)
        for row in range(max(low, 0), min(high, height)):
            picture[3 * (row * width + left) : 3 * (row * width + right)] = colour * max(right - left, 0)

    flat = sorted(scene.objects.values(), key=lambda e: (e["pickupable"], e["position"]["y"]))
    for entry in flat:
        if not scene.hidden(entry):
            half = 0.06 if entry["pickupable"] else 0.22
            square(entry["position"]["x"], entry["position"]["z"], half, _colour(entry["objectType"]))
    square(scene.at.x, scene.at.z, 0.12, ROBOT)
    turn = math.radians(scene.turn)
    square(scene.at.x + 0.12 * math.sin(turn), scene.at.z + 0.12 * math.cos(turn), 0.05, NOSE)
    return bytes(picture)


def _colour(kind: str) -> bytes:
    """Returns a fixed colour for a kind; furniture is darker."""
    number = zlib.crc32(kind.encode())
    base = 60 if kind in kinds.FURNITURE else 110
    return bytes(base + (number >> shift) % 110 for shift in (0, 8, 16))


def png(width: int, height: int, rgb: bytes) -> bytes:
    """Encodes the pixels, rows from the top, as a PNG file."""
    rows = b"".join(b"\0" + rgb[3 * width * i : 3 * width * (i + 1)] for i in range(height))

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack("!I", len(body)) + name + body + struct.pack("!I", zlib.crc32(name + body))

    header = struct.pack("!IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = (chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)
