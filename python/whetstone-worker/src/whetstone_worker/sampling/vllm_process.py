"""vLLM as a child process: started, awaited until it is ready, watched, and ended with the worker however the worker ends. Its
output goes to the worker's log. Knows the arguments of `vllm serve`; not the requests.
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
from whetstone_worker.sampling.vllm_client import MODEL, SILENCE_SECONDS, VllmClient, open_vllm_client
from whetstone_worker.waiting import result_within

log = logging.getLogger(__name__)

READY_POLL_SECONDS = 0.5
HEALTH_INTERVAL_SECONDS = 10.0
UNHEALTHY_MAX = 3
"""Failed health checks in a row, each of which takes up to a minute."""
END_SECONDS = 15.0
"""Time for vLLM to end by itself, and again for the leash to kill it."""
USAGE_CODE = 2
"""Exit code of a program with invalid arguments, as argparse defines it."""
_LINE_BYTES_MAX = 4096
_ERROR = re.compile(rb"error:|exception:|killed|abort", re.IGNORECASE)

_DEFAULTS = {
    "VLLM_HOST_IP": "127.0.0.1"
}  # its own processes communicate locally; an operator with several machines sets another address
_ENVIRONMENT = {
    "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "True",
    "VLLM_NO_USAGE_STATS": "1",  # otherwise vLLM reports its usage to its developers
    "NO_COLOR": "1",
    "PYTHONUNBUFFERED": "1",
}


@dataclass(frozen=True)
class VllmOptions:
    command: tuple[str, ...]
    """The command `vllm serve` without its arguments."""
    model: Path
    dtype: str
    sequences_max: int
    adapters_max: int
    adapters_in_batch_max: int
    adapter_rank_max: int
    ready_seconds: float
    more: tuple[str, ...]
    """The operator's own arguments; of a repeated one the last applies."""
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
    """Created by start_vllm."""

    def __init__(self, client: VllmClient, process: asyncio.subprocess.Process, directory: Path) -> None:
        self.client = client
        self.directory = directory
        """For this process only: it is removed when vLLM has ended."""
        self._process = process
        self._words: deque[bytes] = deque(maxlen=200)
        self._reading = asyncio.create_task(self._read())

    async def until_ready(self, seconds: float) -> None:
        """Raises WorkerError engine_failed if vLLM ends first or takes longer, invalid_request if its arguments are wrong."""
        deadline = asyncio.get_running_loop().time() + seconds
        while not await self.client.is_healthy():
            if self._reading.done():
                words = f"vLLM did not start: {await self.until_ended()}"
                raise WorkerError("invalid_request" if self._process.returncode == USAGE_CODE else "engine_failed", words)
            if asyncio.get_running_loop().time() > deadline:
                words = f"vLLM was not ready after {seconds:.0f} s (--ready-seconds). Its last output: {self._last_words()}"
                raise WorkerError("engine_failed", words)
            await asyncio.sleep(READY_POLL_SECONDS)

    async def until_unusable(self) -> str:
        """Waits until vLLM has ended or no longer answers, and returns which."""
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
        return f"it ended with code {code}. Its last output: {self._last_words()}"

    async def end(self) -> None:
        """Ends vLLM and all its processes."""
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
            if (seconds := self.client.silent_seconds) > SILENCE_SECONDS:  # its health says only that its process exists
                return f"it sent no token for {seconds:.0f} s. Its last output: {self._last_words()}"
        return f"it failed {UNHEALTHY_MAX} health checks in a row. Its last output: {self._last_words()}"

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
        """Returns the last line that mentions an error, or else the last line."""
        line = next((line for line in reversed(self._words) if _ERROR.search(line)), self._words[-1] if self._words else b"")
        return line.decode(errors="replace")[:500] or "none"


@asynccontextmanager
async def start_vllm(options: VllmOptions) -> AsyncIterator[VllmProcess]:
    """Yields a vLLM that is not yet ready. It ends with the context, or with this process."""
    directory = Path(tempfile.mkdtemp(prefix="whetstone-vllm-"))  # short: a socket's path is limited to 107 bytes
    socket = directory / "socket"
    async with open_vllm_client(socket) as client:
        environment = {**_DEFAULTS, **os.environ, **_ENVIRONMENT, **options.environment}
        vllm = VllmProcess(client, await _spawn(serve_arguments(options, socket), directory, environment), directory)
        try:
            yield vllm
        finally:
            await asyncio.shield(vllm.end())


async def _spawn(command: Sequence[str], own: Path, environment: Mapping[str, str]) -> asyncio.subprocess.Process:
    """The leash removes the directory, because it outlives vLLM even if this process is killed."""
    log.info("Starting %s", " ".join(command))
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "whetstone_worker.leash", "--own", str(own)),
        *command,
        env=environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,  # Ctrl-C must reach only the worker
    )
