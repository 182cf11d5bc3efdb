"""A simulated vLLM on a real socket: it returns the responses of a real one (recordings/vllm.json, written by
record_vllm.py), byte for byte, to equal request bodies. Also a program, for tests of the child process: `played_vllm.py
--uds PATH …`, whose behaviour is set by environment variables.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

RECORDINGS = Path(__file__).parent / "recordings" / "vllm.json"


@dataclass
class Recording:
    scene: str
    method: str
    path: str
    body: Any
    status: int
    pieces: list[str]


def read_recordings() -> list[Recording]:
    return [Recording(**each) for each in json.loads(RECORDINGS.read_text())]


def comparable(body: Any) -> Any:
    """Removes the names of directories, which differ in each run."""
    return {**body, "lora_path": "*"} if isinstance(body, dict) and "lora_path" in body else body


@dataclass
class PlayedVllm:
    recordings: list[Recording]
    asked: list[tuple[str, Any]] = field(default_factory=list)
    left: "asyncio.Queue[Any]" = field(default_factory=asyncio.Queue)
    """Bodies of requests whose client disconnected before the end."""
    hold_after: int | None = None
    """Number of pieces of a response to send at once; the rest when `go` is set."""
    cut_after: int | None = None
    """Number of pieces of a response after which nothing more is sent."""
    is_healthy: bool = True
    adapters: set[str] = field(default_factory=set)
    """Names of the loaded adapters."""
    go: asyncio.Event = field(default_factory=asyncio.Event)
    sent: int = 0
    """Number of response pieces sent."""

    def paths(self) -> list[str]:
        return [path for path, _ in self.asked if path not in ("/health", "/v1/models")]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                method, path, _ = head.split(" ", 2)
                length = next((int(line.split(":")[1]) for line in head.lower().split("\r\n") if "content-length" in line), 0)
                body = json.loads(await reader.readexactly(length)) if length else None
                self.asked.append((path, body))
                if not await self._answer(method, path, body, reader, writer):
                    break
        writer.close()

    async def _answer(
        self, method: str, path: str, body: Any, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Returns False if the connection is over."""
        found = self._find(method, path, body)
        kind = "text/event-stream" if isinstance(body, dict) and body.get("stream") else "application/json"
        writer.write(f"HTTP/1.1 {found.status} x\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n".encode())
        leaving = asyncio.ensure_future(reader.read(1))
        try:
            for number, piece in enumerate(found.pieces):
                if number == self.cut_after and body:
                    writer.transport.abort()
                    return False
                if number == self.hold_after and body and not self.go.is_set():
                    waiting = asyncio.ensure_future(self.go.wait())
                    await asyncio.wait((leaving, waiting), return_when=asyncio.FIRST_COMPLETED)
                    waiting.cancel()
                if leaving.done():
                    self.left.put_nowait(body)
                    return False
                data = piece.encode()
                writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                await writer.drain()
                self.sent += 1
            writer.write(b"0\r\n\r\n")
            await writer.drain()
        finally:
            leaving.cancel()
            await asyncio.gather(leaving, return_exceptions=True)
        return True

    def _find(self, method: str, path: str, body: Any) -> Recording:
        if path == "/health":
            return Recording("", method, path, None, 200 if self.is_healthy else 503, [])
        if path.endswith("_lora_adapter"):
            return self._change_adapters(path, body["lora_name"])
        for each in self.recordings:
            if (each.method, each.path, each.body) == (method, path, comparable(body)):
                return each
        return Recording("", method, path, None, 500, [f"nothing was recorded for {method} {path} {json.dumps(body)}"])

    def _change_adapters(self, path: str, name: str) -> Recording:
        """Responds as recorded for one name that is loaded, and for one that is not."""
        loads, is_there = path == "/v1/load_lora_adapter", name in self.adapters
        if loads:
            self.adapters.add(name)
        else:
            self.adapters.discard(name)
        found = [each for each in self.recordings if each.path == path]
        return found[0] if loads != is_there else found[1]


@asynccontextmanager
async def play_vllm(directory: Path) -> AsyncIterator[tuple[PlayedVllm, Path]]:
    """Ends the server and removes its socket."""
    played = PlayedVllm(read_recordings())
    socket = directory / "vllm"
    async with await asyncio.start_unix_server(played.serve, socket):
        yield played, socket


async def _run(arguments: list[str]) -> int:
    """PLAYED_MOODS: comma-separated, one per start; the last repeats. A file in PLAYED_DIRECTORY counts the starts."""
    directory = Path(os.environ["PLAYED_DIRECTORY"])
    starts = len(list(directory.glob("start-*")))
    (directory / f"start-{starts}").write_text(json.dumps({"pid": os.getpid(), "arguments": arguments}))
    moods = os.environ["PLAYED_MOODS"].split(",")
    mood = moods[min(starts, len(moods) - 1)]
    print("INFO reading the model", flush=True)
    if mood == "broken":
        print("ValueError: no such model", flush=True)
        return 3
    if mood == "misused":
        print("vllm: error: unrecognized arguments: --sed 1", flush=True)
        return 2
    played = PlayedVllm(read_recordings(), is_healthy=mood != "slow")
    server = await asyncio.start_unix_server(played.serve, arguments[arguments.index("--uds") + 1])
    if mood == "held":
        played.hold_after = 2
    (directory / f"ready-{starts}").touch()
    async with server:
        await server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(_run(sys.argv[1:])))
