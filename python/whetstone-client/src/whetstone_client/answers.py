"""Reads answers of a server that is not trusted: so many bytes, until a deadline, in the form of a Whetstone server."""

import re
import time
from collections.abc import AsyncIterator
from typing import Any, TypeVar

import httpx
from pydantic import TypeAdapter, ValidationError

from whetstone_client.errors import AnswerError

T = TypeVar("T")

DAY_S = 86_400.0
_REFUSAL_BYTES_MAX = 1_000_000  # longer ones are not from this server
# A name is one segment of a path. `.` and `..` cannot be: addresses resolve them, so that another route would be reached.
_NO_SEGMENTS = ("", ".", "..")


def segment(name: str) -> str:
    if name in _NO_SEGMENTS:
        raise ValueError(f"A name in the path of a request cannot be {name!r}.")
    return name


def refuse_coding(response: httpx.Response) -> None:
    """The request asked for none: a few compressed bytes could become gigabytes."""
    coding = response.headers.get("content-encoding", "")
    if coding.lower() not in ("", "identity"):
        raise AnswerError(f"The answer has the content-encoding {coding[:100]!r}, which was not asked for.")


async def chunks_of(response: httpx.Response, until: float | None = None) -> AsyncIterator[bytes]:
    """`until`: a time of `time.monotonic`; None: in a day. The pause between two chunks has the client's own timeout."""
    end = time.monotonic() + DAY_S if until is None else until
    async for chunk in response.aiter_bytes():
        if time.monotonic() > end:
            raise httpx.ReadTimeout("The answer did not end in time.", request=response.request)
        yield chunk


async def read_whole(response: httpx.Response, bytes_max: int) -> bytes:
    content = bytearray()
    async for chunk in chunks_of(response):
        content += chunk
        if len(content) > bytes_max:
            raise AnswerError(
                f"The answer has more than {bytes_max} bytes. If it may be that long, raise answer_bytes_max of the client."
            )
    return bytes(content)


async def read_start(response: httpx.Response) -> str:
    """The beginning of a refusal, as text."""
    refuse_coding(response)
    content = bytearray()
    async for chunk in chunks_of(response):
        content += chunk
        if len(content) > _REFUSAL_BYTES_MAX:
            break
    return content.decode(errors="replace")


def parse_answer(kind: type[T], content: bytes | str) -> T:
    try:
        return TypeAdapter(kind).validate_json(content)
    except ValidationError as error:
        raise _not_whetstone(error) from error


def parse_value(kind: Any, value: Any) -> Any:
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        raise _not_whetstone(error) from error


def _not_whetstone(error: ValidationError) -> AnswerError:
    return AnswerError(f"The answer is not that of a Whetstone server: {error}")


def visible(text: str) -> str:
    """Without characters that would move a terminal's cursor, change colours or turn the direction of writing."""
    return re.sub("(?:(?![\n\t])[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069])+", " ", text)
