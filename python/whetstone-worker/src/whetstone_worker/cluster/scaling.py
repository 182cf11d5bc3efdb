"""How many samplers a server's load needs. Pure: the time is an argument.

Two steps. The need at a moment follows from the running and waiting choices and from how many a sampler computes at once. The
decision follows from the needs of the last seconds and minutes: samplers take a minute to start and have to compute every
prompt again, so a momentary peak starts no sampler and a momentary lull stops none. The windows are those of Kubernetes'
HorizontalPodAutoscaler (`stabilizationWindowSeconds`): the lowest need in the short window may start samplers, the highest in
the long window may stop them.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

USE = 0.8
"""Planned utilisation of the samplers: requests are not split, so they do not fill every gap."""


@dataclass(frozen=True)
class Bounds:
    least: int
    most: int

    def within(self, count: int) -> int:
        return max(self.least, min(self.most, count))


@dataclass(frozen=True)
class Load:
    """In choices, that is, sequences being sampled."""

    running: int
    waiting: int
    """Choices queued in the server because no sampler had room."""
    capacity: int | None
    """Choices that one sampler computes at once. None: no sampler has reported it."""


@dataclass(frozen=True)
class Windows:
    up_seconds: float = 15.0
    down_seconds: float = 300.0


@dataclass(frozen=True)
class Need:
    at: float
    """In seconds."""
    samplers: int


def samplers_needed(load: Load, bounds: Bounds) -> int:
    demand = load.running + load.waiting
    if demand == 0:
        return bounds.least
    if load.capacity is None:
        return bounds.within(1)
    return bounds.within(math.ceil(demand / (load.capacity * USE)))


def keep_recent(needs: Sequence[Need], now: float, windows: Windows) -> list[Need]:
    """Also keeps the newest need from before the windows, which shows that the windows are fully covered."""
    begin = now - max(windows.up_seconds, windows.down_seconds)
    before = [need for need in needs if need.at <= begin]
    return before[-1:] + [need for need in needs if need.at > begin]


def choose_count(current: int, needs: Sequence[Need], now: float, bounds: Bounds, windows: Windows) -> int:
    """`needs`: oldest first. A change of the bounds takes effect at once."""
    current = bounds.within(current)
    if (least := _extreme(min, needs, now - windows.up_seconds)) is not None and least > current:
        return bounds.within(least)
    if (greatest := _extreme(max, needs, now - windows.down_seconds)) is not None and greatest < current:
        return bounds.within(greatest)
    return current


def _extreme(of: Callable[[Iterable[int]], int], needs: Sequence[Need], since: float) -> int | None:
    """Returns None if the needs do not reach back to `since`. Includes the need at the start of the window."""
    before = [need for need in needs if need.at <= since]
    return of(need.samplers for need in [*before[-1:], *needs[len(before) :]]) if before else None
