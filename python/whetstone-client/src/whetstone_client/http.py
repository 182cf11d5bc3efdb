"""HTTP requests to one server: adds the address and the key, and turns error responses into exceptions.

Redirects are not followed: neither the key nor what is sent reaches an address that the caller has not chosen.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel

from whetstone_client.answers import DAY_S, parse_answer, parse_value, read_whole, refuse_coding
from whetstone_client.errors import AnswerError
from whetstone_client.refusals import read_refusal

T = TypeVar("T")

TIMEOUT_S = 600.0  # large job bodies over slow lines
ANSWER_BYTES_MAX = 256 * 1024 * 1024  # a page of trajectories with their tokens may have many MB
_PAGE_SIZE = 100


class _Page(BaseModel):
    data: list[Any]
    has_more: bool = False
    last_id: str | None = None


class Http:
    def __init__(
        self,
        base_url: str | None,
        api_key: str | None,
        transport: httpx.AsyncBaseTransport | None,
        timeout_s: float = TIMEOUT_S,
        answer_bytes_max: int = ANSWER_BYTES_MAX,
    ) -> None:
        url = base_url or os.environ.get("WHETSTONE_URL") or "http://127.0.0.1:8484"
        key = api_key or os.environ.get("WHETSTONE_API_KEY")
        if not key:
            raise ValueError("No API key: pass api_key, or set WHETSTONE_API_KEY.")
        if not url.startswith(("http://", "https://")):
            raise ValueError(
                f'The server\'s address must be a URL such as http://127.0.0.1:8484, not "{url}". Check WHETSTONE_URL.'
            )
        self._url = url
        self._timeout_s = timeout_s
        self._answer_bytes_max = answer_bytes_max
        self._client = httpx.AsyncClient(
            base_url=url.rstrip("/").removesuffix("/v1"),
            headers={"authorization": f"Bearer {key}", "accept-encoding": "identity"},
            timeout=httpx.Timeout(timeout_s, connect=10),
            limits=httpx.Limits(max_connections=None),  # `gather` limits the number of concurrent requests
            follow_redirects=False,
            transport=transport,
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def call(
        self,
        answer: type[T],
        method: str,
        path: str,
        body: BaseModel | Mapping[str, Any] | None = None,
        *,
        query: Mapping[str, str | None] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> T:
        sent = body.model_dump(mode="json", exclude_none=True) if isinstance(body, BaseModel) else body
        given = {name: value for name, value in (query or {}).items() if value is not None}

        async def ask() -> bytes:
            async with self.stream(method, path, json=sent, query=given, headers=headers) as response:
                return await read_whole(response, self._answer_bytes_max)

        return parse_answer(answer, await _in_time(ask(), self._timeout_s, "end"))

    async def rows(self, row: type[T], path: str, query: Mapping[str, str | None] | None = None) -> AsyncIterator[T]:
        """Yields all pages' rows. Requests a page before yielding the previous one: the reader may delete its last row."""

        async def get(after: str | None) -> _Page:
            limits = {"after": after, "limit": str(_PAGE_SIZE)}
            page = await self.call(_Page, "GET", path, query={**(query or {}), **limits})
            if page.has_more and page.last_id in (None, "", after):
                raise AnswerError(f"GET {path}: the page after {after} does not say how to go on.")
            return page

        page: _Page | None = await get(None)
        while page:
            following = await get(page.last_id) if page.has_more else None
            for each in parse_value(list[row], page.data):  # type: ignore[valid-type]
                yield each
            page = following

    @asynccontextmanager
    async def stream(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: AsyncIterator[bytes] | None = None,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncIterator[httpx.Response]:
        """Sends a stream, returns a streamed response, or both. It begins in time; what is sent as a stream may take a day."""
        request = self._client.build_request(method, path, json=json, content=content, params=query, headers=headers)
        within_s = self._timeout_s if content is None else DAY_S
        with self._named_failures():
            response = await _in_time(self._client.send(request, stream=True), within_s, "begin")
            try:
                if not response.is_success:
                    raise await _in_time(read_refusal(response), self._timeout_s, "end")
                refuse_coding(response)
                yield response
            finally:
                await response.aclose()

    @contextmanager
    def _named_failures(self) -> Iterator[None]:
        """Adds the address: httpx reports only that all connection attempts failed."""
        try:
            yield
        except httpx.ConnectError as error:
            message = f"No server answers at {self._url}: {error}. Start one with `whetstone serve`, or set WHETSTONE_URL."
            raise httpx.ConnectError(message, request=error.request) from error


async def _in_time(waiting: Awaitable[T], within_s: float, what: str) -> T:
    try:
        return await asyncio.wait_for(waiting, within_s)
    except asyncio.TimeoutError as error:
        raise httpx.ReadTimeout(f"The answer did not {what} within {within_s:g} s.") from error
