"""When a training loop ends: the same cases as in src/client/early-stopping.test.ts."""

import asyncio
import math

import httpx
import pytest

from whetstone_client import AsyncClient, EarlyStopping
from whetstone_client.early_stopping import Evaluated


@pytest.mark.parametrize(
    ("values", "stopping", "at", "best"),
    [
        ([0.1, 0.5, 0.4, 0.5, 0.9], EarlyStopping(2), 3, 1),
        ([0.1, 0.05, 0.2, 0.1, 0.3], EarlyStopping(2), None, 4),
        ([0.5, 0.55, 0.58], EarlyStopping(2, threshold=0.1), 2, 2),
        ([0.25, 0.5, 0.75], EarlyStopping(1, threshold=0.25), 1, 1),
        ([2, 1, 3, 4], EarlyStopping(2, greater_is_better=False), 3, 1),
        ([0.5, None, math.nan], EarlyStopping(2), 2, 0),
    ],
)
def test_a_loop_ends_when_nothing_improves(
    values: list[float | None], stopping: EarlyStopping, at: int | None, best: int
) -> None:
    stopped = next((step for step, value in enumerate(values) if stopping.report(step, value)), None)
    value = values[best]
    assert value is not None
    assert (stopped, stopping.best) == (at, Evaluated(best, value))


@pytest.mark.parametrize(("patience", "threshold"), [(0, 0.0), (1, -1.0)])
def test_settings_out_of_range_are_refused(patience: int, threshold: float) -> None:
    with pytest.raises(ValueError, match="must be"):
        EarlyStopping(patience, threshold)


def test_the_best_checkpoint_is_the_oldest_of_the_best() -> None:
    rewards = [None, 0.5, 0.9, 0.9]
    rows = [
        {"id": str(step), "step": step, "metrics": {} if reward is None else {"val/reward": reward}}
        for step, reward in enumerate(rewards)
    ]

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"object": "list", "data": rows, "last_id": "3", "has_more": False})

    async def check() -> None:
        async with AsyncClient("http://server", "k", transport=httpx.MockTransport(answer)) as client:
            assert await client.best_checkpoint("m", "val/reward") == Evaluated(2, 0.9)
            assert await client.best_checkpoint("m", "val/reward", greater_is_better=False) == Evaluated(1, 0.5)
            assert await client.best_checkpoint("m", "val/loss") is None

    asyncio.run(check())
