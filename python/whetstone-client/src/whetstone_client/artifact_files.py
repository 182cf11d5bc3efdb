"""Copies between artifacts and local files: pushes a directory as a version, pulls a version into a directory.

Files that the server already has are not sent, local files that are already complete are not downloaded, and no file is written
outside of the directory, whatever paths the server sends.
"""

import asyncio
import errno
import hashlib
import re
import shutil
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any
from urllib.parse import quote

import httpx

from whetstone_client.answers import DAY_S, chunks_of, parse_value, segment
from whetstone_client.errors import ApiError
from whetstone_client.http import Http
from whetstone_client.retry import OnConnection, insist, is_refusal, is_refused_push, pause_before
from whetstone_client.wire import Artifact

_CHUNK_BYTES = 1024 * 1024
# How many attempts may fail: of a pull in a row without new data, of a push per file, which is sent from its first byte each
# time. Without `retry-after` they pause for 15 seconds in total, which is enough for a server to restart.
_ATTEMPTS = 6


class ArtifactFilesError(Exception):
    """Something is wrong with local files or with received data."""


async def get(http: Http, name: str) -> Artifact:
    return await http.call(Artifact, "GET", _path(name))


async def push(
    http: Http, name: str, source: Path, kind: str, aliases: Sequence[str], on_connection: OnConnection | None
) -> Artifact:
    files = {source.name: source} if source.is_file() else {path.relative_to(source).as_posix(): path for path in _walk(source)}
    if not files:
        raise ArtifactFilesError(f"{source} has no files.")
    digests = {path: await asyncio.to_thread(_digest, file) for path, file in files.items()}
    listed = [{"path": path, "sha256": digest} for path, digest in digests.items()]
    manifest = {"type": kind, "aliases": list(aliases), "files": listed}

    async def commit() -> dict[str, Any]:
        return await http.call(dict[str, Any], "PUT", _path(name), manifest)

    answer = await commit()
    if "missing" in answer:
        missing = set(parse_value(list[str], answer["missing"]))
        for path, digest in digests.items():
            if digest not in missing:
                continue
            missing.remove(digest)
            headers = {"content-length": str(files[path].stat().st_size)}

            async def send(path: str = path, digest: str = digest, headers: dict[str, str] = headers) -> None:
                content, query = _chunks(files[path]), {"sha256": digest}
                async with http.stream("PUT", _path(f"{name}:draft", path), content=content, query=query, headers=headers):
                    pass

            await insist(send, on_connection, _ATTEMPTS, is_refused_push)
        answer = await insist(commit, on_connection, _ATTEMPTS, is_refused_push)
    if "missing" in answer:
        raise ArtifactFilesError(f"The server lost files of {name} that were just sent. Push again.")
    return parse_value(Artifact, answer)  # type: ignore[no-any-return]


async def pull(http: Http, name: str, directory: Path, on_connection: OnConnection | None) -> Artifact:
    artifact = await get(http, name)
    fixed = f"{artifact.entity}/{artifact.project}/{artifact.name}:{artifact.version}"
    for each in artifact.files:
        relative = PurePosixPath(_checked(each.path))
        target = directory / relative
        for inside in (relative, *list(relative.parents)[:-1]):
            if (directory / inside).is_symlink():
                raise ArtifactFilesError(f"{directory / inside} is a symbolic link: nothing is written through it. Remove it.")
        if target.is_file() and await asyncio.to_thread(_digest, target) == each.sha256:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        await _receive(http, _path(fixed, each.path), target, each.sha256, each.size_bytes, on_connection)
    return artifact


async def save(http: Http, path: str, target: Path, on_connection: OnConnection | None) -> None:
    """Downloads a file that the server creates for the request. The response's headers have its size and checksum."""
    async with http.stream("GET", path) as response:
        length, digest = response.headers.get("content-length", ""), response.headers.get("etag", "").strip('"')
    size = int(length) if re.fullmatch("[0-9]{1,15}", length) else -1
    await _receive(http, path, target, digest, size, on_connection)


async def _receive(http: Http, path: str, target: Path, digest: str, size: int, on_connection: OnConnection | None) -> None:
    """Received data is kept as `.part` if the connection breaks; the next attempt, of this or a later call, resumes there.

    Nothing stays of a file that does not fit on its disk.
    """
    if not re.fullmatch("[0-9a-f]{64}", digest):
        raise ArtifactFilesError(f"The server gives {target.name} the checksum {digest[:80]!r}, which is no SHA-256.")
    unfinished = target.with_name(f"{target.name}.{digest[:12]}.part")
    if size < 0:
        raise ArtifactFilesError(f"The server does not say how many bytes {target.name} has.")
    if unfinished.is_symlink():
        raise ArtifactFilesError(f"{unfinished} is a symbolic link: nothing is written through it. Remove it.")
    failures = 0
    is_lost = False
    until = time.monotonic() + DAY_S
    while True:
        here = unfinished.stat().st_size if unfinished.is_file() else 0
        if 0 < here == size:
            break
        free = shutil.disk_usage(unfinished.parent).free
        if size - here > free:
            raise ArtifactFilesError(f"{target} needs {size - here} bytes more, and its disk has {free}.")
        headers = {"range": f"bytes={here}-", "if-range": f'"{digest}"'} if 0 < here < size else {}
        try:
            async with http.stream("GET", path, headers=headers) as response:
                if is_lost and on_connection:
                    on_connection(None)
                is_lost = False
                with unfinished.open("ab" if response.status_code == 206 else "wb") as content:
                    async for chunk in chunks_of(response, until):
                        content.write(chunk)
                        if content.tell() > size:
                            unfinished.unlink()  # who sends too much has not sent the file
                            raise ArtifactFilesError(
                                f"The server sends more than the {size} bytes of {target.name} that it announced."
                            )
            break
        except (ApiError, httpx.TransportError) as error:
            arrived = unfinished.stat().st_size if unfinished.is_file() else 0
            failures = 1 if arrived > here else failures + 1
            if is_refusal(error) or failures >= _ATTEMPTS or time.monotonic() > until:
                raise
            is_lost = True
            if on_connection:
                on_connection(error)
            await pause_before(failures, error)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                unfinished.unlink(missing_ok=True)  # what does not fit must not go on filling the disk
            raise
    if await asyncio.to_thread(_digest, unfinished) != digest:
        unfinished.unlink()
        raise ArtifactFilesError(f"{target} arrived damaged. Get it again.")
    unfinished.replace(target)


def _path(name: str, path: str = "") -> str:
    """Adds the key's own entity to `project/name[:version]`."""
    owned = name if name.count("/") == 2 else f"~/{name}"
    return "/v1/artifacts/" + "/".join(
        quote(segment(part), safe="~") for part in [*owned.split("/"), *(path.split("/") if path else [])]
    )


def _checked(path: str) -> str:
    """Raises ArtifactFilesError for a path outside of the directory: the server's paths are not trusted."""
    odd = re.search("[\x00-\x1f\x7f]", path) or PureWindowsPath(path).anchor
    if odd or any(part in ("", ".", "..") for part in re.split(r"[/\\]", path)):
        raise ArtifactFilesError(f"The file {path!r} would lie outside of the directory.")
    return path


def _walk(directory: Path) -> list[Path]:
    found = sorted(directory.rglob("*"))
    for path in found:
        if path.is_symlink():
            raise ArtifactFilesError(f"{path} is a symbolic link. Push its target instead.")
    return [path for path in found if path.is_file()]


def _digest(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as content:
        while chunk := content.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


async def _chunks(file: Path) -> AsyncIterator[bytes]:
    with file.open("rb") as content:
        while chunk := content.read(_CHUNK_BYTES):
            yield chunk
