"""How the next token is taken."""

from __future__ import annotations

import math
from typing import NamedTuple

from bt_runtime.faults.diagnostic import BtError


class Style(NamedTuple):
    """Temperature 0 takes the likeliest token; otherwise the seed decides, whatever else is in the batch."""

    temperature: float = 0.0
    top_p: float = 1.0
    min_p: float = 0.0
    seed: int = 0

    def checked(self) -> Style:
        """As it is, or a fault that names what no answer could be sampled by."""
        for name, most in (("temperature", math.inf), ("top_p", 1.0), ("min_p", 1.0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
                raise BtError(f"{name} is {value!r:.40}", f"{name} takes 0 {'or more' if most > 1 else 'to 1'}")
        if math.isinf(self.temperature):
            raise BtError("temperature is inf", "0 takes the likeliest, 1 samples as the model says, 2 is wild")
        if type(self.seed) is not int or self.seed < 0:
            raise BtError(f"seed is {self.seed!r:.40}", "a seed is a whole number, 0 or more")
        return self
