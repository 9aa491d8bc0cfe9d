from collections.abc import Callable
from typing import Any

class SubscriptionEventCallbacks:
    def __init__(self, *, incompatible_qos: Callable[[Any], None] | None = None) -> None: ...
