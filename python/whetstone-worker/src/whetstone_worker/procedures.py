"""The procedures of a trainer (docs/worker-protocol.md, section 5) on one TrainingEngine. Downloads the files of an adapter
into a directory, uploads saved files, and runs all computation on one thread. The counterpart of serve-worker.ts. Does not
know the connection.
"""

import asyncio
import logging
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import torch

from whetstone_worker.calls import Call, Handler
from whetstone_worker.compute import ComputeThread
from whetstone_worker.errors import WorkerError
from whetstone_worker.files import WorkerFiles
from whetstone_worker.params import read_files, read_open_options, read_optimizer_params, read_rows
from whetstone_worker.trainer.engine import OpenSessionOptions, TrainingEngine
from whetstone_worker.trainer.leading import LeadingEngine, LeadingSession
from whetstone_worker.trainer.loss_program import parse_loss_program
from whetstone_worker.trainer.session import ForwardBackwardResult, TrainingSession

T = TypeVar("T")

log = logging.getLogger(__name__)


class TrainerProcedures:
    """`engine` and the open session are used on the `compute` thread only."""

    def __init__(self, engine: TrainingEngine | LeadingEngine, compute: ComputeThread, files: WorkerFiles) -> None:
        self._engine = engine
        self._compute = compute
        self._files = files
        self._session: TrainingSession | LeadingSession | None = None
        self._number = 0
        """The number of the session that was opened last."""

    def handlers(self) -> dict[str, Handler]:
        return {
            "open": self.open,
            "logprobs": self.logprobs,
            "forwardBackward": self.forward_backward,
            "optimStep": self.optim_step,
            "save": self.save,
            "closeSession": self.close_session,
        }

    def forget(self) -> None:
        """Closes the session because its server is gone. Returns at once: later calls queue after it on the compute thread."""
        asyncio.ensure_future(self._compute.run(self._close)).add_done_callback(_log_fault)

    async def open(self, params: Any, call: Call) -> int:
        files = read_files(params, "from")
        directory = None if files is None else await self._files.fetch(files)
        options = read_open_options(params, directory)
        try:
            return await self._computed(lambda: self._open(options, call))
        finally:
            if directory:
                shutil.rmtree(directory, ignore_errors=True)

    async def logprobs(self, params: Any, call: Call) -> object:
        def work() -> object:
            return _results(params, self._of(params, call).logprobs(read_rows(params)))

        return await self._computed(work)

    async def forward_backward(self, params: Any, call: Call) -> object:
        def work() -> object:
            session = self._of(params, call)
            results = session.forward_backward(read_rows(params), parse_loss_program(params["loss"]))
            return _results(params, [_result_to_wire(result) for result in results])

        return await self._computed(work)

    async def optim_step(self, params: Any, call: Call) -> object:
        update = read_optimizer_params(params)
        norm = await self._computed(lambda: self._of(params, call).optim_step(update))
        return {"gradNorm": float(norm)}

    async def save(self, params: Any, call: Call) -> object:
        resumable = bool(params["options"]["resumable"])
        gradients = bool(params["options"].get("gradients", False))
        directory = self._files.make_directory()
        try:
            await self._computed(lambda: self._of(params, call).save(directory, resumable=resumable, gradients=gradients))
            return [file.to_wire() for file in await self._files.bring(directory)]
        finally:
            shutil.rmtree(directory, ignore_errors=True)

    async def close_session(self, params: Any, _call: Call) -> None:
        await self._compute.run(lambda: self._close(params["session"]))

    async def _computed(self, work: Callable[[], T]) -> T:
        try:
            return await self._compute.run(work)
        except torch.AcceleratorError as fault:
            log.critical("The device computes nothing more in this process, which exits: %s", fault)
            os._exit(1)

    def _open(self, options: OpenSessionOptions, call: Call) -> int:
        self._session = self._engine.open(options, lambda: call.aborted)
        self._number += 1
        return self._number

    def _of(self, params: Mapping[str, Any], call: Call) -> TrainingSession | LeadingSession:
        if call.aborted:
            raise WorkerError("cancelled", "The call was cancelled before it began.")
        if self._session is None or params["session"] != self._number:
            raise WorkerError("engine_unavailable", f"The training session {params['session']} is not open on this worker.")
        return self._session

    def _close(self, number: int | None = None) -> None:
        """Closes session `number`, or the open session if None."""
        if self._session and number in (None, self._number):
            self._session.close()
            self._session = None


def trainer_limits(engine: TrainingEngine | LeadingEngine) -> dict[str, object]:
    """Returns the limits in the format of the hello message."""
    limits = engine.limits
    return {
        "contextLength": limits.context_length,
        "rowLengthMax": limits.row_length_max,
        "memory": {
            "budgetBytes": limits.memory.budget_bytes,
            "fixedBytes": limits.memory.fixed_bytes,
            "bytesPerToken": limits.memory.bytes_per_token,
            "bytesPerPair": limits.memory.bytes_per_pair,
            "bytesPerRank": limits.memory.bytes_per_rank,
            "headBytesPerRank": limits.memory.head_bytes_per_rank,
        },
    }


def _results(params: Any, results: Sequence[object]) -> object:
    """Returns one result for a call with `row`, a list for a call with `rows`."""
    return list(results) if "rows" in params else results[0]


def _result_to_wire(result: ForwardBackwardResult) -> dict[str, object]:
    metrics = {name: float(value) for name, value in result.metrics.items()}
    return {"loss": float(result.loss), "metrics": metrics, "logprobs": result.logprobs}


def _log_fault(closing: "asyncio.Future[None]") -> None:
    if not closing.cancelled() and (fault := closing.exception()):
        log.error("A training session could not be closed.", exc_info=fault)
