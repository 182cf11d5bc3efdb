"""Waiting with a limit. Not asyncio.wait_for: before Python 3.12 that one may swallow a cancellation."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def result_within(what: Coroutine[Any, Any, T], seconds: float) -> T:
    """Raises asyncio.TimeoutError, and whatever it raises. It is cancelled where it takes longer."""
    task = asyncio.create_task(what)
    try:
        done, _ = await asyncio.wait([task], timeout=seconds)
        if done:
            return task.result()
        raise asyncio.TimeoutError
    finally:
        task.cancel()
