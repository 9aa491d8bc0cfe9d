from collections.abc import Sequence

class UUID:
    def __init__(self, *, uuid: Sequence[int] = ...) -> None: ...
    uuid: Sequence[int]
