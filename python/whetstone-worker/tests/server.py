"""A simulated server for the worker protocol: it welcomes or refuses workers, sends calls, and breaks connections."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from whetstone_worker.channel import NumberedChannel
from whetstone_worker.connection_socket import SUBPROTOCOL
from whetstone_worker.messages import decode_message, encode_message

KEY = "wk-test"
PATIENCE = 30.0
"""Limit of a test's waits. Nothing is measured by it."""


class PlayedServer:
    def __init__(self) -> None:
        self.url = ""
        self.hellos: list[Any] = []
        self.came: asyncio.Queue[Any] = asyncio.Queue()
        """Messages received from the worker."""
        self.connected: asyncio.Queue[ServerConnection] = asyncio.Queue()
        """Each accepted connection, once."""
        self.closes: asyncio.Queue[int] = asyncio.Queue()
        """The close code of each ended connection."""
        self.refuse: Callable[[], dict[str, str] | None] = lambda: None
        """The answer to a hello instead of a welcome."""
        self.heartbeat_ms = 60_000
        self._channel: NumberedChannel | None = None
        self._sessions = 0

    def send(self, message: object) -> None:
        assert self._channel
        self._channel.send(message)

    def call(self, number: int, method: str, params: object = None) -> None:
        self.send({"kind": "call", "id": number, "method": method, "params": params})

    async def next(self) -> Any:
        return await asyncio.wait_for(self.came.get(), PATIENCE)

    async def next_connection(self) -> ServerConnection:
        return await asyncio.wait_for(self.connected.get(), PATIENCE)

    async def next_close(self) -> int:
        return await asyncio.wait_for(self.closes.get(), PATIENCE)

    def forget(self) -> None:
        """Forgets all sessions, like a restarted server."""
        self._channel = None

    async def accept(self, socket: ServerConnection) -> None:
        try:
            hello = decode_message(await socket.recv(decode=False))
            self.hellos.append(hello)
            if refusal := self.refuse():
                await socket.send(encode_message({"kind": "refused", **refusal}))
                return await socket.close(4000)
            await self._welcome(socket, hello["session"])
        except ConnectionClosed:
            pass
        finally:
            self.closes.put_nowait(socket.close_code or 1006)

    async def _welcome(self, socket: ServerConnection, session: Any) -> None:
        resumed = session is not None and self._channel is not None
        if self._channel is None or not resumed:
            self._sessions += 1
            self._channel = NumberedChannel(1 << 20, self.came.put_nowait, asyncio.get_running_loop().call_later)
        channel = self._channel
        welcome = {
            "kind": "welcome",
            "protocol": 1,
            "session": {"id": f"session-{self._sessions}", "received": channel.received},
            "resumed": resumed,
            "heartbeatMs": self.heartbeat_ms,
            "leaseMs": 60_000,
            "frameBytesMax": 64 << 20,
            "unackedBytesMax": 1 << 20,
        }
        await socket.send(encode_message(welcome))
        line = _Line(socket)
        channel.attach(line, session["received"] if resumed else 0)
        self.connected.put_nowait(socket)
        try:
            async for data in socket:
                assert isinstance(data, bytes)
                channel.take(data)
        finally:
            line.writing.cancel()


class _Line:
    def __init__(self, socket: ServerConnection) -> None:
        self._outgoing: asyncio.Queue[bytes] = asyncio.Queue()
        self.writing = asyncio.create_task(self._write(socket))

    def send(self, data: bytes) -> None:
        self._outgoing.put_nowait(data)

    def close(self, code: int, reason: str) -> None:
        raise AssertionError(f"{code} {reason}")

    async def _write(self, socket: ServerConnection) -> None:
        while True:
            await socket.send(await self._outgoing.get())


@asynccontextmanager
async def play_server() -> AsyncIterator[PlayedServer]:
    played = PlayedServer()

    def check_key(socket: ServerConnection, request: Request) -> Response | None:
        if request.path != "/base/v1/workers/connect":
            return socket.respond(404, "")
        return None if request.headers["authorization"] == f"Bearer {KEY}" else socket.respond(401, "")

    async with serve(
        played.accept, "127.0.0.1", 0, subprotocols=[SUBPROTOCOL], process_request=check_key, ping_interval=None
    ) as server:
        played.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/base/"
        yield played
