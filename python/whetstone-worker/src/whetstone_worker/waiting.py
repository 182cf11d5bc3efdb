"""Waits with a time limit. Replaces asyncio.wait_for, which may swallow a cancellation before Python 3.12."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def result_within(what: Coroutine[Any, Any, T], seconds: float) -> T:
    """Raises what the coroutine raises, and asyncio.TimeoutError after `seconds`, when it cancels the coroutine."""
    task = asyncio.create_task(what)
    try:
        done, _ = await asyncio.wait([task], timeout=seconds)
        if done:
            return task.result()
        raise asyncio.TimeoutError
    finally:
        task.cancel()
