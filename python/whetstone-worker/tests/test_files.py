"""File transfer over real HTTP, with a server that breaks off, loses pieces, and sends wrong bytes."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from file_server import FileServer
from whetstone_worker.cache_directory import own_directory
from whetstone_worker.errors import WorkerError
from whetstone_worker.files import PIECE_BYTES_MAX, WireFile, WorkerFiles, open_worker_files

WEIGHTS = "adapter_model.safetensors"


@pytest.fixture
def server() -> Iterator[FileServer]:
    server = FileServer()
    yield server
    server.close()


def offer(server: FileServer, content: bytes, name: str = WEIGHTS) -> WireFile:
    hashed = sha256(content).hexdigest()
    server.files[hashed] = content
    return WireFile(name, len(content), hashed)


def play(server: FileServer, parent: Path, scene: Callable[[WorkerFiles], Awaitable[None]], bytes_max: int = 1 << 20) -> None:
    async def run() -> None:
        with own_directory(parent) as directory:
            async with open_worker_files(server.url, "key", directory, bytes_max, retry_pauses=(0.0, 0.0)) as files:
                await scene(files)

    asyncio.run(run())


def test_files_are_fetched_once_and_outlive_the_cache(server: FileServer, tmp_path: Path) -> None:
    async def scene(files: WorkerFiles) -> None:
        first, second = offer(server, b"1" * 60), offer(server, b"2" * 60)
        directory = await files.fetch([first, offer(server, b"{}", "adapter_config.json")])
        assert {file.name: file.read_bytes() for file in directory.iterdir()} == {
            WEIGHTS: b"1" * 60,
            "adapter_config.json": b"{}",
        }
        await files.fetch([first])
        assert len(server.asked) == 2
        await files.fetch([second])  # more than 100 bytes: the first file is evicted
        assert (directory / WEIGHTS).read_bytes() == b"1" * 60
        await files.fetch([second])
        assert len(server.asked) == 3
        await files.fetch([first])
        assert len(server.asked) == 4

    play(server, tmp_path, scene, bytes_max=100)


def test_two_requests_for_one_file_fetch_it_once(server: FileServer, tmp_path: Path) -> None:
    async def scene(files: WorkerFiles) -> None:
        file = offer(server, b"1" * 60)
        await asyncio.gather(*(files.fetch([file]) for _ in range(5)))
        assert len(server.asked) == 1

    play(server, tmp_path, scene)


def test_an_interrupted_download_resumes_where_it_stopped(server: FileServer, tmp_path: Path) -> None:
    async def scene(files: WorkerFiles) -> None:
        content = bytes(range(250))
        file = offer(server, content)
        server.cut = [100, 50]
        directory = await files.fetch([file])
        assert (directory / WEIGHTS).read_bytes() == content
        assert server.asked == [f"GET {file.sha256[:4]}{rest}" for rest in ("", " bytes=100-", " bytes=150-")]

    play(server, tmp_path, scene)


@pytest.mark.parametrize("content", [b"other bytes", b"the right bytes and more", b"the right"])
def test_bytes_with_a_wrong_hash_are_never_used(server: FileServer, tmp_path: Path, content: bytes) -> None:
    async def scene(files: WorkerFiles) -> None:
        file = offer(server, b"the right bytes")
        server.files[file.sha256] = content
        with pytest.raises(WorkerError, match="arrived with the hash") as refusal:
            await files.fetch([file])
        assert refusal.value.code == "engine_unavailable"
        server.files[file.sha256] = b"the right bytes"
        directory = await files.fetch([file])
        assert (directory / WEIGHTS).read_bytes() == b"the right bytes"

    play(server, tmp_path, scene)


def test_files_that_no_adapter_has_are_not_fetched(server: FileServer, tmp_path: Path) -> None:
    async def scene(files: WorkerFiles) -> None:
        with pytest.raises(WorkerError, match="No adapter has a file"):
            await files.fetch([offer(server, b"x", "../../escape")])
        with pytest.raises(WorkerError, match="404: no such file"):
            await files.fetch([WireFile(WEIGHTS, 1, "0" * 64)])
        server.status = 503
        with pytest.raises(WorkerError, match="answered 503"):
            await files.fetch([offer(server, b"x")])
        assert len(server.asked) == 4  # a 404 is final, a 503 is retried

    play(server, tmp_path, scene)


def test_files_are_uploaded_in_pieces(server: FileServer, tmp_path: Path) -> None:
    async def scene(files: WorkerFiles) -> None:
        directory = files.make_directory()
        content = bytes(PIECE_BYTES_MAX) + b"end"
        (directory / WEIGHTS).write_bytes(content)
        (directory / "adapter_config.json").write_text("{}")
        server.lost = 1
        brought = await files.bring(directory)
        assert [file.name for file in brought] == ["adapter_config.json", WEIGHTS]
        assert brought[1].bytes == len(content)
        assert server.brought[brought[1].sha256] == content
        assert server.brought[brought[0].sha256] == b"{}"

    play(server, tmp_path, scene)


def test_workers_that_share_a_cache_directory_have_their_own_part_of_it(tmp_path: Path) -> None:
    with own_directory(tmp_path) as first, own_directory(tmp_path) as second:
        assert first != second
        (first / "left").touch()
    with own_directory(tmp_path) as again:
        assert again == first
        assert list(again.iterdir()) == []
