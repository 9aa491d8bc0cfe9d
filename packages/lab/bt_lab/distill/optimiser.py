"""The optimisers: Muon for the matrices of the layers, AdamW for the embedding and the norms."""

from __future__ import annotations

from typing import Any

from bt_lab.distill.network import Network
from bt_lab.distill.torch_imports import torch

_EMBEDDING = "embedding.weight"
# An embedding moves slower by this. AdamW moves every number by the rate itself, however small its gradient is: the
# rows of rare tokens, which are only ever pushed away as answers, would soon be nothing that a head could find again.
_SLOW = 0.03


class Optimiser:
    """Both optimisers as one, with the same learning rate."""

    def __init__(self, network: Network, rate: float, decay: float) -> None:
        inner = [w for name, w in network.named_parameters() if w.dim() > 1 and name != _EMBEDDING]
        norms = [w for w in network.parameters() if w.dim() < 2]
        groups = [{"params": norms, "slow": 1.0}, {"params": [network.embedding.weight], "slow": _SLOW}]
        self.parts: tuple[Any, ...] = (
            torch.optim.Muon(inner, lr=rate, weight_decay=decay, adjust_lr_fn="match_rms_adamw"),
            torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.95), weight_decay=0.0, fused=True),
        )

    def step(self, rate: float) -> None:
        """Makes one step and clears the gradients."""
        for part in self.parts:
            for group in part.param_groups:
                group["lr"] = rate * group.get("slow", 1.0)
            part.step()
            part.zero_grad(set_to_none=True)

    def state(self) -> dict[str, Any]:
        return {str(i): part.state_dict() for i, part in enumerate(self.parts)}

    def restore(self, state: dict[str, Any]) -> None:
        for i, part in enumerate(self.parts):
            part.load_state_dict(state[str(i)])
