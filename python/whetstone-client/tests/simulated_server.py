"""A client whose server is a function."""

from collections.abc import Callable

import httpx

from whetstone_client import AsyncClient

Answering = Callable[[httpx.Request], httpx.Response]


def client_of(answer: Answering) -> AsyncClient:
    return AsyncClient("http://server", "k", transport=httpx.MockTransport(answer))
