"""Numbered messages that survive the loss of a connection (docs/worker-protocol.md, section 2): unacknowledged messages are
kept and sent again on the next connection, messages already received are ignored. The counterpart of numbered-channel.ts.
Does not know WebSockets, and runs on one event loop.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from whetstone_worker.messages import decode_message, encode_message

PROTOCOL_FAULT = 4002
"""The received bytes are not a frame."""
ACK_AFTER_SECONDS = 1.0
ACK_AFTER_BYTES = 1 << 20


class Connection(Protocol):
    """What a channel needs of a WebSocket. Both methods return at once."""

    def send(self, data: bytes) -> None: ...

    def close(self, code: int, reason: str) -> None: ...


class Timer(Protocol):
    def cancel(self) -> None: ...


class NumberedChannel:
    """`call_later`: that of the event loop."""

    def __init__(
        self,
        unacked_bytes_max: int,
        receive: Callable[[Any], None],
        call_later: Callable[[float, Callable[[], None]], Timer],
    ) -> None:
        self.received = 0
        """The highest number received: the other end need not send these messages again."""
        self._unacked_bytes_max = unacked_bytes_max
        self._receive = receive
        self._call_later = call_later
        self._sent = 0
        self._kept: deque[tuple[int, bytes]] = deque()
        self._kept_bytes = 0
        self._room = asyncio.Event()
        self._room.set()
        self._connection: Connection | None = None
        self._owed_bytes = 0
        self._ack_timer: Timer | None = None

    async def wait_for_room(self) -> None:
        """Waits until the unacknowledged messages are below the limit. Cancelled when the session ends."""
        await self._room.wait()

    def send(self, message: object) -> None:
        """Raises TypeError, and sends nothing, if the message cannot be encoded."""
        data = encode_message([self._sent + 1, self.received, message])
        self._sent += 1
        self._acknowledged()
        self._kept.append((self._sent, data))
        self._kept_bytes += len(data)
        self._note_room()
        if self._connection:
            self._connection.send(data)

    def attach(self, connection: Connection, other_received: int) -> None:
        """From now on messages go to this connection, starting after the last one that the other end received."""
        self._connection = connection
        self._forget(other_received)
        for _, data in self._kept:
            connection.send(data)

    def detach(self) -> None:
        """The connection is lost; messages wait for the next one."""
        self._connection = None
        self._acknowledged()

    def take(self, data: bytes) -> None:
        """Handles bytes received on the attached connection. Closes it if they are not a frame."""
        try:
            seq, ack, message = self._read_frame(data)
        except ValueError as fault:
            if self._connection:
                self._connection.close(PROTOCOL_FAULT, f"invalid frame: {fault}"[:120])
            return
        self._forget(ack)
        if seq != self.received + 1:  # already received, or only an acknowledgement
            return
        self.received = seq
        self._owe(len(data))
        self._receive(message)

    def _read_frame(self, data: bytes) -> tuple[int, int, Any]:
        frame = decode_message(data)
        if not isinstance(frame, list) or len(frame) != 3 or not _is_count(frame[0]) or not _is_count(frame[1]):
            raise ValueError("a frame must be [seq, ack, message]")
        seq, ack, message = frame
        if ack > self._sent:
            raise ValueError(f"message {ack} was acknowledged, but only {self._sent} were sent")
        if seq > self.received + 1:
            raise ValueError(f"message {seq} arrived after message {self.received}")
        return seq, ack, message

    def _forget(self, ack: int) -> None:
        while self._kept and self._kept[0][0] <= ack:
            self._kept_bytes -= len(self._kept.popleft()[1])
        self._note_room()

    def _note_room(self) -> None:
        if self._kept_bytes > self._unacked_bytes_max:
            self._room.clear()
        else:
            self._room.set()

    def _owe(self, size: int) -> None:
        self._owed_bytes += size
        if self._owed_bytes > ACK_AFTER_BYTES:
            self._acknowledge()
        elif self._ack_timer is None:
            self._ack_timer = self._call_later(ACK_AFTER_SECONDS, self._acknowledge)

    def _acknowledge(self) -> None:
        self._acknowledged()
        if self._connection:
            self._connection.send(encode_message([0, self.received, None]))

    def _acknowledged(self) -> None:
        self._owed_bytes = 0
        if self._ack_timer:
            self._ack_timer.cancel()
        self._ack_timer = None


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
