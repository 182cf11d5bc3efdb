"""When a loop of RL jobs ends because its model gets no better.

The rules are those of `early_stopping_patience` in SFT and DPO jobs, and of Transformers: any improvement is the new best; one
by more than the threshold begins the count of evaluations anew. Knows numbers only: who evaluates is the business of the loop.
"""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Evaluated:
    """What the checkpoint of a step was worth."""

    step: int
    value: float


@dataclass
class EarlyStopping:
    patience: int
    """Evaluations without improvement after which the loop ends."""
    threshold: float = 0.0
    """What an improvement must be more than."""
    greater_is_better: bool = True
    """False for a loss."""
    best: Evaluated | None = None
    """So far; None: nothing was a number."""
    without_improvement: int = 0
    """Evaluations since one was better by more than the threshold."""

    def __post_init__(self) -> None:
        if self.patience < 1:
            raise ValueError(f"patience must be a whole number from 1, not {self.patience}.")
        if not self.threshold >= 0:
            raise ValueError(f"threshold must be a number from 0, not {self.threshold}.")

    def report(self, step: int, value: float | None) -> bool:
        """After the evaluation of the checkpoint of this step. True: the loop should end. No number is no improvement."""
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
