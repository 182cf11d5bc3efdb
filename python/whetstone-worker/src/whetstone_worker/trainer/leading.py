"""A trainer of several ranks as one: rank 0 presents a TrainingEngine to the connection and sends each command to the other
ranks, which execute it at the same time (`follow`). The others need no server, no key and no shared disk: the files that a
session starts from are sent to them as bytes.

All ranks refuse the same rows, because they check the same rows against the same limits. A fault of a single rank (out of
memory, a broken connection) leaves the others waiting in a collective operation: the process exits at once, and the others
with it. Their supervisor starts them again.
"""

import logging
import os
import signal
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

from whetstone_worker.errors import WorkerError
from whetstone_worker.trainer.adamw import OptimizerParams
from whetstone_worker.trainer.engine import OpenSessionOptions, TrainingEngine
from whetstone_worker.trainer.loss_program import LossProgram
from whetstone_worker.trainer.ranks import RankedSession
from whetstone_worker.trainer.row import Float32, TrainingRow
from whetstone_worker.trainer.session import ForwardBackwardResult, TrainingSession

T = TypeVar("T")

JOIN_SECONDS = 600.0
"""Limit for a rank to start: its machine may be slow, and may have to download the model."""
SILENCE_SECONDS = 1800.0
"""Limit for rank 0 to send a command, and for a rank inside a collective operation: longer than the longest row."""
IDLE_SECONDS = 300.0
"""How often an idle rank 0 sends a sign of life."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Open:
    files: Mapping[str, bytes] | None
    """The files of the directory to start from."""
    options: OpenSessionOptions


@dataclass(frozen=True)
class _Logprobs:
    rows: Sequence[TrainingRow]


@dataclass(frozen=True)
class _ForwardBackward:
    rows: Sequence[TrainingRow]
    loss: LossProgram


@dataclass(frozen=True)
class _OptimStep:
    params: OptimizerParams


@dataclass(frozen=True)
class _CloseSession:
    pass


@dataclass(frozen=True)
class _StandBy:
    pass


@dataclass(frozen=True)
class _End:
    pass


_Command = _Open | _Logprobs | _ForwardBackward | _OptimStep | _CloseSession | _StandBy | _End


def join_ranks(device: torch.device) -> DeviceMesh | None:
    """Reads torchrun's variables (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT). Returns None if this is the only process."""
    ranks = int(os.environ.get("WORLD_SIZE", "1"))
    if ranks == 1:
        return None
    if device.type == "cuda":
        torch.cuda.set_device(device)
    backend = "cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo"
    dist.init_process_group(backend, timeout=timedelta(seconds=JOIN_SECONDS))
    log.info("This is rank %d of %d.", dist.get_rank(), ranks)
    return init_device_mesh(device.type, (ranks,))


def part_ranks() -> None:
    """Ends the process group. PyTorch aborts a process that exits while a thread of its group still runs."""
    if dist.is_initialized():
        dist.destroy_process_group()


class LeadingEngine:
    """Runs on rank 0. All methods must be called on one thread."""

    def __init__(self, engine: TrainingEngine) -> None:
        self.limits = engine.limits
        self.rows_at_once = dist.get_world_size()
        self._engine = engine
        self._commands = _command_group()

    def open(self, options: OpenSessionOptions, cancelled: Callable[[], bool] = lambda: False) -> "LeadingSession":
        if cancelled():
            raise WorkerError("cancelled", "Opening the training session was cancelled.")
        files = None if options.start is None else {path.name: path.read_bytes() for path in options.start.iterdir()}
        command = _Open(files, replace(options, start=None))
        session = self.do(command, lambda: self._engine.open(options))
        return LeadingSession(self, RankedSession(session))

    def stand_by(self) -> None:
        """Sends a sign of life, so that the other ranks do not time out."""
        self.do(_StandBy(), lambda: None)

    def close(self) -> None:
        self.do(_End(), self._engine.close)

    def do(self, command: _Command, work: Callable[[], T]) -> T:
        """Executes the command on all ranks."""
        try:
            dist.broadcast_object_list([command], src=0, group=self._commands)
            return work()
        except Exception as fault:
            if _is_shared(fault):
                raise
            log.critical("The ranks are out of step: all of them exit.", exc_info=fault)
            os._exit(1)


class LeadingSession:
    def __init__(self, engine: LeadingEngine, session: RankedSession) -> None:
        self._engine = engine
        self._session = session

    def logprobs(self, rows: Sequence[TrainingRow]) -> list[Float32]:
        return self._engine.do(_Logprobs(rows), lambda: self._session.logprobs(rows))

    def forward_backward(self, rows: Sequence[TrainingRow], loss: LossProgram) -> list[ForwardBackwardResult]:
        return self._engine.do(_ForwardBackward(rows, loss), lambda: self._session.forward_backward(rows, loss))

    def optim_step(self, params: OptimizerParams) -> float:
        return self._engine.do(_OptimStep(params), lambda: self._session.optim_step(params))

    def save(self, directory: Path, *, resumable: bool, gradients: bool = False) -> None:
        """Every rank has the whole adapter; one writes it. Of the gradients each has those of its own rows."""
        if gradients:
            raise WorkerError("invalid_request", "A trainer of several ranks does not save gradients that no step has applied.")
        self._session.save_alone(directory, resumable=resumable)

    def close(self) -> None:
        self._engine.do(_CloseSession(), self._session.close)


def follow(engine: TrainingEngine) -> None:
    """Runs on the other ranks until rank 0 ends. Raises any fault that must end all ranks."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)  # rank 0 handles the signal, finishes, and then ends this rank
    commands = _command_group()
    session: RankedSession | None = None
    while True:
        heard: list[_Command] = [_StandBy()]
        dist.broadcast_object_list(heard, src=0, group=commands)
        try:
            match heard[0]:
                case _Open(files, options):
                    session = RankedSession(_open(engine, files, options))
                case _Logprobs(rows) if session:
                    session.logprobs(rows)
                case _ForwardBackward(rows, loss) if session:
                    session.forward_backward(rows, loss)
                case _OptimStep(params) if session:
                    session.optim_step(params)
                case _CloseSession() if session:
                    session.close()
                case _End():
                    return engine.close()
        except Exception as fault:
            if not _is_shared(fault):
                raise


def _open(engine: TrainingEngine, files: Mapping[str, bytes] | None, options: OpenSessionOptions) -> TrainingSession:
    if files is None:
        return engine.open(options)
    with tempfile.TemporaryDirectory(prefix="whetstone-rank-") as start:
        for name, content in files.items():
            (Path(start) / name).write_bytes(content)
        return engine.open(replace(options, start=Path(start)))


def _command_group() -> dist.ProcessGroup:
    group: dist.ProcessGroup = dist.new_group(backend="gloo", timeout=timedelta(seconds=SILENCE_SECONDS))
    return group


def _is_shared(fault: Exception) -> bool:
    """Whether all ranks raise this fault."""
    return isinstance(fault, WorkerError) and not isinstance(fault.__cause__, torch.OutOfMemoryError)
