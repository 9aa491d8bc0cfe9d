"""What moves the weights: Muon for the matrices of the layers, AdamW for the vocabulary and the norms; or AdamW alone.

Muon turns each update into its nearest orthogonal matrix, so that every direction learns at the same pace. Its steps
are scaled to the size of AdamW's, so that one rate serves both.
"""

from __future__ import annotations

from typing import Any

from bt_runtime.diagnose import BtError
from bt_runtime.distill.library import torch
from bt_runtime.distill.network import Network

KINDS = ("muon", "adamw")
_QUINTIC = (3.4445, -4.7750, 2.0315)  # drives all singular values to about one in five rounds
_ROUNDS = 5
_LIKE_ADAM = 0.2  # the root mean square of an update of AdamW


class Optimiser:
    """Both together, with one rate."""

    def __init__(self, network: Network, kind: str, rate: float, decay: float) -> None:
        if kind not in KINDS:
            raise BtError(f"there is no optimiser `{kind}`", f"there are {' and '.join(KINDS)}")
        inner = [w for w in network.blocks.parameters() if w.dim() > 1]
        outer = list({id(w): w for w in (network.embedding.weight, network.output.weight)}.values())
        norms = [w for w in network.parameters() if w.dim() < 2]
        matrices = outer if kind == "muon" else [*outer, *inner]
        groups = [{"params": matrices, "weight_decay": decay}, {"params": norms, "weight_decay": 0.0}]
        self.parts: list[Any] = [torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.95), fused=True)]
        if kind == "muon":
            self.parts.append(Muon(inner, rate, decay))

    def step(self, rate: float) -> None:
        """One step, after which there are no gradients."""
        for part in self.parts:
            for group in part.param_groups:
                group["lr"] = rate
            part.step()
            part.zero_grad(set_to_none=True)

    def state(self) -> list[Any]:
        return [part.state_dict() for part in self.parts]

    def restore(self, state: list[Any]) -> bool:
        """As it was; False when the state is of another optimiser."""
        try:
            for part, kept in zip(self.parts, state, strict=True):
                part.load_state_dict(kept)
        except (ValueError, KeyError, TypeError):
            return False
        return True


class Muon(torch.optim.Optimizer):  # type: ignore[misc]
    """Momentum, made orthogonal."""

    def __init__(self, weights: list[Any], rate: float, decay: float, momentum: float = 0.95) -> None:
        super().__init__(weights, {"lr": rate, "weight_decay": decay, "momentum": momentum})

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def step(self) -> None:
        for group in self.param_groups:
            for weight in group["params"]:
                state = self.state[weight]
                if not state:
                    state["momentum"] = torch.zeros_like(weight)
                moved = state["momentum"].lerp_(weight.grad, 1 - group["momentum"])
                update = orthogonal(weight.grad.lerp(moved, group["momentum"]))
                weight.mul_(1 - group["lr"] * group["weight_decay"])
                weight.add_(update, alpha=-group["lr"] * _LIKE_ADAM * max(weight.shape) ** 0.5)


def orthogonal(matrix: Any) -> Any:
    """The nearest matrix whose singular values are all about one (Newton-Schulz)."""
    a, b, c = _QUINTIC
    wide = matrix.bfloat16()
    if matrix.shape[0] > matrix.shape[1]:
        wide = wide.T
    wide = wide / (wide.norm() + 1e-7)
    for _ in range(_ROUNDS):
        square = wide @ wide.T
        wide = a * wide + (b * square + c * square @ square) @ wide
    return (wide.T if matrix.shape[0] > matrix.shape[1] else wide).to(matrix.dtype)
