"""Runs a training worker: creates the engine for one model, the file transfer and the connection to a server, and stops them
when the process is asked to stop.
"""

import asyncio
import logging
import os
from importlib.metadata import version

import torch
from torch.distributed.device_mesh import DeviceMesh

from whetstone_worker.cache_directory import own_directory
from whetstone_worker.compute import ComputeThread
from whetstone_worker.connection import ConnectionOptions, ServerConnection
from whetstone_worker.errors import WorkerError
from whetstone_worker.files import open_worker_files
from whetstone_worker.leaving import leave_on_signals
from whetstone_worker.memory_share import take_share
from whetstone_worker.model_directory import ModelDirectory, find_model
from whetstone_worker.procedures import TrainerProcedures, trainer_limits
from whetstone_worker.trainer.engine import TrainingEngine, open_training_engine
from whetstone_worker.trainer.leading import IDLE_SECONDS, LeadingEngine, follow, join_ranks, part_ranks
from whetstone_worker.worker_options import WorkerOptions

log = logging.getLogger(__name__)

ROW_SECONDS = 1200.0
"""Limit for a row, as that of the server (trainer-pool.ts)."""
CLOSE_SECONDS = 10.0
"""Limit for a row that still runs after the worker has left; it has already had time to finish."""


async def run_trainer(options: WorkerOptions) -> None:
    """Returns when the worker has left its server. Raises RefusedError, and WorkerError if the model cannot be trained here."""
    model = find_model(options.model, options.model_id)
    device = _read_device(options.device)
    mesh = join_ranks(device)
    alone = _open_engine(model, device, mesh, options)
    if mesh and mesh.get_rank() > 0:
        follow(alone)
        part_ranks()
        return
    engine = LeadingEngine(alone) if mesh else alone
    compute = ComputeThread()
    with own_directory(options.cache_directory) as directory:
        async with open_worker_files(options.url, options.key, directory, options.cache_bytes_max) as files:
            trainer = TrainerProcedures(engine, compute, files)
            connection = ServerConnection(
                ConnectionOptions(
                    url=options.url,
                    key=options.key,
                    name=options.name,
                    version=version("whetstone-worker"),
                    hello={
                        "model": model.to_wire(),
                        "roles": ["train"],
                        "sampler": None,
                        "trainer": {
                            "limits": trainer_limits(engine),
                            "capabilities": _capabilities(device, engine),
                            "rowsAtOnce": engine.rows_at_once,
                        },
                    },
                    handlers=trainer.handlers(),
                    forget=trainer.forget,
                    busy=lambda: _busy(compute),
                )
            )
            leave_on_signals(connection.leave)
            standing_by = asyncio.create_task(_stand_by(engine, compute))
            await connection.run()
            standing_by.cancel()
    await _close(engine, compute)
    part_ranks()


def _read_device(name: str | None) -> torch.device:
    try:
        return torch.device(name or ("cuda" if torch.cuda.is_available() else "cpu"))
    except RuntimeError as fault:
        raise WorkerError("invalid_request", f"--device {name}: {fault}") from fault


def _capabilities(device: torch.device, engine: TrainingEngine | LeadingEngine) -> dict[str, bool]:
    return {
        "exactTraining": device.type == "cpu",  # determinism.py requests it on GPUs too; byte equality is untested there
        "keepsGradients": isinstance(engine, TrainingEngine),  # of several ranks each has the gradients of its own rows
    }


def _busy(compute: ComputeThread) -> str | None:
    """Ends the process if its device hangs: only another process could use it again."""
    seconds = compute.busy_seconds
    if seconds > ROW_SECONDS:
        log.critical("A row has been computed for %.0f s and does not end: the worker exits.", seconds)
        os._exit(1)
    return f"a row of an ended session is still being computed, for {seconds:.0f} s" if seconds >= 1 else None


async def _stand_by(engine: TrainingEngine | LeadingEngine, compute: ComputeThread) -> None:
    while isinstance(engine, LeadingEngine):
        await asyncio.sleep(IDLE_SECONDS)
        await compute.run(engine.stand_by)


def _open_engine(
    model: ModelDirectory, device: torch.device, mesh: DeviceMesh | None, options: WorkerOptions
) -> TrainingEngine:
    log.info("Loading %s from %s.", model.id, model.path)
    memory_bytes = options.memory_bytes
    if memory_bytes is None and options.memory_share is not None:
        memory_bytes = take_share(model.path, device, options.memory_share, mesh.size() if mesh else 1)
    engine = open_training_engine(
        model.path,
        device=device,
        memory_bytes=memory_bytes,
        row_length_max=options.row_length_max,
        base_model_name=model.id,
        mesh=mesh,
    )
    limits = engine.limits
    if limits.row_length_max < 1:
        words = f"No row of {model.id} fits into {limits.memory.budget_bytes} bytes: raise --memory or --memory-share."
        raise WorkerError("invalid_request", words)
    log.info("Trains rows of up to %d tokens.", limits.row_length_max)
    return engine


async def _close(engine: TrainingEngine | LeadingEngine, compute: ComputeThread) -> None:
    closing = asyncio.ensure_future(compute.run(engine.close))
    await asyncio.wait([closing], timeout=CLOSE_SECONDS)
    if not closing.done():
        log.warning("A row is still being computed although its result is no longer needed: the worker exits without it.")
        os._exit(0)  # a normal interpreter exit would unload PyTorch while the row still uses it
