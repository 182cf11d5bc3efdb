"""One WebSocket to a server: dialing, the handshake up to the welcome, and what a channel needs afterwards
(docs/worker-protocol.md, sections 1 and 3). Does not know sessions or calls.
"""

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

from whetstone_worker.messages import decode_message, encode_message
from whetstone_worker.waiting import result_within

SUBPROTOCOL = Subprotocol("whetstone.worker.v1")
FRAME_BYTES_MAX = 64 << 20
"""Limit for received messages. A worker's own messages are far shorter."""
HANDSHAKE_SECONDS = 10.0
SILENT_INTERVALS_MAX = 3

_HINTS = {
    401: "the key is not valid there",
    403: "the key needs the scope worker (`whetstone keys create --scopes worker`)",
    404: "this is not a Whetstone server that accepts workers",
}
_UPGRADE_REQUIRED = 426


class RefusedError(Exception):
    """Another attempt cannot succeed. The message is for the operator who started the worker."""


class NotReachedError(Exception):
    """Another attempt later may succeed."""


@dataclass(frozen=True)
class Welcome:
    session: str
    received: int
    """The number of the last message that the server received from this worker."""
    resumed: bool
    heartbeat_seconds: float
    unacked_bytes_max: int


def dial(url: str, key: str) -> AbstractAsyncContextManager[ClientConnection]:
    """Entering the context raises the exceptions that explain_dial_fault explains."""
    return connect(
        f"ws{url.rstrip('/').removeprefix('http')}/v1/workers/connect",
        subprotocols=[SUBPROTOCOL],
        additional_headers={"authorization": f"Bearer {key}"},
        compression=None,
        max_size=FRAME_BYTES_MAX,
        open_timeout=HANDSHAKE_SECONDS,
        ping_interval=None,  # watch_silence pings: the welcome sets the interval
    )


def explain_dial_fault(fault: Exception) -> RefusedError | NotReachedError:
    if isinstance(fault, InvalidStatus):
        status = fault.response.status_code
        if hint := _HINTS.get(status):
            return RefusedError(f"The server answered {status}: {hint}.")
        proxy = ": a proxy between them does not pass on WebSockets (the header Upgrade)" if status == _UPGRADE_REQUIRED else ""
        return NotReachedError(f"the server answered {status}{proxy}")
    return NotReachedError(str(fault) or type(fault).__name__)


async def greet(socket: ClientConnection, hello: Mapping[str, object]) -> Welcome:
    """Raises RefusedError and NotReachedError."""
    await socket.send(encode_message(hello))
    try:
        answer = decode_message(_binary(await result_within(socket.recv(), HANDSHAKE_SECONDS)))
    except asyncio.TimeoutError as fault:
        raise NotReachedError(f"the server did not answer the hello within {HANDSHAKE_SECONDS:.0f} s") from fault
    except ConnectionClosed as fault:
        raise NotReachedError(f"the server closed the connection before its welcome: {fault}") from fault
    except ValueError as fault:
        raise NotReachedError(f"the server's answer to the hello is not a message: {fault}") from fault
    return _read_welcome(answer)


def _read_welcome(answer: Any) -> Welcome:
    match answer:
        case {"kind": "refused", "code": "too_many_workers", "message": message}:
            raise NotReachedError(f"the server refuses this worker for now (too_many_workers): {message}")
        case {"kind": "refused", "code": code, "message": message}:
            raise RefusedError(f"The server refuses this worker ({code}): {message}")
        case {
            "kind": "welcome",
            "session": {"id": str(session), "received": int(received)},
            "resumed": bool(resumed),
            "heartbeatMs": int(heartbeat_ms),
            "unackedBytesMax": int(unacked_bytes_max),
        }:
            return Welcome(session, received, resumed, heartbeat_ms / 1000, unacked_bytes_max)
    raise NotReachedError(f"the server's answer to the hello is neither welcome nor refused: {answer!r:.200}")


class SocketConnection:
    """A channel's Connection over a WebSocket. Sent data is queued here for the network; the channel limits how much."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._outgoing: asyncio.Queue[bytes] = asyncio.Queue()
        self._closing: asyncio.Task[None] | None = None
        self.heard = False
        """Whether anything was received since this was last set to False."""

    def send(self, data: bytes) -> None:
        self._outgoing.put_nowait(data)

    def close(self, code: int, reason: str) -> None:
        self._closing = asyncio.create_task(self._socket.close(code, reason))

    async def write(self) -> None:
        """Sends until cancelled. Raises ConnectionClosed."""
        while True:
            await self._socket.send(await self._outgoing.get())
            self._outgoing.task_done()

    async def flush(self) -> None:
        """Waits until everything has been written."""
        await self._outgoing.join()

    async def receive(self) -> bytes:
        """Raises ConnectionClosed."""
        data = _binary(await self._socket.recv())
        self.heard = True
        return data

    async def watch_silence(self, interval: float) -> None:
        """Sends pings. Raises NotReachedError if nothing is received for three intervals."""
        silent = 0
        while silent < SILENT_INTERVALS_MAX:
            pong = asyncio.ensure_future(await self._socket.ping())
            pong.add_done_callback(self._note_pong)
            await asyncio.sleep(interval)
            silent = 0 if self.heard else silent + 1
            self.heard = False
        self._socket.transport.abort()
        raise NotReachedError(f"it was silent for {SILENT_INTERVALS_MAX * interval:g} s")

    def _note_pong(self, pong: "asyncio.Future[float]") -> None:
        if not pong.cancelled() and pong.exception() is None:
            self.heard = True


def _binary(message: str | bytes) -> bytes:
    return message if isinstance(message, bytes) else message.encode()
