"""One event loop in its own thread, so that synchronous code can wait for coroutines, also in notebooks, which run a loop."""

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")

_THREAD = "whetstone-client"


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name=_THREAD, daemon=True).start()
    return loop


def run_in_background(coroutine: Coroutine[Any, Any, T]) -> T:
    """Waits for the coroutine. Ctrl-C cancels it."""
    if threading.current_thread().name == _THREAD:
        coroutine.close()
        raise RuntimeError(
            "A callback of a client must not call the client: store what it receives, and call the client later."
        )
    future = asyncio.run_coroutine_threadsafe(coroutine, _loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


def iterate_in_background(items: AsyncIterator[T]) -> Iterator[T]:
    end = object()

    async def following() -> T | object:
        return await anext(items, end)

    while (item := run_in_background(following())) is not end:
        yield item  # type: ignore[misc]
