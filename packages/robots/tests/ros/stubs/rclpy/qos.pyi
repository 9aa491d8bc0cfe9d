from enum import IntEnum

class ReliabilityPolicy(IntEnum):
    SYSTEM_DEFAULT = 0
    RELIABLE = 1
    BEST_EFFORT = 2

class DurabilityPolicy(IntEnum):
    SYSTEM_DEFAULT = 0
    TRANSIENT_LOCAL = 1
    VOLATILE = 2

class QoSProfile:
    def __init__(
        self, *, depth: int = 0, reliability: ReliabilityPolicy = ..., durability: DurabilityPolicy = ...
    ) -> None: ...
