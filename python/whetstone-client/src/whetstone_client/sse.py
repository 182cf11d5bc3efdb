"""Server-sent events out of a response body. `iter_lines` of httpx would cut at U+2028 too, which JSON may contain."""

from collections.abc import AsyncIterator

_EVENT_BYTES_MAX = 64 * 1024 * 1024  # a server that never ends an event must not fill the memory


async def read_events(body: AsyncIterator[bytes]) -> AsyncIterator[tuple[str | None, str]]:
    """The id and the data of each event, without comments and without what never ended."""
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
