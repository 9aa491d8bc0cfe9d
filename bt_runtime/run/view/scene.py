"""A picture of a world's present state as data for the page: the world's own picture (`Pictured`), or its text.

`{"is": "house", rooms, at, hands}`, `{"is": "bag", goal, bag, recipes}`, `{"is": "map", …}` (a floor from above, see
`page/ground.js`), `{"is": "image", png, text}` or `{"is": "text", text}`. Anything unknown is shown as text.
"""

from __future__ import annotations

import base64
import struct
import zlib

from bt_runtime.run.view.plain import clipped, plain
from bt_runtime.types import Filmed, Json, Looking, Pictured

MOST_IMAGE = 8_000_000  # characters of a picture in base64


def picture(world: object) -> Json:
    """A picture of the world, or None when it has none. An error while drawing is shown instead of the picture. The
    value is not bounded yet; the caller bounds it outside the tick."""
    if world is None:
        return None
    try:
        return world.picture() if isinstance(world, Pictured) else _seen(world)
    except Exception as error:
        return {"is": "text", "text": f"The world cannot be looked at: {type(error).__name__}: {error}"}


def bounded(seen: Json) -> Json:
    """Returns a value that may be sent to a page: an image up to `MOST_IMAGE`, others as plain values."""
    if not isinstance(seen, dict) or seen.get("is") != "image":
        return plain(seen)
    drawn = seen.get("png")
    if not isinstance(drawn, str) or len(drawn) > MOST_IMAGE:
        return {"is": "text", "text": "The world's picture is too large to be shown, or is none."}
    return {"is": "image", "png": drawn, "text": clipped(str(seen.get("text", "")))}


def _seen(world: object) -> Json:
    frame = world.frame() if isinstance(world, Filmed) else None
    text = clipped(world.look().text if isinstance(world, Looking) else "")
    if frame is not None:
        return image(frame.width, frame.height, frame.rgb, text)
    return {"is": "text", "text": text} if text else None


def image(width: int, height: int, rgb: bytes, text: str = "") -> dict[str, str]:
    """Returns an image in the form that the page draws."""
    return {"is": "image", "png": base64.b64encode(png(width, height, rgb)).decode("ascii"), "text": text}


def png(width: int, height: int, rgb: bytes) -> bytes:
    """Encodes a PNG. Rows go from the top, with three bytes a pixel."""
    rows = b"".join(b"\0" + rgb[i : i + 3 * width] for i in range(0, 3 * width * height, 3 * width))
    parts = (
        (b"IHDR", struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in parts
    )
