"""Files that the client sends and receives, against a simulated server: lost connections, full disks, unsafe paths, damage."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO

import httpx
import pytest

from simulated_server import client_of
from whetstone_client import ApiError, ArtifactFilesError, AsyncClient


@pytest.mark.parametrize("path", ["../out", "/etc/out", "a/../../out", "C:\\out", "..\\out", ""])
def test_a_file_outside_of_the_directory_is_refused(path: str, tmp_path: Path) -> None:
    files = [{"path": path, "size_bytes": 1, "sha256": "0"}]
    artifact = {"id": "a", "entity": "e", "project": "p", "name": "n", "version": "v0", "uri": "u", "files": files}
    with pytest.raises(ArtifactFilesError, match="outside of the directory"):
        asyncio.run(client_of(lambda _: httpx.Response(200, json=artifact)).pull_artifact("p/n", tmp_path))


def test_pull_resumes_after_the_data_already_received(tmp_path: Path) -> None:
    content = b"one two three"
    digest = hashlib.sha256(content).hexdigest()
    files = [{"path": "a.txt", "size_bytes": len(content), "sha256": digest}]
    artifact = {"id": "a", "entity": "e", "project": "p", "name": "n", "version": "v0", "uri": "u", "files": files}
    part = tmp_path / f"a.txt.{digest[:12]}.part"
    asked: list[tuple[str | None, str | None]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith("/a.txt"):
            return httpx.Response(200, json=artifact)
        asked.append((request.headers.get("range"), request.headers.get("if-range")))
        return httpx.Response(206, content=content[4:]) if "range" in request.headers else httpx.Response(200, content=content)

    part.write_bytes(content[:4])
    asyncio.run(client_of(answer).pull_artifact("p/n", tmp_path))
    assert (tmp_path / "a.txt").read_bytes() == content
    assert asked == [("bytes=4-", f'"{digest}"')]
    (tmp_path / "a.txt").unlink()

    part.write_bytes(b"not ")
    with pytest.raises(ArtifactFilesError, match="arrived damaged"):
        asyncio.run(client_of(answer).pull_artifact("p/n", tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_nothing_stays_of_a_file_that_does_not_fit_on_its_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [{"path": "a.txt", "size_bytes": 3, "sha256": hashlib.sha256(b"one").hexdigest()}]
    artifact = {"id": "a", "entity": "e", "project": "p", "name": "n", "version": "v0", "uri": "u", "files": files}

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/a.txt"):
            return httpx.Response(200, content=b"one")
        return httpx.Response(200, json=artifact)

    def full(path: Path, mode: str) -> IO[bytes]:
        path.touch()
        return open("/dev/full", mode, buffering=0)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(OSError, match="No space left"):
        asyncio.run(client_of(answer).pull_artifact("p/n", tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_push_sends_a_file_again_after_a_lost_connection(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(b"one two three")
    received: list[bytes] = []
    version = {"id": "a", "entity": "e", "project": "p", "name": "n", "version": "v0", "uri": "u", "files": []}
    commits = iter([{"missing": [hashlib.sha256(b"one two three").hexdigest()]}, version])

    async def answer(request: httpx.Request) -> httpx.Response:
        if "sha256" not in request.url.params:
            return httpx.Response(200, json=next(commits))
        received.append(await request.aread())
        if len(received) == 1:
            raise httpx.WriteError("the line broke")
        return httpx.Response(200)

    client = AsyncClient("http://server", "k", transport=httpx.MockTransport(answer))
    connection: list[Exception | None] = []
    assert asyncio.run(client.push_artifact("p/n", tmp_path, on_connection=connection.append)).version == "v0"
    assert received == [b"one two three"] * 2
    assert [each and str(each) for each in connection] == ["the line broke", None]


@pytest.mark.parametrize("status", [409, 429])
@pytest.mark.parametrize("refuses_file", [True, False])
def test_a_push_ends_at_once_if_the_quota_is_full_or_the_name_is_taken(status: int, refuses_file: bool, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(b"one two three")
    missing = httpx.Response(200, json={"missing": [hashlib.sha256(b"one two three").hexdigest()]})
    refusal = httpx.Response(status, json={"error": {"message": "Delete models."}}, headers={"retry-after": "60"})
    answers = iter([missing, refusal] if refuses_file else [missing, httpx.Response(200), refusal])
    connection: list[Exception | None] = []
    with pytest.raises(ApiError, match="Delete models"):
        asyncio.run(client_of(lambda _: next(answers)).push_artifact("p/n", tmp_path, on_connection=connection.append))
    assert (list(answers), connection) == ([], [])


def test_a_download_resumes_where_the_connection_broke(tmp_path: Path) -> None:
    content = b"one two three"
    digest = hashlib.sha256(content).hexdigest()
    asked: list[str | None] = []

    async def broken() -> AsyncIterator[bytes]:
        yield content[:4]
        raise httpx.ReadError("the line broke")

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.headers.get("range"))
        headers = {"etag": f'"{digest}"', "content-length": str(len(content))}
        if "range" in request.headers:
            return httpx.Response(206, content=content[4:])
        return httpx.Response(200, headers=headers, content=broken())

    connection: list[Exception | None] = []
    file = tmp_path / "adapter.tar"
    asyncio.run(client_of(answer).download_checkpoint("m", 3, file, on_connection=connection.append))
    assert asked == [None, None, "bytes=4-"]
    assert [each and str(each) for each in connection] == ["the line broke", None]
    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [("adapter.tar", content)]


def test_damaged_data_is_not_asked_for_again(tmp_path: Path) -> None:
    damaged = {"error": {"message": "The stored bytes have changed.", "code": "damaged_data"}}
    content = hashlib.sha256(b"").hexdigest()
    file = {"path": "a", "sha256": content, "size_bytes": 3}
    artifact = {"id": "a", "entity": "e", "project": "p", "name": "n", "version": "v0", "uri": "u", "files": [file]}
    answers = iter([httpx.Response(200, json=artifact), httpx.Response(500, json=damaged)])
    with pytest.raises(ApiError, match="The stored bytes have changed"):
        asyncio.run(client_of(lambda _: next(answers)).pull_artifact("p/n", tmp_path))
