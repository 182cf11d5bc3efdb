"""HTTP requests to one server: adds the address and the key, and turns error responses into exceptions."""

import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel, TypeAdapter

from whetstone_client.errors import read_refusal

T = TypeVar("T")

_TIMEOUT = httpx.Timeout(600, connect=10)  # large job bodies over slow lines
_PAGE_SIZE = 100


class Http:
    def __init__(self, base_url: str | None, api_key: str | None, transport: httpx.AsyncBaseTransport | None) -> None:
        url = base_url or os.environ.get("WHETSTONE_URL") or "http://127.0.0.1:8484"
        key = api_key or os.environ.get("WHETSTONE_API_KEY")
        if not key:
            raise ValueError("No API key: pass api_key, or set WHETSTONE_API_KEY.")
        if not url.startswith(("http://", "https://")):
            raise ValueError(
                f'The server\'s address must be a URL such as http://127.0.0.1:8484, not "{url}". Check WHETSTONE_URL.'
            )
        self._url = url
        self._client = httpx.AsyncClient(
            base_url=url.rstrip("/").removesuffix("/v1"),
            headers={"authorization": f"Bearer {key}"},
            timeout=_TIMEOUT,
            limits=httpx.Limits(max_connections=None),  # `gather` limits the number of concurrent requests
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
        with self._named_failures():
            response = await self._client.request(method, path, json=sent, params=given, headers=headers)
        if not response.is_success:
            raise read_refusal(response)
        return TypeAdapter(answer).validate_json(response.content)

    async def rows(self, row: type[T], path: str, query: Mapping[str, str | None] | None = None) -> AsyncIterator[T]:
        """Yields all pages' rows. Requests a page before yielding the previous one: the reader may delete its last row."""

        async def get(after: str | None) -> dict[str, Any]:
            limits = {"after": after, "limit": str(_PAGE_SIZE)}
            return await self.call(dict[str, Any], "GET", path, query={**(query or {}), **limits})

        rows = TypeAdapter(list[row])  # type: ignore[valid-type]
        page: dict[str, Any] | None = await get(None)
        while page:
            following = await get(page["last_id"]) if page["has_more"] else None
            for each in rows.validate_python(page["data"]):
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
        """Sends a stream, returns a streamed response, or both."""
        with self._named_failures():
            streaming = self._client.stream(method, path, json=json, content=content, params=query, headers=headers)
            async with streaming as response:
                if not response.is_success:
                    await response.aread()
                    raise read_refusal(response)
                yield response

    @contextmanager
    def _named_failures(self) -> Iterator[None]:
        """Adds the address: httpx reports only that all connection attempts failed."""
        try:
            yield
        except httpx.ConnectError as error:
            message = f"No server answers at {self._url}: {error}. Start one with `whetstone serve`, or set WHETSTONE_URL."
            raise httpx.ConnectError(message, request=error.request) from error
