"""Records the responses of a real vLLM in recordings/vllm.json: `PYTHONPATH=../src WHETSTONE_VLLM_PYTHON record_vllm.py`, in
this directory. Starts vLLM on the starter model, and sends the tests' requests. Run it again for another version of vLLM.
"""

import asyncio
import json
import logging
import sys
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from played_vllm import RECORDINGS, Recording, comparable
from small_adapters import STARTER_QUERY, write_adapter
from vllm_scenes import GENERATED, PREPARED, STARTER_VOCAB
from whetstone_worker.calls import Call
from whetstone_worker.errors import WorkerError
from whetstone_worker.sampling.generation import Generation
from whetstone_worker.sampling.options import SamplerOptions
from whetstone_worker.sampling.procedures import SamplerProcedures
from whetstone_worker.sampling.request import ModelShape, read_generate_request
from whetstone_worker.sampling.structured_outputs import structured_outputs
from whetstone_worker.sampling.vllm_client import MODEL, VllmClient
from whetstone_worker.sampling.vllm_process import start_vllm

STARTER = Path(__file__).resolve().parents[3] / "models" / "starter"


class RecordingTransport(httpx.AsyncBaseTransport):
    def __init__(self, socket: str) -> None:
        self._inner = httpx.AsyncHTTPTransport(uds=socket)
        self.scene = ""
        self.recordings: list[Recording] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content) if request.content else None
        response = await self._inner.handle_async_request(request)
        recording = Recording(self.scene, request.method, request.url.path, comparable(body), response.status_code, [])
        self.recordings.append(recording)
        assert isinstance(response.stream, httpx.AsyncByteStream)
        return httpx.Response(response.status_code, headers=response.headers, stream=_Noted(response.stream, recording.pieces))


class _Noted(httpx.AsyncByteStream):
    def __init__(self, inner: httpx.AsyncByteStream, pieces: list[str]) -> None:
        self._inner = inner
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._inner:
            self._pieces.append(piece.decode())
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()


async def nothing() -> None:
    pass


async def record() -> None:
    options = SamplerOptions(
        dtype="float32",
        sequences_max=16,
        adapters_max=2,
        adapters_in_batch_max=2,
        adapter_rank_max=8,
        ready_seconds=900,
        vllm_command=(sys.executable, "-m", "vllm.entrypoints.cli.main", "serve"),
        vllm_arguments=("--enforce-eager",),
    )
    async with start_vllm(options.vllm(STARTER, "float32", None)) as vllm:
        await vllm.until_ready(900)
        transport = RecordingTransport(_socket_of(vllm.client))
        async with httpx.AsyncClient(transport=transport, base_url="http://vllm") as http:
            await record_all(VllmClient(http), transport)
    for each in transport.recordings:
        print(each.scene, each.method, each.path, each.status, "".join(each.pieces)[:300].replace("\n", " "))
    for each in transport.recordings:
        each.pieces = [piece.replace(str(STARTER), "models/starter") for piece in each.pieces]
    RECORDINGS.parent.mkdir(exist_ok=True)
    RECORDINGS.write_text(json.dumps([each.__dict__ for each in transport.recordings], separators=(",", ":")) + "\n")


async def record_all(client: VllmClient, transport: RecordingTransport) -> None:
    transport.scene = "models"
    await client.context_length()
    for name, params in GENERATED.items():
        transport.scene = name
        request = read_generate_request(params)
        forms: list[Any] = [None] if request.constraint is None else list(structured_outputs(request.constraint))
        await tolerated(Generation(client, request, MODEL, forms[0], STARTER_VOCAB, Call(lambda _: None, nothing)).run())
    procedures = SamplerProcedures(client, None, ModelShape(1024, STARTER_VOCAB), 16)  # type: ignore[arg-type]
    for name, constraint in PREPARED.items():
        transport.scene = name
        await tolerated(procedures.prepare({"constraint": constraint, "payer": ""}, Call(lambda _: None, nothing)))
    transport.scene = "adapter"
    with TemporaryDirectory() as name:
        directory = Path(name)
        write_adapter(directory, STARTER_QUERY, rank=8)
        for ask in (client.load_adapter("one", directory), client.load_adapter("one", directory)):
            await tolerated(ask)
        for _ in range(2):
            await tolerated(client.unload_adapter("one"))


async def tolerated(work: Awaitable[None]) -> None:
    """Records refusals as well."""
    try:
        await work
    except WorkerError as fault:
        print(fault)


def _socket_of(client: VllmClient) -> str:
    transport: Any = client._http._transport
    return str(transport._pool._uds)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    asyncio.run(record())
