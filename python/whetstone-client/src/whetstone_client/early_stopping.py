"""When a loop of RL jobs should end because its model no longer improves.

The rules are those of `early_stopping_patience` in SFT and DPO jobs, and of Transformers: any improvement is the new best; one
by more than the threshold resets the count of evaluations. Knows numbers only: the loop itself evaluates.
"""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Evaluated:
    """The metric's value at the checkpoint of a step."""

    step: int
    value: float


@dataclass
class EarlyStopping:
    patience: int
    """Number of evaluations without improvement after which the loop ends."""
    threshold: float = 0.0
    """An improvement must be greater than this."""
    greater_is_better: bool = True
    """False for a loss, which should fall."""
    best: Evaluated | None = None
    """The best evaluation so far; None: there was no valid value."""
    without_improvement: int = 0
    """Number of evaluations since the last improvement by more than the threshold."""

    def __post_init__(self) -> None:
        if self.patience < 1:
            raise ValueError(f"patience must be a whole number from 1, not {self.patience}.")
        if not self.threshold >= 0:
            raise ValueError(f"threshold must be a number from 0, not {self.threshold}.")

    def report(self, step: int, value: float | None) -> bool:
        """Records the evaluation of a step's checkpoint; True: the loop should end. None and NaN are no improvement."""
        gain = math.nan
        if value is not None and math.isfinite(value):
            gain = gain_of(value, self.best, self.greater_is_better)
            if gain > 0:
                self.best = Evaluated(step, value)
        self.without_improvement = 0 if gain > self.threshold else self.without_improvement + 1
        return self.without_improvement >= self.patience


def gain_of(value: float, best: Evaluated | None, greater_is_better: bool) -> float:
    if best is None:
        return math.inf
    return value - best.value if greater_is_better else best.value - value
