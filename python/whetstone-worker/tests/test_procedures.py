"""The procedures of a trainer, with engines that fail."""

import asyncio
import os
from typing import Any, cast

import pytest
import torch

from whetstone_worker.calls import Call
from whetstone_worker.compute import ComputeThread
from whetstone_worker.procedures import TrainerProcedures

FRESH = {"from": None, "lora": {"rank": 2, "alpha": 4, "seed": 1}, "resetOptimizer": False, "headTokensMax": None}


class EndedError(Exception):
    pass


class BrokenEngine:
    def open(self, *_: object) -> None:
        raise torch.AcceleratorError("CUDA error: an illegal memory access was encountered")


def test_a_device_that_computes_nothing_more_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def end(code: int) -> None:
        raise EndedError(code)

    async def scene() -> None:
        trainer = TrainerProcedures(cast(Any, BrokenEngine()), ComputeThread(), cast(Any, None))
        with pytest.raises(EndedError, match="1"):
            await trainer.open(FRESH, cast(Call, None))

    monkeypatch.setattr(os, "_exit", end)
    asyncio.run(scene())


def test_the_time_of_work_is_known_while_it_goes_on() -> None:
    async def scene() -> None:
        compute = ComputeThread()
        assert compute.busy_seconds == 0
        assert await compute.run(lambda: compute.busy_seconds) > 0
        while compute.busy_seconds > 0:
            await asyncio.sleep(0.001)

    asyncio.run(scene())
