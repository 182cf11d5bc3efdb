"""The one thread on which an engine computes, in the order in which work was given to it: the event loop stays free to answer
pings. Knows no engine.
"""

import asyncio
import queue
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class ComputeThread:
    """A daemon: work that hangs does not hold up the end of the process."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = queue.SimpleQueue()
        threading.Thread(target=self._compute, name="compute", daemon=True).start()

    def run(self, work: Callable[[], T]) -> Awaitable[T]:
        """Cancelling what it gives takes back work that has not begun; work that has begun is done to its end."""
        done: Future[T] = Future()
        self._work.put((done, work))
        return asyncio.wrap_future(done)

    def _compute(self) -> None:
        while True:
            done, work = self._work.get()
            if not done.set_running_or_notify_cancel():
                continue
            try:
                result = work()
            except BaseException as fault:  # whatever it is, the waiter gets it
                done.set_exception(fault)
            else:
                done.set_result(result)
