"""Parses server-sent events. `iter_lines` of httpx is not usable: it also splits at U+2028, which JSON may contain."""

from collections.abc import AsyncIterator

_EVENT_BYTES_MAX = 64 * 1024 * 1024  # limits memory if a server never ends an event


async def read_events(body: AsyncIterator[bytes]) -> AsyncIterator[tuple[str | None, str]]:
    """Yields the id and the data of each event. Skips comments and an incomplete last event. Raises ValueError."""
    event_id: str | None = None
    data: list[str] = []
    async for line in _lines(body):
        if not line:
            if data:
                yield event_id, "\n".join(data)
            event_id, data = None, []
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "id":
            event_id = value


async def _lines(body: AsyncIterator[bytes]) -> AsyncIterator[str]:
    rest = bytearray()
    async for piece in body:
        rest += piece
        if b"\n" not in piece:
            if len(rest) > _EVENT_BYTES_MAX:
                raise ValueError(f"a server-sent event is over {_EVENT_BYTES_MAX} bytes")
            continue
        *lines, last = rest.split(b"\n")
        rest = last
        for line in lines:
            yield line.removesuffix(b"\r").decode()
