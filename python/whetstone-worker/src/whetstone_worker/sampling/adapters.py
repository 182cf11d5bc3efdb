"""The adapters that vLLM has loaded. Files, given by their hashes, become a directory and a name; an adapter is loaded when
first needed, and unloaded on the server's request or to make room, never while a request runs with it.

The name contains a hash of the files: vLLM's prefix cache is keyed by name, and cached keys and values must not be used with
new weights.
"""

import asyncio
import logging
import shutil
from collections import OrderedDict
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from whetstone_worker.errors import WorkerError
from whetstone_worker.files import WorkerFiles
from whetstone_worker.sampling.adapter_shapes import AdapterShapes
from whetstone_worker.sampling.request import WireAdapter
from whetstone_worker.sampling.vllm_client import VllmClient
from whetstone_worker.waiting import result_within

log = logging.getLogger(__name__)

ROOM_SECONDS = 60.0
"""Time to wait for a request to end if requests are running with all loaded adapters."""


@dataclass
class _Loaded:
    id: str
    name: str
    directory: Path
    users: int = 0
    unwanted: bool = False
    """Whether to unload it when its last request ends."""


class Adapters:
    def __init__(self, client: VllmClient, files: WorkerFiles, shapes: AdapterShapes, loaded_max: int) -> None:
        self._client = client
        self._files = files
        self._shapes = shapes
        self._loaded_max = loaded_max
        self._loaded: OrderedDict[str, _Loaded] = OrderedDict()
        """By name, least recently used first."""
        self._changing = asyncio.Lock()
        """The names that vLLM has loaded."""
        self._released = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def ids(self) -> list[str]:
        return sorted(adapter.id for adapter in self._loaded.values() if not adapter.unwanted)

    @asynccontextmanager
    async def in_use(self, wanted: WireAdapter) -> AsyncIterator[str]:
        """Yields the name of the adapter, which stays loaded until the context ends."""
        adapter = await self._take(wanted)
        try:
            yield adapter.name
        finally:
            adapter.users -= 1
            self._released.set()
            if adapter.unwanted and adapter.users == 0:
                self._started(self._unload_unwanted())

    async def load(self, wanted: WireAdapter) -> None:
        async with self.in_use(wanted):
            pass

    async def unload(self, adapter_id: str) -> None:
        """Requests that run with it finish first; the caller does not wait for them."""
        for adapter in self._loaded.values():
            adapter.unwanted |= adapter.id == adapter_id
        await self._unload_unwanted()

    async def _take(self, wanted: WireAdapter) -> _Loaded:
        name = versioned_name(wanted)
        while (adapter := self._use(name)) is None:
            # The caller may be cancelled, but a load that vLLM has been asked for completes and is recorded.
            await asyncio.shield(self._started(self._load(wanted, name)))
        return adapter

    async def _load(self, wanted: WireAdapter, name: str) -> None:
        directory = await self._files.fetch(wanted.files)
        try:
            await asyncio.to_thread(self._shapes.check, directory)
            async with self._changing:
                if name in self._loaded:  # another request has loaded it meanwhile
                    return
                await self._make_room()
                await self._client.load_adapter(name, directory)
                self._loaded[name] = _Loaded(wanted.id, name, directory)
                log.info("Loaded the adapter %s.", wanted.id)
        finally:
            if name not in self._loaded or self._loaded[name].directory != directory:
                shutil.rmtree(directory, ignore_errors=True)

    def _started(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _use(self, name: str) -> _Loaded | None:
        adapter = self._loaded.get(name)
        if adapter:
            adapter.users += 1
            adapter.unwanted = False
            self._loaded.move_to_end(name)
        return adapter

    async def _make_room(self) -> None:
        while len(self._loaded) >= self._loaded_max:
            unused = next((adapter for adapter in self._loaded.values() if adapter.users == 0), None)
            if unused:
                await self._drop(unused)
                continue
            self._released.clear()
            try:
                await result_within(self._released.wait(), ROOM_SECONDS)
            except asyncio.TimeoutError as fault:
                words = f"Requests have kept all {self._loaded_max} adapters of this worker busy for {ROOM_SECONDS:.0f} s."
                raise WorkerError("engine_unavailable", words, retry_after_seconds=5) from fault

    async def _unload_unwanted(self) -> None:
        async with self._changing:
            for adapter in list(self._loaded.values()):
                if adapter.unwanted and adapter.users == 0:
                    await self._drop(adapter)

    async def _drop(self, adapter: _Loaded) -> None:
        del self._loaded[adapter.name]
        try:
            await self._client.unload_adapter(adapter.name)
            log.info("Unloaded the adapter %s.", adapter.id)
        except WorkerError as fault:
            log.warning("vLLM did not unload the adapter %s: %s", adapter.id, fault)
        shutil.rmtree(adapter.directory, ignore_errors=True)


def versioned_name(adapter: WireAdapter) -> str:
    digest = sha256("\n".join(sorted(f"{file.name} {file.sha256}" for file in adapter.files)).encode()).hexdigest()
    return f"{adapter.id}@{digest[:16]}"
