"""Runs a sampling worker: vLLM for one model, the file transfer and the connection to a server. The worker is connected only
while vLLM can sample: requests sent while vLLM loads, or after it has died, would wait for nothing.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from time import monotonic
from typing import Any

from whetstone_worker.cache_directory import own_directory
from whetstone_worker.connection import ConnectionOptions, ServerConnection
from whetstone_worker.errors import WorkerError
from whetstone_worker.files import WorkerFiles, open_worker_files
from whetstone_worker.leaving import leave_on_signals
from whetstone_worker.model_directory import ModelDirectory, find_model
from whetstone_worker.sampling.adapter_shapes import AdapterShapes, open_adapter_shapes
from whetstone_worker.sampling.adapters import Adapters
from whetstone_worker.sampling.base_model import BaseModel, read_base_model
from whetstone_worker.sampling.base_name import name_of_base
from whetstone_worker.sampling.head_probe import takes_head_adapters
from whetstone_worker.sampling.options import SamplerOptions
from whetstone_worker.sampling.procedures import SamplerProcedures, sampler_hello
from whetstone_worker.sampling.request import ModelShape
from whetstone_worker.sampling.vllm_platform import computes_on_processors
from whetstone_worker.sampling.vllm_process import VllmOptions, VllmProcess, start_vllm
from whetstone_worker.waiting import result_within
from whetstone_worker.worker_options import WorkerOptions

log = logging.getLogger(__name__)

RESTART_PAUSES = (1.0, 5.0, 30.0)
"""Seconds before vLLM is started again after it died. Their number is the limit of deaths in a row."""
SERVED_SECONDS = 600.0
"""A vLLM that was ready this long resets the count of deaths in a row."""
READY_WORDS = "vLLM is ready."
"""A line of the log, for which run_roles.py waits."""
STATUS_SECONDS = 0.25
FAIL_SECONDS = 10.0
"""Time for the running calls to fail after vLLM is gone."""


async def run_sampler(options: WorkerOptions, sampler: SamplerOptions) -> None:
    """Returns when the worker has left its server. Raises RefusedError, and WorkerError if the model cannot be sampled here."""
    directory = find_model(options.model, options.model_id)
    leaving = asyncio.Event()
    leave_on_signals(leaving.set)
    model = read_base_model(directory.path, sampler.dtype)
    shapes = open_adapter_shapes(directory.path, is_quantised=model.is_quantised, rank_max=sampler.adapter_rank_max)
    vllm_options = sampler.vllm(directory.path, model.dtype, options.device)
    with own_directory(options.cache_directory) as cache:
        async with open_worker_files(options.url, options.key, cache, options.cache_bytes_max) as files:
            served = _Served(options, sampler, directory, model, shapes, files)
            await _keep_up(vllm_options, lambda vllm: _serve(vllm, served, leaving), leaving)


async def _keep_up(options: VllmOptions, serve: Callable[[VllmProcess], Awaitable[str | None]], leaving: asyncio.Event) -> None:
    """`serve`: called with a vLLM that is ready. It returns why vLLM was lost, or None if the worker has left."""
    deaths = 0
    while not leaving.is_set():
        began = monotonic()
        async with start_vllm(options) as vllm:
            try:
                if not await _done_before(leaving, vllm.until_ready(options.ready_seconds)):
                    return
                log.info(READY_WORDS)
                began = monotonic()
                cause = await serve(vllm)
            except WorkerError as fault:
                if deaths == 0:  # vLLM has never been ready, or the model cannot be served
                    raise
                cause, began = fault.message, monotonic()
        if cause is None:
            return
        deaths = 1 if monotonic() - began > SERVED_SECONDS else deaths + 1
        if deaths > len(RESTART_PAUSES):
            raise WorkerError("engine_failed", f"vLLM stopped {deaths} times in a row and is not restarted: {cause}")
        log.error("vLLM stopped and is being restarted: %s", cause)
        with suppress(asyncio.TimeoutError):
            await result_within(leaving.wait(), RESTART_PAUSES[deaths - 1])


async def _done_before(leaving: asyncio.Event, work: Coroutine[Any, Any, None]) -> bool:
    """Returns False if the worker was asked to leave first. Raises what the work raises."""
    working, left = asyncio.ensure_future(work), asyncio.ensure_future(leaving.wait())
    try:
        await asyncio.wait((working, left), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            await working
        return working.done()
    finally:
        working.cancel()
        left.cancel()


class _Served:
    """What remains the same when vLLM is started again."""

    def __init__(
        self,
        options: WorkerOptions,
        sampler: SamplerOptions,
        directory: ModelDirectory,
        model: BaseModel,
        shapes: AdapterShapes,
        files: WorkerFiles,
    ) -> None:
        self._options = options
        self._sampler = sampler
        self._directory = directory
        self._model = model
        self._shapes = shapes
        self._files = files

    async def connect(self, vllm: VllmProcess) -> tuple[ServerConnection, SamplerProcedures]:
        sampler, model, client = self._sampler, self._model, vllm.client
        length = min(model.context_length, await client.context_length())
        shape = ModelShape(context_length=length, vocab_size=model.vocab_size)
        base_name = await name_of_base(
            client, model, self._shapes, vllm.directory, on_processor=await computes_on_processors(sampler.vllm_command)
        )
        takes_head = await takes_head_adapters(client, base_name, model.vocab_size, model.hidden_size)
        adapters = Adapters(client, self._files, replace(self._shapes, takes_head=takes_head), sampler.adapters_max)
        procedures = SamplerProcedures(client, adapters, shape, sampler.sequences_max, base_name)
        hello = {
            "model": self._directory.to_wire(),
            "roles": ["sample"],
            "sampler": sampler_hello(model, shape, sampler.sequences_max, sampler.adapters_max, takes_head_adapters=takes_head),
            "trainer": None,
        }
        connection = ServerConnection(
            ConnectionOptions(
                url=self._options.url,
                key=self._options.key,
                name=self._options.name,
                version=version("whetstone-worker"),
                hello=hello,
                handlers=procedures.handlers(),
                forget=lambda: None,  # calls end with the session; adapters stay loaded for the next one
            )
        )
        return connection, procedures


async def _serve(vllm: VllmProcess, served: _Served, leaving: asyncio.Event) -> str | None:
    connection, procedures = await served.connect(vllm)
    running = asyncio.ensure_future(connection.run())
    lost = asyncio.ensure_future(vllm.until_unusable())
    left = asyncio.ensure_future(leaving.wait())
    left.add_done_callback(lambda _: connection.leave())
    reporting = asyncio.ensure_future(_report_status(connection, procedures))
    try:
        await asyncio.wait((running, lost), return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            await running
            return None
        connection.leave()
        with suppress(asyncio.TimeoutError):
            await result_within(connection.until_draining(), FAIL_SECONDS)
        procedures.takes_no_calls.set()  # its calls fail now, and the server sends repeats to another worker
        await asyncio.wait((running,), timeout=FAIL_SECONDS)
        return lost.result()
    finally:
        for task in (running, lost, left, reporting):
            task.cancel()
        await asyncio.gather(running, lost, left, reporting, return_exceptions=True)


async def _report_status(connection: ServerConnection, procedures: SamplerProcedures) -> None:
    """Sends the status when it has changed, or when a server has not received it."""
    reported: tuple[object, object] | None = None
    while True:
        status = connection.session_id, procedures.status()
        if status != reported and connection.notify("status", status[1]):
            reported = status
        await asyncio.sleep(STATUS_SECONDS)
