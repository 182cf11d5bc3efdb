"""TrainingEngine on PyTorch: LoRA over a frozen Transformers model, one session at a time. The owner of the connection calls it
from one thread at a time. Does not know the wire format or jobs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.distributed.device_mesh import DeviceMesh

from whetstone_worker.errors import WorkerError
from whetstone_worker.trainer.adamw import AdamwState
from whetstone_worker.trainer.adapter_files import find_gradients, find_optimizer, read_adapter
from whetstone_worker.trainer.base_model import BaseModel, arithmetic_of, open_base_model
from whetstone_worker.trainer.determinism import be_deterministic
from whetstone_worker.trainer.lora import ALL_LINEAR, Adapter, LinearLayer, create_adapter
from whetstone_worker.trainer.memory import TrainingLimits, default_budget_bytes, give_freed_memory_back, training_limits
from whetstone_worker.trainer.ranks import least_over_ranks, sum_over_ranks
from whetstone_worker.trainer.row import RowLimits
from whetstone_worker.trainer.session import TrainingSession
from whetstone_worker.trainer.token_head import head_chunk


@dataclass(frozen=True)
class LoraConfig:
    rank: int
    alpha: float
    seed: int
    targets: tuple[str, ...] = ALL_LINEAR
    rank_stabilized: bool = False


@dataclass(frozen=True)
class OpenSessionOptions:
    start: Path | None
    """PEFT directory to start from (`from` of the contract); None: a fresh adapter."""
    lora: LoraConfig
    reset_optimizer: bool = False
    """Start with zero moments, and without gradients, even if `start` has some."""
    head_tokens_max: int | None = None
    """Number of trained tokens whose logits may be in memory at once."""


@dataclass(frozen=True)
class EngineStatus:
    ready: bool
    busy: bool


class TrainingEngine:
    """Created by open_training_engine."""

    def __init__(self, base: BaseModel, limits: TrainingLimits, sum_gradients: Callable[[Sequence[Tensor]], None]) -> None:
        self.limits = limits
        self.rows_at_once = 1
        self._base = base
        self._sum_gradients = sum_gradients
        self._session: TrainingSession | None = None
        self._closed = False

    def open(self, options: OpenSessionOptions, cancelled: Callable[[], bool] = lambda: False) -> TrainingSession:
        """`cancelled` is called before and after files are read. Raises WorkerError."""
        if self._closed:
            raise WorkerError("engine_unavailable", "The training engine is closed.")
        if self._session is not None:
            raise WorkerError("engine_unavailable", "The training engine already has an open session.")
        _check_cancelled(cancelled)
        adapter, optimizer, gradients = _read_start(options, self._base.layers)
        _check_cancelled(cancelled)
        length, vocab = self.limits.row_length_max, self._base.sizes.vocab
        self._session = TrainingSession(
            base=self._base,
            limits=RowLimits(row_length_max=length, max_positions=min(length, self.limits.context_length), vocab=vocab),
            adapter=adapter,
            optimizer=optimizer,
            gradients=gradients,
            head_tokens=head_chunk(vocab, options.head_tokens_max),
            on_close=self._forget_session,
            sum_gradients=self._sum_gradients,
        )
        return self._session

    def status(self) -> EngineStatus:
        return EngineStatus(ready=not self._closed, busy=self._session is not None)

    def close(self) -> None:
        self._closed = True
        if self._session is not None:
            self._session.close()

    def _forget_session(self) -> None:
        self._session = None
        if self._base.device.type == "cuda":
            torch.cuda.empty_cache()


def open_training_engine(
    directory: Path,
    *,
    device: torch.device | None = None,
    threads: int = 1,
    memory_bytes: int | None = None,
    row_length_max: int | None = None,
    base_model_name: str | None = None,
    mesh: DeviceMesh | None = None,
) -> TrainingEngine:
    """`memory_bytes`: for rows, in addition to the weights; default: 85 % of a GPU's free memory, else 40 % of the machine's.
    `base_model_name`: written into adapter_config.json; default: the directory's name.
    `mesh`: set if this is one of several ranks that share the model (ranks.py)."""
    be_deterministic(threads)
    give_freed_memory_back()
    device = device or torch.device("cuda" if torch.cuda.is_available() else "cpu")
    arithmetic = arithmetic_of(device)
    base = open_base_model(directory, device, arithmetic, base_model_name, mesh)
    budget = memory_bytes or default_budget_bytes(device)
    limits = training_limits(
        base.sizes,
        budget if mesh is None else least_over_ranks(budget),
        float_bytes=arithmetic.dtype.itemsize,
        dense_mask=not arithmetic.flex,
        row_length_max=row_length_max,
    )
    return TrainingEngine(base, limits, _own if mesh is None else sum_over_ranks)


def _own(_gradients: Sequence[Tensor]) -> None:
    """Does nothing: with a single rank there are no other gradients to add."""


_Start = tuple[Adapter, AdamwState | None, dict[str, Tensor] | None]


def _read_start(options: OpenSessionOptions, layers: list[LinearLayer]) -> _Start:
    if options.start is None:
        lora = options.lora
        fresh = create_adapter(layers, lora.rank, lora.alpha, lora.seed, lora.targets, rank_stabilized=lora.rank_stabilized)
        return fresh, None, None
    adapter = read_adapter(options.start, layers)
    if options.reset_optimizer:
        return adapter, None, None
    shape = adapter.shape
    return adapter, find_optimizer(options.start, layers, shape), find_gradients(options.start, layers, shape)


def _check_cancelled(cancelled: Callable[[], bool]) -> None:
    if cancelled():
        raise WorkerError("cancelled", "Opening the training session was cancelled.")
