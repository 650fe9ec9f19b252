"""Learning rates for batch sizes other than the one they were tuned for."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass
class SquareRootScaler:
    """Scales with the square root of the batch size, as suits adaptive optimizers."""

    bs: int
    lr: float

    def compute_lr(self, new_bs: int) -> float:
        return self.lr * math.sqrt(new_bs / self.bs)


@dataclass
class LinearScaler:
    """Scales with the batch size, as suits stochastic gradient descent."""

    bs: int
    lr: float

    def compute_lr(self, new_bs: int) -> float:
        return self.lr * new_bs / self.bs
