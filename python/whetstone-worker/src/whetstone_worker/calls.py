"""Runs the server's calls: every call ends with one `return` or `throw`, after its events (docs/worker-protocol.md,
section 2). Does not know the procedures or the connection.
"""

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from whetstone_worker.errors import WorkerError

log = logging.getLogger(__name__)

Send = Callable[[object], None]


class Call:
    """A running call. Any thread may read `aborted`; everything else belongs to the event loop."""

    def __init__(self, emit: Callable[[object], None], wait_for_room: Callable[[], Awaitable[None]]) -> None:
        self.aborted = False
        """Whether the result is no longer needed."""
        self.emit = emit
        """Sends an event."""
        self.wait_for_room = wait_for_room
        """Returns when events can be sent. Await it before sending many."""
        self._on_abort: Callable[[], None] | None = None
        self._on_control: Callable[[Any], None] | None = None
        self._unheard: list[Any] = []

    def listen(self, on_abort: Callable[[], None], on_control: Callable[[Any], None]) -> None:
        """Registers the callbacks, and calls them for what arrived earlier."""
        self._on_abort, self._on_control = on_abort, on_control
        for payload in self._unheard:
            on_control(payload)
        if self.aborted:
            on_abort()

    def abort(self) -> None:
        self.aborted = True
        if self._on_abort:
            self._on_abort()

    def tell(self, payload: Any) -> None:
        if self._on_control:
            self._on_control(payload)
        else:
            self._unheard.append(payload)


Handler = Callable[[Any, Call], Awaitable[object]]
"""Executes a procedure: parameters in, result out."""


class CallServer:
    """`wait_for_room`: returns when a result can be sent."""

    def __init__(self, handlers: Mapping[str, Handler], send: Send, wait_for_room: Callable[[], Awaitable[None]]) -> None:
        self._handlers = handlers
        self._send = send
        self._wait_for_room = wait_for_room
        self._running: dict[int, tuple[Call, asyncio.Task[None]]] = {}
        self._events: list[dict[str, object]] = []
        """The events of this turn of the event loop, which are sent in one message."""

    def take(self, message: Any) -> None:
        match message:
            case {"kind": "call", "id": int(number), "method": str(method), "params": params}:
                call = Call(partial(self._emit, number), self._wait_for_room)
                self._running[number] = (call, asyncio.create_task(self._run(call, number, method, params)))
            case {"kind": "abort", "id": int(number)}:
                if running := self._running.get(number):  # otherwise it has just finished
                    running[0].abort()
            case {"kind": "tell", "id": int(number), "payload": payload}:
                if running := self._running.get(number):
                    running[0].tell(payload)
            case _:
                log.warning("Ignored an unknown message: %.80r", message)

    async def until_idle(self) -> None:
        """Waits until no call is running. The caller sets the time limit."""
        while self._running:
            await asyncio.wait([task for _, task in self._running.values()])

    def abandon(self) -> None:
        """Aborts all calls and sends nothing more, because the session is gone."""
        running, self._running = self._running, {}
        for call, task in running.values():
            call.aborted = True
            task.cancel()
        self._events.clear()

    async def _run(self, call: Call, number: int, method: str, params: Any) -> None:
        try:
            await self._wait_for_room()
            handler = self._handlers.get(method)
            if handler is None:
                raise WorkerError("invalid_request", f"This worker has no procedure {method!r:.40}.")
            value = await handler(params, call)
            self._send_events()
            self._send({"kind": "return", "id": number, "value": value})
        except Exception as fault:
            if not isinstance(fault, WorkerError):
                log.exception("The call %s failed.", method)
            self._send_events()
            self._send({"kind": "throw", "id": number, "error": to_wire_error(fault)})
        self._running.pop(number, None)

    def _emit(self, number: int, payload: object) -> None:
        if number not in self._running:  # the call was abandoned
            return
        if not self._events:
            asyncio.get_running_loop().call_soon(self._send_events)
        self._events.append({"id": number, "payload": payload})

    def _send_events(self) -> None:
        if self._events:
            events, self._events = self._events, []
            self._send({"kind": "events", "events": events})


def to_wire_error(fault: Exception) -> dict[str, object]:
    if not isinstance(fault, WorkerError):
        message = f"{type(fault).__name__}: {fault}"
        return _wire_error(None, message, detail="".join(traceback.format_exception(fault)))
    # A disk fault concerns this worker only: another worker may succeed.
    code = "engine_unavailable" if fault.code == "storage_unavailable" else fault.code
    cause = fault.__cause__
    return _wire_error(
        code,
        fault.message,
        param=fault.param,
        retry_after_seconds=fault.retry_after_seconds,
        detail="".join(traceback.format_exception(cause)) if cause else None,
    )


def _wire_error(
    code: str | None,
    message: str,
    *,
    param: str | None = None,
    retry_after_seconds: int | None = None,
    detail: str | None = None,
) -> dict[str, object]:
    return {"code": code, "message": message, "param": param, "retryAfterSeconds": retry_after_seconds, "detail": detail}
