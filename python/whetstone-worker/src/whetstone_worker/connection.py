"""The worker's end of the connection: dials the server, announces the worker, resumes the session after a lost connection,
starts a new session if the server has forgotten the old one, and leaves without interrupting running calls
(docs/worker-protocol.md, sections 1 to 3 and 7). The counterpart of dial-server.ts. Does not know the engine: `handlers`
execute the calls.
"""

import asyncio
import logging
import uuid
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import Any

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, WebSocketException

from whetstone_worker.calls import CallServer, Handler
from whetstone_worker.channel import NumberedChannel
from whetstone_worker.connection_socket import (
    NotReachedError,
    SocketConnection,
    Welcome,
    dial,
    explain_dial_fault,
    greet,
)
from whetstone_worker.waiting import result_within

PROTOCOL = 1
PAUSES = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
LEAVE_SECONDS = 600.0
"""How long running calls may take after the worker is asked to stop. Enough for a long row. A second signal exits at once."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ConnectionOptions:
    url: str
    """The server's address: `http://host:8484`, with its base path if it has one."""
    key: str
    name: str
    version: str
    hello: Mapping[str, object]
    """`model`, `roles`, `sampler` and `trainer`."""
    handlers: Mapping[str, Handler]
    forget: Callable[[], None]
    """Called when the server has forgotten the session, so that the handlers can drop its state."""
    busy: Callable[[], str | None] = lambda: None
    """Why a new session cannot begin yet: calls of a forgotten one may still compute. None: it can."""
    pauses: tuple[float, ...] = PAUSES
    """Seconds before each reconnect: first after a lost connection, then one further per failed attempt; the last repeats."""


class Session:
    """The state that survives the loss of a connection."""

    def __init__(self, welcome: Welcome, handlers: Mapping[str, Handler]) -> None:
        self.id = welcome.session
        self.channel = NumberedChannel(welcome.unacked_bytes_max, self._take, asyncio.get_running_loop().call_later)
        self.calls = CallServer(handlers, self.channel.send, self.channel.wait_for_room)

    def _take(self, message: Any) -> None:
        self.calls.take(message)


class ServerConnection:
    """Maintained by `run` until `leave` is called."""

    def __init__(self, options: ConnectionOptions) -> None:
        self._options = options
        self._worker_id = uuid.uuid4().hex
        self._session: Session | None = None
        self._leaving = asyncio.Event()
        self._has_said_so = asyncio.Event()

    def leave(self) -> None:
        """Accepts no new calls, finishes the running ones, and then lets `run` return."""
        self._leaving.set()

    async def until_draining(self) -> None:
        """Waits, after `leave`, until the server knows that the worker is leaving. This requires a connection."""
        await self._has_said_so.wait()

    @property
    def session_id(self) -> str | None:
        """None if there is no session."""
        return self._session.id if self._session else None

    def notify(self, name: str, payload: object) -> bool:
        """Returns False if there is no session to send it in."""
        if self._session is None:
            return False
        self._session.channel.send({"kind": "notice", "name": name, "payload": payload})
        return True

    async def run(self) -> None:
        """Raises RefusedError if another attempt cannot succeed."""
        failures = 0
        try:
            while not self._leaving.is_set():
                try:
                    if self._session is None and (cause := self._options.busy()):
                        raise NotReachedError(cause)
                    await self._connect_once()
                    failures = 0
                except NotReachedError as fault:
                    log.warning("Not connected to %s: %s", self._options.url, fault)
                    failures += 1
                pause = self._options.pauses[min(failures, len(self._options.pauses) - 1)]
                with suppress(asyncio.TimeoutError):
                    await result_within(self._leaving.wait(), pause)
        finally:
            self._abandon()

    async def _connect_once(self) -> None:
        """Returns when an accepted connection has ended. Raises RefusedError and NotReachedError."""
        async with AsyncExitStack() as stack:
            try:
                socket = await stack.enter_async_context(dial(self._options.url, self._options.key))
            except (OSError, WebSocketException, asyncio.TimeoutError) as fault:
                raise explain_dial_fault(fault) from fault
            session = self._session
            welcome = await greet(socket, self._hello(session))
            if session is None or not welcome.resumed:
                self._abandon()
                if cause := self._options.busy():
                    await socket.close(1000, "busy")
                    raise NotReachedError(cause)
                session = self._session = Session(welcome, self._options.handlers)
            log.info("Connected to %s.", self._options.url)
            await self._hold(socket, session, welcome)

    async def _hold(self, socket: ClientConnection, session: Session, welcome: Welcome) -> None:
        connection = SocketConnection(socket)
        session.channel.attach(connection, welcome.received)
        tasks = [
            asyncio.create_task(part)
            for part in (
                _pass_on(connection, session.channel),
                connection.write(),
                connection.watch_silence(welcome.heartbeat_seconds),
                self._leave_when_asked(connection, session),
            )
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        except ConnectionClosed as fault:
            log.warning("Lost the connection to %s: %s", self._options.url, fault)
        finally:
            session.channel.detach()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if self._leaving.is_set():
            await socket.close(1000, "left")

    async def _leave_when_asked(self, connection: SocketConnection, session: Session) -> None:
        await self._leaving.wait()
        log.info("Leaving %s when the running calls have finished.", self._options.url)
        self.notify("draining", None)
        self._has_said_so.set()
        with suppress(asyncio.TimeoutError):
            await result_within(session.calls.until_idle(), LEAVE_SECONDS)
        await connection.flush()

    def _hello(self, session: Session | None) -> dict[str, object]:
        options = self._options
        return {
            "kind": "hello",
            "protocol": PROTOCOL,
            "worker": {"id": self._worker_id, "name": options.name, "version": options.version},
            "session": session and {"id": session.id, "received": session.channel.received},
            **options.hello,
        }

    def _abandon(self) -> None:
        if self._session:
            self._session.calls.abandon()
            self._options.forget()
        self._session = None


async def _pass_on(connection: SocketConnection, channel: NumberedChannel) -> None:
    while True:
        channel.take(await connection.receive())
