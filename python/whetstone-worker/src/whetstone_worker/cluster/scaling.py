"""How many samplers there should be for what a server has to do. Pure: the clock is an argument.

Two steps. What is needed at this moment follows from the choices that run and wait and from how many a sampler computes at
once. What is done follows from the needs of the last seconds and minutes: samplers take a minute to start and have to compute
every prompt anew, so a moment's need starts nobody and a moment's rest stops nobody. The windows are those of Kubernetes'
HorizontalPodAutoscaler (`stabilizationWindowSeconds`): the least need of the short one may start, the greatest of the long one
may stop.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

USE = 0.8
"""Of what samplers can compute at once, that is planned with: requests come in whole, and do not fit into every gap."""


@dataclass(frozen=True)
class Bounds:
    least: int
    most: int

    def within(self, count: int) -> int:
        return max(self.least, min(self.most, count))


@dataclass(frozen=True)
class Load:
    """In choices: sequences that are sampled."""

    running: int
    waiting: int
    """In the server: no sampler had room."""
    capacity: int | None
    """Of one sampler. None: none has said so far."""


@dataclass(frozen=True)
class Windows:
    up_seconds: float = 15.0
    down_seconds: float = 300.0


@dataclass(frozen=True)
class Need:
    at: float
    """Seconds."""
    samplers: int


def samplers_needed(load: Load, bounds: Bounds) -> int:
    demand = load.running + load.waiting
    if demand == 0:
        return bounds.least
    if load.capacity is None:
        return bounds.within(1)
    return bounds.within(math.ceil(demand / (load.capacity * USE)))


def keep_recent(needs: Sequence[Need], now: float, windows: Windows) -> list[Need]:
    """With the newest one from before the windows: it says that they are full."""
    begin = now - max(windows.up_seconds, windows.down_seconds)
    before = [need for need in needs if need.at <= begin]
    return before[-1:] + [need for need in needs if need.at > begin]


def choose_count(current: int, needs: Sequence[Need], now: float, bounds: Bounds, windows: Windows) -> int:
    """`needs`: oldest first. Bounds hold at once."""
    current = bounds.within(current)
    if (least := _extreme(min, needs, now - windows.up_seconds)) is not None and least > current:
        return bounds.within(least)
    if (greatest := _extreme(max, needs, now - windows.down_seconds)) is not None and greatest < current:
        return bounds.within(greatest)
    return current


def _extreme(of: Callable[[Iterable[int]], int], needs: Sequence[Need], since: float) -> int | None:
    """None: what is known does not reach back so far. What was needed when the window began counts."""
    before = [need for need in needs if need.at <= since]
    return of(need.samplers for need in [*before[-1:], *needs[len(before) :]]) if before else None
