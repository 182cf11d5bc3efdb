"""The operations on one adapter: log-probabilities, gradients, update, save. Owns the adapter, its optimizer state and the
gradients not yet applied; the base model belongs to the engine. An operation that fails changes nothing, except for an update
that makes weights that are not finite.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from whetstone_worker.errors import WorkerError
from whetstone_worker.trainer.adamw import (
    AdamwState,
    OptimizerParams,
    apply_adamw,
    clip_coefficient,
    create_adamw_state,
    global_norm,
)
from whetstone_worker.trainer.adapter_files import write_adapter, write_gradients, write_optimizer
from whetstone_worker.trainer.base_model import BaseModel
from whetstone_worker.trainer.evaluate_loss import check_inputs, evaluate_loss, token_values
from whetstone_worker.trainer.lora import HEAD, Adapter, a_name, b_name
from whetstone_worker.trainer.lora_linear import put_on, take_off
from whetstone_worker.trainer.loss_program import LossProgram
from whetstone_worker.trainer.row import Float32, RowLimits, TrainingRow, check_row
from whetstone_worker.trainer.token_head import HeadAdapter, token_head

T = TypeVar("T")


@dataclass(frozen=True)
class ForwardBackwardResult:
    loss: float
    metrics: Mapping[str, float]
    logprobs: Float32
    """Log-probabilities of row.targets as the loss used them, `[trained]`, in nats."""


class TrainingSession:
    """Created by TrainingEngine.open. One operation at a time."""

    def __init__(
        self,
        base: BaseModel,
        limits: RowLimits,
        adapter: Adapter,
        optimizer: AdamwState | None,
        gradients: Mapping[str, Tensor] | None,
        head_tokens: int,
        on_close: Callable[[], None],
        sum_gradients: Callable[[Sequence[Tensor]], None],
    ) -> None:
        """`gradients`: not yet applied, to go on from.

        `sum_gradients`: replaces the gradients, in place, by their sum over all ranks (ranks.py).
        """
        self._base = base
        self._limits = limits
        self._head_tokens = head_tokens
        self._on_close = on_close
        self._sum_gradients = sum_gradients
        self._adapter = _on_device(adapter, base.device)
        self._optimizer = _moments_on_device(optimizer, base.device) or create_adamw_state(self._adapter.tensors)
        self._gradients = {name: torch.zeros_like(tensor) for name, tensor in self._adapter.tensors.items()}
        for name, gradient in (gradients or {}).items():
            self._gradients[name].copy_(gradient)
        for tensor in self._adapter.tensors.values():
            tensor.requires_grad_(True)
        put_on(base.linears, self._adapter)
        self._head_adapter = _find_head_adapter(self._adapter)
        self._open = True

    def check(self, rows: Sequence[TrainingRow], loss: LossProgram | None = None) -> None:
        """Raises the WorkerError with which `logprobs` or `forward_backward` would refuse the rows."""
        self._check_open()
        for row in rows:
            check_row(row, self._limits)
            if loss:
                check_inputs(row, loss)

    def logprobs(self, rows: Sequence[TrainingRow]) -> list[Float32]:
        """Returns the log-probabilities of each row's targets under the current weights, `[row][trained]`, in nats."""
        self.check(rows)
        return [self._row_logprobs(row) for row in rows]

    def forward_backward(self, rows: Sequence[TrainingRow], loss: LossProgram) -> list[ForwardBackwardResult]:
        """Adds the gradients of the rows, in order, to those not yet applied."""
        self.check(rows, loss)
        computed = [self._row_gradients(row, loss) for row in rows]
        for _, gradients in computed:
            for sum_, gradient in zip(self._gradients.values(), gradients, strict=True):
                sum_ += gradient
        return [result for result, _ in computed]

    def optim_step(self, params: OptimizerParams) -> float:
        """Applies and clears the gradients. Returns their global norm before clipping."""
        self._check_open()
        self._sum_gradients(list(self._gradients.values()))
        norm = global_norm(self._gradients)
        if not np.isfinite(norm):
            self._clear_gradients()
            raise WorkerError(
                "engine_failed",
                f"The gradient norm is {norm}: the update was not applied. Lower the learning rate, or look for "
                "log-probabilities or rewards that are not finite.",
            )
        scale = clip_coefficient(norm, params.max_grad_norm)
        apply_adamw(self._adapter.tensors, self._gradients, self._optimizer, params, scale)
        self._clear_gradients()
        self._require_finite(f"after an update with learning rate {params.learning_rate}, which is far too large")
        return norm

    def save(self, directory: Path, *, resumable: bool, gradients: bool = False) -> None:
        """Writes into an existing, empty directory, with fsync. Raises WorkerError storage_unavailable."""
        self._check_open()
        self._require_finite("and are not saved")
        if gradients:
            write_gradients(directory, self._gradients)
        if resumable:
            write_optimizer(directory, self._optimizer)
        write_adapter(directory, self._adapter, self._base.name)

    def close(self) -> None:
        if not self._open:
            return
        self._open = False
        take_off(list(self._base.linears.values()))
        self._gradients.clear()
        self._on_close()

    def _token_values(self, row: TrainingRow) -> tuple[Tensor, Tensor]:
        base = self._base
        places = torch.from_numpy(row.predict_from).long().to(base.device)
        targets = torch.from_numpy(row.targets).long().to(base.device)
        return token_head(base.states(row)[places], base.head, targets, self._head_tokens, self._head_adapter)

    def _row_logprobs(self, row: TrainingRow) -> Float32:
        if len(row.targets) == 0:
            return np.zeros(0, dtype=np.float32)
        with torch.no_grad():
            logprobs, _ = _computed(lambda: self._token_values(row), row)
        result: Float32 = logprobs.cpu().numpy()
        return result

    def _row_gradients(self, row: TrainingRow, program: LossProgram) -> tuple[ForwardBackwardResult, list[Tensor]]:
        if len(row.targets) > 0:
            return _computed(lambda: self._trained_row_gradients(row, program), row)
        result = ForwardBackwardResult(0.0, dict.fromkeys(program.metrics, 0.0), np.zeros(0, dtype=np.float32))
        return result, self._zeros()

    def _trained_row_gradients(self, row: TrainingRow, program: LossProgram) -> tuple[ForwardBackwardResult, list[Tensor]]:
        logprobs, entropies = self._token_values(row)
        value = evaluate_loss(program, token_values(row, program, logprobs, entropies))
        adapted = list(self._adapter.tensors.values())
        # A program that does not use the log-probabilities has no gradient.
        if value.loss.requires_grad:
            gradients = list(torch.autograd.grad(value.loss, adapted, materialize_grads=True))
        else:
            gradients = self._zeros()
        read: Float32 = logprobs.detach().cpu().numpy()
        return ForwardBackwardResult(float(value.loss.detach()), value.metrics, read), gradients

    def _zeros(self) -> list[Tensor]:
        return [torch.zeros_like(tensor) for tensor in self._adapter.tensors.values()]

    def _clear_gradients(self) -> None:
        for gradient in self._gradients.values():
            gradient.zero_()

    def _require_finite(self, circumstances: str) -> None:
        for name, tensor in self._adapter.tensors.items():
            if not tensor.isfinite().all():
                words = f"The adapter's weights are not finite ({name}) {circumstances}."
                raise WorkerError("engine_failed", words)

    def _check_open(self) -> None:
        if not self._open:
            raise WorkerError("engine_unavailable", "This training session is closed.")


def _computed(work: Callable[[], T], row: TrainingRow) -> T:
    try:
        return work()
    except torch.OutOfMemoryError as cause:
        torch.cuda.empty_cache()
        words = f"A row of {len(row.tokens)} tokens did not fit into the device's memory: {cause}"
        raise WorkerError("engine_failed", words) from cause


def _find_head_adapter(adapter: Adapter) -> HeadAdapter | None:
    if HEAD not in adapter.shape.targets:
        return None
    return HeadAdapter(adapter.tensors[a_name(HEAD)], adapter.tensors[b_name(HEAD)], adapter.shape.scale)


def _on_device(adapter: Adapter, device: torch.device) -> Adapter:
    return Adapter(adapter.shape, {name: tensor.to(device) for name, tensor in adapter.tensors.items()})


def _moments_on_device(state: AdamwState | None, device: torch.device) -> AdamwState | None:
    if state is None:
        return None
    mean = {name: tensor.to(device) for name, tensor in state.mean.items()}
    square = {name: tensor.to(device) for name, tensor in state.square.items()}
    return AdamwState(state.step, mean, square)
