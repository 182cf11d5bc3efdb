"""When to retry a request and how long to pause, for all operations that must survive a restart of the server."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from typing import TypeVar

import httpx

from whetstone_client.errors import ApiError

T = TypeVar("T")
OnConnection = Callable[[Exception | None], None]

_FIRST_PAUSE_S = 0.5
_PAUSE_S_MAX = 8.0
_ASKED_PAUSE_S_MAX = 60.0  # if the server asks for a longer pause, retry after this one


def _refused_unless(*retried: int) -> Callable[[BaseException], bool]:
    def is_refused(error: BaseException) -> bool:
        if isinstance(error, ApiError) and error.code in ("redirect", "damaged_data"):  # a retry would read the same bytes
            return True
        # errors of the openai package have the status in `status_code`
        status = getattr(error, "status", None) or getattr(error, "status_code", None)
        return isinstance(status, int) and 400 <= status < 500 and status not in retried

    return is_refused


is_refusal = _refused_unless(408, 409, 425, 429)
"""Whether a retry would be refused again."""

is_refused_push = _refused_unless(408)
"""Whether a push ends with this error. Unlike elsewhere, 409 and 429 do: the name is taken, or the quota is full."""


SHORT_ATTEMPTS = 6
"""Of a short request that may be sent again: they pause for 15 seconds in total, which is enough for a server to restart."""

_is_refused_short = _refused_unless(408, 425, 429)


def is_no_outage(error: BaseException) -> bool:
    """Whether a short request ends with this error: it was refused, or the server took too long for it."""
    return _is_refused_short(error) or isinstance(error, httpx.ReadTimeout)


async def pause_before(attempt: int, error: BaseException | None) -> None:
    """Doubles the pause after each attempt; a pause that the server asks for takes precedence."""
    asked = error.retry_after_s if isinstance(error, ApiError) else None
    own = min(_PAUSE_S_MAX, _FIRST_PAUSE_S * 2 ** max(0, attempt - 1))
    await asyncio.sleep(own if asked is None else min(asked, _ASKED_PAUSE_S_MAX))


async def insist(
    ask: Callable[[], Awaitable[T]],
    on_connection: OnConnection | None = None,
    attempts_max: float = math.inf,
    is_final: Callable[[BaseException], bool] = is_refusal,
) -> T:
    """Retries until the request succeeds, an error is final, or this many attempts have failed. The caller sets the deadline.

    `on_connection` is called with the error of each failed attempt that is retried, and with None after a later one succeeds.
    """
    attempt = 1
    while True:
        try:
            answer = await ask()
        except (ApiError, httpx.TransportError) as error:
            if is_final(error) or attempt >= attempts_max:
                raise
            if on_connection:
                on_connection(error)
            await pause_before(attempt, error)
            attempt += 1
            continue
        if attempt > 1 and on_connection:
            on_connection(None)
        return answer
