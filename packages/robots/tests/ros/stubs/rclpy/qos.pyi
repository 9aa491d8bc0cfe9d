from enum import IntEnum

class DurabilityPolicy(IntEnum):
    SYSTEM_DEFAULT = 0
    TRANSIENT_LOCAL = 1
    VOLATILE = 2

class QoSProfile:
    def __init__(self, *, depth: int = 0, durability: DurabilityPolicy = ...) -> None: ...
