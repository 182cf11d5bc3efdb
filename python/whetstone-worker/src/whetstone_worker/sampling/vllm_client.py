"""A client of a vLLM server on a Unix socket. Knows vLLM's paths and error format; not what is requested. A refusal by vLLM
becomes a WorkerError with vLLM's message.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import httpx

from whetstone_worker.errors import WorkerError

SILENCE_SECONDS = 600.0
"""Limit for one token of any request: longer than a full batch of long prompts takes before it."""
HEALTH_SECONDS = 60.0
"""vLLM answers a health check at once, unless the machine is busy."""
ADAPTER_SECONDS = 120.0
_NO_DEADLINE = httpx.Timeout(None, connect=HEALTH_SECONDS)
MODEL = "base"
"""The name of the base model; adapters have names of their own."""


class VllmGoneError(WorkerError):
    """vLLM ended, or closed the connection in the middle of a response."""

    def __init__(self) -> None:
        words = "This worker's vLLM stopped in the middle of the request. It is being restarted; send the request again."
        super().__init__("engine_unavailable", words, retry_after_seconds=5)


class VllmClient:
    """Created by open_vllm_client."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http
        self._waiting = 0
        """Responses that are being streamed and of which the next piece is awaited."""
        self._heard_at = monotonic()

    @property
    def silent_seconds(self) -> float:
        """Seconds since any response was streamed on. 0 if no request waits for one."""
        return monotonic() - self._heard_at if self._waiting else 0.0

    async def is_healthy(self) -> bool:
        try:
            return (await self._http.get("/health", timeout=HEALTH_SECONDS)).is_success
        except httpx.HTTPError:
            return False

    async def context_length(self) -> int:
        """The context length of the base model as it is served, in tokens."""
        models = await self._ask("GET", "/v1/models", None, HEALTH_SECONDS)
        return next(int(model["max_model_len"]) for model in models.json()["data"] if model["id"] == MODEL)

    async def complete(self, body: Mapping[str, object]) -> Any:
        return (await self._ask("POST", "/v1/completions", body, SILENCE_SECONDS)).json()

    async def stream(self, body: Mapping[str, object]) -> AsyncGenerator[Any, None]:
        """Yields the messages of a response. Closing the generator ends the request.

        A request has no deadline of its own, because it may wait for others in vLLM's queue: `silent_seconds` is that of all.
        """
        try:
            async with self._http.stream("POST", "/v1/completions", json=body, timeout=_NO_DEADLINE) as response:
                if not response.is_success:
                    await response.aread()
                    raise _refusal(response)
                async with aclosing(_messages(self._noting(response.aiter_raw()))) as messages:
                    async for message in messages:
                        yield message
        except httpx.TransportError as fault:
            raise VllmGoneError from fault

    async def _noting(self, pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
        """Notes when vLLM was heard, except while nobody waits for it."""
        while True:
            if self._waiting == 0:
                self._heard_at = monotonic()
            self._waiting += 1
            try:
                piece = await anext(pieces, None)
            finally:
                self._waiting -= 1
            self._heard_at = monotonic()
            if piece is None:
                return
            yield piece

    async def load_adapter(self, name: str, directory: Path) -> None:
        """Raises WorkerError bad_model_files if vLLM refuses the adapter."""
        body = {"lora_name": name, "lora_path": str(directory)}
        try:
            await self._ask("POST", "/v1/load_lora_adapter", body, ADAPTER_SECONDS)
        except WorkerError as fault:
            if fault.code == "engine_unavailable":
                raise
            raise WorkerError("bad_model_files", f"vLLM refused to load the adapter: {fault.message}") from fault

    async def unload_adapter(self, name: str) -> None:
        await self._ask("POST", "/v1/unload_lora_adapter", {"lora_name": name}, ADAPTER_SECONDS)

    async def _ask(self, method: str, path: str, body: Mapping[str, object] | None, seconds: float) -> httpx.Response:
        try:
            response = await self._http.request(method, path, json=body, timeout=seconds)
        except httpx.TimeoutException as fault:
            raise WorkerError("engine_failed", f"vLLM did not answer {path} within {seconds:.0f} s.") from fault
        except httpx.TransportError as fault:
            raise VllmGoneError from fault
        if not response.is_success:
            raise _refusal(response)
        return response


@asynccontextmanager
async def open_vllm_client(socket: Path) -> AsyncIterator[VllmClient]:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)  # callers limit concurrency
    transport = httpx.AsyncHTTPTransport(uds=str(socket), limits=limits)
    async with httpx.AsyncClient(transport=transport, base_url="http://vllm") as http:
        yield VllmClient(http)


async def _messages(pieces: AsyncIterator[bytes]) -> AsyncGenerator[Any, None]:
    """Yields the data of server-sent events up to `[DONE]`."""
    rest = b""
    async for piece in pieces:
        *events, rest = (rest + piece).split(b"\n\n")
        for event in events:
            data = event.removeprefix(b"data: ")
            if data == b"[DONE]":
                return
            message = json.loads(data)
            if "error" in message:
                raise _failure(message)
            yield message
    raise VllmGoneError


def _refusal(response: httpx.Response) -> WorkerError:
    try:
        words = _words(response.json())
    except ValueError:
        words = response.text[:500]
    return _fault(response.status_code, words)


def _failure(message: Mapping[str, Any]) -> WorkerError:
    """An error found after the response has begun arrives as a message of the stream."""
    error = message["error"]
    return _fault(error.get("code") if isinstance(error, dict) else None, _words(message))


def _fault(status: object, words: str) -> WorkerError:
    is_refused = isinstance(status, int) and 400 <= status < 500
    return WorkerError("invalid_request" if is_refused else "engine_failed", f"vLLM answered {status}: {words}")


def _words(answer: Any) -> str:
    """The message of `{"error": {"message"}}`, which older routes send without the outer object."""
    error = answer.get("error", answer) if isinstance(answer, dict) else answer
    return str(error.get("message", error) if isinstance(error, dict) else error)[:500]
