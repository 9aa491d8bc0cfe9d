"""A picture of a world as it stands now, as data that the page draws: the world's own (`Pictured`), or what it shows.

`{"is": "house", rooms, at, hands}`, `{"is": "bag", goal, bag, recipes}`, `{"is": "image", png, text}` or
`{"is": "text", text}`. Anything unknown is shown as text.
"""

from __future__ import annotations

import base64
import struct
import zlib

from bt_runtime.types import Filmed, Json, Looking, Pictured
from bt_runtime.view.plain import clipped, plain


def picture(world: object) -> Json:
    """None when there is nothing to see. A world that breaks while it is looked at is shown as that."""
    if world is None:
        return None
    try:
        return plain(world.picture()) if isinstance(world, Pictured) else _seen(world)
    except Exception as error:
        return {"is": "text", "text": f"The world cannot be looked at: {type(error).__name__}: {error}"}


def _seen(world: object) -> Json:
    frame = world.frame() if isinstance(world, Filmed) else None
    text = clipped(world.look().text if isinstance(world, Looking) else "")
    if frame is not None:
        drawn = base64.b64encode(png(frame.width, frame.height, frame.rgb)).decode("ascii")
        return {"is": "image", "png": drawn, "text": text}
    return {"is": "text", "text": text} if text else None


def png(width: int, height: int, rgb: bytes) -> bytes:
    """Rows from the top, three bytes a pixel."""
    rows = b"".join(b"\0" + rgb[i : i + 3 * width] for i in range(0, 3 * width * height, 3 * width))
    parts = (
        (b"IHDR", struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in parts
    )
