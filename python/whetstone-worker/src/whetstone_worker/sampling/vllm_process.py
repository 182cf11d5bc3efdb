"""vLLM as a child process: started, awaited until it answers, watched, and ended with the worker whatever ends that. Its lines
go to the worker's log. Knows what a worker tells `vllm serve`; not what is asked of it.
"""

import asyncio
import logging
import os
import re
import sys
import tempfile
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from whetstone_worker.errors import WorkerError
from whetstone_worker.sampling.vllm_client import MODEL, VllmClient, open_vllm_client
from whetstone_worker.waiting import result_within

log = logging.getLogger(__name__)

READY_POLL_SECONDS = 0.5
HEALTH_INTERVAL_SECONDS = 10.0
UNHEALTHY_MAX = 3
"""Answers in a row that failed, each after up to a minute."""
END_SECONDS = 15.0
"""For vLLM to end by itself, and then for what kills it."""
USAGE_CODE = 2
"""Of a program that refuses its arguments: argparse's."""
_LINE_BYTES_MAX = 4096
_ERROR = re.compile(rb"error:|exception:|killed|abort", re.IGNORECASE)

_DEFAULTS = {
    "VLLM_HOST_IP": "127.0.0.1"
}  # its own processes talk to each other; on several machines an operator says otherwise
_ENVIRONMENT = {
    "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "True",
    "VLLM_NO_USAGE_STATS": "1",  # it would call its makers
    "NO_COLOR": "1",
    "PYTHONUNBUFFERED": "1",
}


@dataclass(frozen=True)
class VllmOptions:
    command: tuple[str, ...]
    """`vllm serve` without what follows."""
    model: Path
    dtype: str
    sequences_max: int
    adapters_max: int
    adapters_in_batch_max: int
    adapter_rank_max: int
    ready_seconds: float
    more: tuple[str, ...]
    """What an operator adds; of what is said twice the last one holds."""
    environment: Mapping[str, str]


def serve_arguments(options: VllmOptions, socket: Path) -> list[str]:
    return [
        *options.command,
        str(options.model),
        *("--uds", str(socket)),
        *("--served-model-name", MODEL),
        *("--dtype", options.dtype),
        *("--max-num-seqs", str(options.sequences_max)),
        *("--max-logprobs", "-1"),  # the server has its own limit
        *("--scheduling-policy", "priority"),
        "--enable-prefix-caching",
        "--enable-prompt-tokens-details",
        "--enable-lora",
        *("--max-loras", str(options.adapters_in_batch_max)),
        *("--max-cpu-loras", str(options.adapters_max)),
        *("--max-lora-rank", str(options.adapter_rank_max)),
        "--disable-uvicorn-access-log",
        *options.more,
    ]


class VllmProcess:
    """Made by start_vllm."""

    def __init__(self, client: VllmClient, process: asyncio.subprocess.Process, directory: Path) -> None:
        self.client = client
        self.directory = directory
        """Of this process alone: it goes when vLLM has ended."""
        self._process = process
        self._words: deque[bytes] = deque(maxlen=200)
        self._reading = asyncio.create_task(self._read())

    async def until_ready(self, seconds: float) -> None:
        """Raises engine_failed where it ends before, or takes longer, and invalid_request where its arguments are wrong."""
        deadline = asyncio.get_running_loop().time() + seconds
        while not await self.client.is_healthy():
            if self._reading.done():
                words = f"vLLM did not start: {await self.until_ended()}"
                raise WorkerError("invalid_request" if self._process.returncode == USAGE_CODE else "engine_failed", words)
            if asyncio.get_running_loop().time() > deadline:
                words = f"vLLM was not ready after {seconds:.0f} s (--ready-seconds). Its last words: {self._last_words()}"
                raise WorkerError("engine_failed", words)
            await asyncio.sleep(READY_POLL_SECONDS)

    async def until_unusable(self) -> str:
        """Why: it ended, or does not answer any more."""
        ended = asyncio.ensure_future(self.until_ended())
        silent = asyncio.ensure_future(self._until_silent())
        try:
            done, _ = await asyncio.wait((ended, silent), return_when=asyncio.FIRST_COMPLETED)
            return done.pop().result()
        finally:
            ended.cancel()
            silent.cancel()

    async def until_ended(self) -> str:
        code = await self._process.wait()
        await asyncio.wait([self._reading], timeout=1.0)
        return f"it ended with code {code}. Its last words: {self._last_words()}"

    async def end(self) -> None:
        """With all that it started."""
        assert self._process.stdin
        with suppress(ProcessLookupError):
            self._process.terminate()
        with suppress(asyncio.TimeoutError):
            await result_within(self._process.wait(), END_SECONDS)
        self._process.stdin.close()  # the leash kills what is left
        with suppress(asyncio.TimeoutError):
            await result_within(self._process.wait(), END_SECONDS)
        self._reading.cancel()

    async def _until_silent(self) -> str:
        failures = 0
        while failures < UNHEALTHY_MAX:
            await asyncio.sleep(HEALTH_INTERVAL_SECONDS)
            failures = 0 if await self.client.is_healthy() else failures + 1
        return f"it did not say that it is well {UNHEALTHY_MAX} times in a row. Its last words: {self._last_words()}"

    async def _read(self) -> None:
        assert self._process.stdout
        rest = b""
        while piece := await self._process.stdout.read(1 << 16):
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                self._note(line)
            rest = rest[-_LINE_BYTES_MAX:]
        self._note(rest)

    def _note(self, line: bytes) -> None:
        if line := line.strip()[:_LINE_BYTES_MAX]:
            self._words.append(line)
            log.info("vLLM: %s", line.decode(errors="replace"))

    def _last_words(self) -> str:
        """The last line that speaks of an error, or the last."""
        line = next((line for line in reversed(self._words) if _ERROR.search(line)), self._words[-1] if self._words else b"")
        return line.decode(errors="replace")[:500] or "none"


@asynccontextmanager
async def start_vllm(options: VllmOptions) -> AsyncIterator[VllmProcess]:
    """Not ready yet. It ends with the context, and with this process."""
    directory = Path(tempfile.mkdtemp(prefix="whetstone-vllm-"))  # short: a socket's path has 107 bytes at most
    socket = directory / "socket"
    async with open_vllm_client(socket) as client:
        environment = {**_DEFAULTS, **os.environ, **_ENVIRONMENT, **options.environment}
        vllm = VllmProcess(client, await _spawn(serve_arguments(options, socket), directory, environment), directory)
        try:
            yield vllm
        finally:
            await asyncio.shield(vllm.end())


async def _spawn(command: Sequence[str], own: Path, environment: Mapping[str, str]) -> asyncio.subprocess.Process:
    """The leash removes the directory: it ends after vLLM, also where this process was killed."""
    log.info("Starting %s", " ".join(command))
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "whetstone_worker.leash", "--own", str(own)),
        *command,
        env=environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,  # Ctrl-C is for the worker
    )
