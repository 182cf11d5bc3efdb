"""Transfers files between a worker and its server (docs/worker-protocol.md, section 6): downloads by hash into a cache on
disk, verified before use; uploads in pieces. The counterpart of worker-files.ts. Of adapters it knows only the file names.
"""

import asyncio
import json
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import httpx

from whetstone_worker.cache_directory import FileCache, sha256_of
from whetstone_worker.errors import WorkerError

ADAPTER_FILES = ("adapter_config.json", "adapter_model.safetensors", "optimizer.safetensors", "gradients.safetensors")
PIECE_BYTES_MAX = 16 << 20
REQUEST_SECONDS = 120.0
"""Limit for a silent connection, and for one piece."""
RETRY_PAUSES = (0.2, 0.5, 1.0, 2.0, 5.0)

T = TypeVar("T")


@dataclass(frozen=True)
class WireFile:
    name: str
    bytes: int
    sha256: str

    def to_wire(self) -> dict[str, object]:
        return {"name": self.name, "bytes": self.bytes, "sha256": self.sha256}


def read_wire_files(files: Any, name: str) -> list[WireFile]:
    """Reads the file list of a call. `name`: the parameter's name, for the error message."""
    try:
        return [WireFile(str(file["name"]), int(file["bytes"]), str(file["sha256"])) for file in files]
    except (KeyError, TypeError, ValueError) as fault:
        words = f"A call from the server cannot be read: {name} is not a list of files: {type(fault).__name__} {fault}."
        raise WorkerError("invalid_request", words) from fault


class _TryAgainError(Exception):
    """The message continues the sentence "The file … cannot be transferred: "."""


class WorkerFiles:
    """Created by open_worker_files."""

    def __init__(self, http: httpx.AsyncClient, cache: FileCache, scratch: Path, retry_pauses: Sequence[float]) -> None:
        self._http = http
        self._cache = cache
        self._scratch = scratch
        self._retry_pauses = retry_pauses
        self._fetching: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def make_directory(self) -> Path:
        """Returns an empty directory, which the caller must remove."""
        return Path(tempfile.mkdtemp(dir=self._scratch))

    async def fetch(self, files: Sequence[WireFile]) -> Path:
        """Returns a directory with these files, which the caller must remove."""
        target = self.make_directory()
        try:
            for file in files:
                if file.name not in ADAPTER_FILES:
                    raise WorkerError("bad_model_files", f"No adapter has a file {file.name!r:.100}.")
                lock = self._fetching.setdefault(file.sha256, asyncio.Lock())
                async with lock:
                    if not self._cache.has(file.sha256):
                        await self._retried(file, partial(self._download, file))
                    self._cache.link(file.sha256, target / file.name)
        except BaseException:
            shutil.rmtree(target, ignore_errors=True)
            raise
        return target

    async def bring(self, directory: Path) -> list[WireFile]:
        """Uploads all files of the adapter in `directory`."""
        brought = []
        for name in ADAPTER_FILES:
            path = directory / name
            if path.exists():
                sha256 = await asyncio.to_thread(sha256_of, path)
                file = WireFile(name, path.stat().st_size, sha256)
                await self._retried(file, partial(self._upload, path, file))
                brought.append(file)
        return brought

    async def _download(self, file: WireFile) -> None:
        part = self._cache.part(file.sha256)
        offset = part.stat().st_size if part.exists() else 0
        headers = {"range": f"bytes={offset}-"} if 0 < offset < file.bytes else {}
        async with self._http.stream("GET", f"files/{file.sha256}", headers=headers) as response:
            await _check(response)
            size = offset if response.status_code == httpx.codes.PARTIAL_CONTENT else 0
            with part.open("ab" if size > 0 else "wb") as content:
                async for chunk in response.aiter_bytes():
                    size += len(chunk)
                    if size > file.bytes:
                        break  # too long: the hash check below fails
                    content.write(chunk)
        found = await asyncio.to_thread(sha256_of, part)
        if found != file.sha256 or part.stat().st_size != file.bytes:
            part.unlink()
            raise _TryAgainError(f"it arrived with the hash {found}.")
        self._cache.keep(file.sha256)

    async def _upload(self, path: Path, file: WireFile) -> None:
        address = f"uploads/{file.sha256}"
        progress = await self._progress(await self._http.get(address))
        with path.open("rb") as content:
            while not progress["complete"]:
                first = int(progress["offset"])
                content.seek(first)
                piece = content.read(PIECE_BYTES_MAX)
                headers = {
                    "content-range": f"bytes {first}-{first + len(piece) - 1}/{file.bytes}",
                    "content-type": "application/octet-stream",
                }
                progress = await self._progress(await self._http.put(address, content=piece, headers=headers))

    async def _progress(self, response: httpx.Response) -> Any:
        await _check(response)
        return response.json()

    async def _retried(self, file: WireFile, work: Callable[[], Awaitable[T]]) -> T:
        for pause in (*self._retry_pauses, None):
            try:
                return await work()
            except (httpx.TransportError, json.JSONDecodeError, _TryAgainError) as fault:
                if pause is None:
                    words = f"The file {file.name} ({file.sha256[:12]}…) cannot be transferred: {fault or type(fault).__name__}"
                    raise WorkerError("engine_unavailable", words) from fault
                await asyncio.sleep(pause)
            except OSError as fault:
                words = f"The file {file.name} cannot be stored on the worker: {fault}. Free some space in its --cache-dir."
                raise WorkerError("engine_unavailable", words) from fault
        raise AssertionError("the last attempt returns or raises")


async def _check(response: httpx.Response) -> None:
    """Retried: 409 the server expects another piece; 422 the hash of the whole differed and it was discarded; 429 and 5xx."""
    if response.is_success:
        return
    text = (await response.aread()).decode(errors="replace")[:500]
    words = f"{response.url.path} answered {response.status_code}: {text}"
    if response.status_code in (409, 422, 429) or response.is_server_error:
        raise _TryAgainError(words)
    raise WorkerError("engine_unavailable", words)


@asynccontextmanager
async def open_worker_files(
    url: str, key: str, cache_directory: Path, cache_bytes_max: int, retry_pauses: Sequence[float] = RETRY_PAUSES
) -> AsyncIterator[WorkerFiles]:
    """`cache_directory`: must be empty and used by this process only."""
    scratch = cache_directory / "scratch"
    scratch.mkdir()
    cache = FileCache(cache_directory, cache_bytes_max)
    headers = {"authorization": f"Bearer {key}", "accept-encoding": "identity"}
    async with httpx.AsyncClient(base_url=f"{url.rstrip('/')}/v1/workers/", headers=headers, timeout=REQUEST_SECONDS) as http:
        yield WorkerFiles(http, cache, scratch, retry_pauses)
