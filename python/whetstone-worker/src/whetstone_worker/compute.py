"""The one thread on which an engine computes, in order of submission, so that the event loop stays free to answer pings.
Does not know the engine.
"""

import asyncio
import queue
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class ComputeThread:
    """A daemon thread: work that hangs does not keep the process alive."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = queue.SimpleQueue()
        self._began: float | None = None
        threading.Thread(target=self._compute, name="compute", daemon=True).start()

    @property
    def busy_seconds(self) -> float:
        """For how long the work that is being done has been going on; 0 if there is none."""
        began = self._began
        return 0.0 if began is None else time.monotonic() - began

    def run(self, work: Callable[[], T]) -> Awaitable[T]:
        """Cancelling the returned awaitable withdraws work that has not begun; work that has begun runs to its end."""
        done: Future[T] = Future()
        self._work.put((done, work))
        return asyncio.wrap_future(done)

    def _compute(self) -> None:
        while True:
            done, work = self._work.get()
            if not done.set_running_or_notify_cancel():
                continue
            self._began = time.monotonic()
            try:
                result = work()
            except BaseException as fault:  # any failure is passed to the caller
                done.set_exception(fault)
            else:
                done.set_result(result)
            finally:
                self._began = None
