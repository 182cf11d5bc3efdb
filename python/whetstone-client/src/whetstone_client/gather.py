"""Collects rollouts into groups: many run at once, and each is retried if that may help.

A rollout that fails is left out and counted. It never gets a reward of 0, which would teach the model that it did badly when
only the network failed.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from whetstone_client.background import run_in_background
from whetstone_client.retry import is_refusal, pause_before
from whetstone_client.wire import Trajectory, TrajectoryGroup

S = TypeVar("S")


@dataclass(frozen=True)
class Place:
    """Identifies a rollout, for example to derive its seed."""

    group: int
    rollout: int


@dataclass(frozen=True)
class RolloutFailure:
    group: int
    rollout: int
    error: Exception


@dataclass(frozen=True)
class GatherProgress:
    """Numbers of rollouts."""

    done: int
    failed: int
    total: int


@dataclass(frozen=True)
class Gathered:
    groups: list[TrajectoryGroup]
    """One group per scenario, in their order. The server also receives the failures."""
    reward: float
    """Mean reward of the trajectories that succeeded."""
    trajectories: int
    failures: list[RolloutFailure]


Played: TypeAlias = Trajectory | list[Trajectory]
"""Several trajectories if one request returned several choices (`n`)."""


async def gather_async(
    scenarios: Iterable[S],
    rollout: Callable[[S, Place], Awaitable[Played]],
    *,
    rollouts: int = 1,
    concurrency: int = 32,
    retries: int = 2,
    metadata: Callable[[S], dict[str, Any]] | None = None,
    on_progress: Callable[[GatherProgress], None] | None = None,
) -> Gathered:
    """Runs each scenario `rollouts` times. Raises RuntimeError if no rollout succeeds."""
    asked = list(scenarios)
    places = [Place(group, at) for group in range(len(asked)) for at in range(rollouts)]
    found: dict[Place, list[Trajectory]] = {}
    failures: list[RolloutFailure] = []
    waiting = iter(places)

    async def play() -> None:
        for place in waiting:
            try:
                found[place] = await _with_retries(lambda place=place: rollout(asked[place.group], place), retries)  # type: ignore[misc]
            except Exception as error:
                failures.append(RolloutFailure(place.group, place.rollout, error))
            if on_progress:
                on_progress(GatherProgress(len(found), len(failures), len(places)))

    await asyncio.gather(*(play() for _ in range(min(concurrency, len(places)))))
    if failures and not found:
        first = failures[0].error
        raise RuntimeError(f"All {len(failures)} rollouts failed, the first with: {first}") from first
    groups = [
        TrajectoryGroup(
            trajectories=[each for place in places if place.group == at for each in found.get(place, [])],
            exceptions=[_describe(failure.error) for failure in failures if failure.group == at],
            metadata=metadata(scenario) if metadata else {},
        )
        for at, scenario in enumerate(asked)
    ]
    rewards = [trajectory.reward for group in groups for trajectory in group.trajectories]
    return Gathered(groups, sum(rewards) / max(1, len(rewards)), len(rewards), failures)


def gather(
    scenarios: Iterable[S],
    rollout: Callable[[S, Place], Played],
    *,
    rollouts: int = 1,
    concurrency: int = 32,
    retries: int = 2,
    metadata: Callable[[S], dict[str, Any]] | None = None,
    on_progress: Callable[[GatherProgress], None] | None = None,
) -> Gathered:
    """`gather_async` for synchronous functions, each run in a thread."""
    with ThreadPoolExecutor(concurrency, "rollout") as threads:

        async def in_thread(scenario: S, place: Place) -> Played:
            return await asyncio.get_running_loop().run_in_executor(threads, rollout, scenario, place)

        return run_in_background(
            gather_async(
                scenarios,
                in_thread,
                rollouts=rollouts,
                concurrency=concurrency,
                retries=retries,
                metadata=metadata,
                on_progress=on_progress,
            )
        )


async def _with_retries(play: Callable[[], Awaitable[Played]], retries: int) -> list[Trajectory]:
    attempt = 1
    while True:
        try:
            played = await play()
            return [played] if isinstance(played, Trajectory) else list(played)
        except Exception as error:
            if attempt > retries or is_refusal(error):
                raise
            await pause_before(attempt, error)
            attempt += 1


def _describe(error: Exception) -> dict[str, str]:
    """Returns the format in which jobs show a failure."""
    return {"type": type(error).__name__, "message": str(error)}
