"""When to ask again, and for how long not to: for everything here that outlives a server's restart."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import httpx

from whetstone_client.errors import ApiError

T = TypeVar("T")

_FIRST_PAUSE_S = 0.5
_PAUSE_S_MAX = 8.0
_ASKED_PAUSE_S_MAX = 60.0  # a server that asks for more is answered with another try
_WORTH_ANOTHER_TRY = (408, 409, 425, 429)


def is_refusal(error: BaseException) -> bool:
    """Another try would meet it again. Errors of the openai package call the status `status_code`."""
    status = getattr(error, "status", None) or getattr(error, "status_code", None)
    return isinstance(status, int) and 400 <= status < 500 and status not in _WORTH_ANOTHER_TRY


async def pause_before(attempt: int, error: BaseException | None) -> None:
    """Twice as long after each try; what the server asks for goes before."""
    asked = error.retry_after_s if isinstance(error, ApiError) else None
    own = min(_PAUSE_S_MAX, _FIRST_PAUSE_S * 2 ** max(0, attempt - 1))
    await asyncio.sleep(own if asked is None else min(asked, _ASKED_PAUSE_S_MAX))


async def insist(ask: Callable[[], Awaitable[T]]) -> T:
    """Until it succeeds or is refused; whoever calls sets the deadline."""
    attempt = 1
    while True:
        try:
            return await ask()
        except (ApiError, httpx.TransportError) as error:
            if is_refusal(error):
                raise
            await pause_before(attempt, error)
            attempt += 1
