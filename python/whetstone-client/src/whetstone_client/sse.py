"""Parses server-sent events. `iter_lines` of httpx is not usable: it also splits at U+2028, which JSON may contain."""

from collections.abc import AsyncIterator

from whetstone_client.errors import AnswerError

_EVENT_BYTES_MAX = 16 * 1024 * 1024  # limits memory if a server never ends an event


async def read_events(body: AsyncIterator[bytes]) -> AsyncIterator[tuple[str | None, str]]:
    """Yields the id and the data of each event. Skips comments and an incomplete last event. Raises AnswerError."""
    event_id: str | None = None
    data: list[str] = []
    size = 0
    async for line in _lines(body):
        if not line:
            if data:
                yield event_id, "\n".join(data)
            event_id, data, size = None, [], 0
            continue
        size = _checked(size + len(line))
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
            _checked(len(rest))
            continue
        *lines, last = rest.split(b"\n")
        rest = last
        for line in lines:
            yield line.removesuffix(b"\r").decode(errors="replace")


def _checked(size: int) -> int:
    if size > _EVENT_BYTES_MAX:
        raise AnswerError(f"a server-sent event is over {_EVENT_BYTES_MAX} bytes")
    return size
