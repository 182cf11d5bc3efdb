"""One session over several ranks: the layers of the base model are sharded (FSDP2), the rows of a call are distributed, and the
adapter, which is small, is replicated. Every rank makes the same calls with the same rows; rank 0 alone writes files.

Layers are gathered by all ranks together, so every rank computes in every round: a rank without a row computes the first row
again and discards the result. A rank that dies leaves the others waiting; their supervisor ends them all.
"""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

from whetstone_worker.trainer.adamw import OptimizerParams
from whetstone_worker.trainer.loss_program import LossProgram, parse_loss_program
from whetstone_worker.trainer.row import Float32, TrainingRow
from whetstone_worker.trainer.session import ForwardBackwardResult, TrainingSession

T = TypeVar("T")

log = logging.getLogger(__name__)

_NOTHING = parse_loss_program(
    {"name": "nothing", "perToken": {"op": "mul", "x": {"op": "constant", "value": 0}, "y": {"op": "logprob"}}, "metrics": {}}
)
"""A loss that needs every gradient, and whose gradients are all 0."""


class RankedSession:
    """A session that computes as many rows at once as there are ranks. `session`: this rank's own, with `sum_over_ranks`."""

    def __init__(self, session: TrainingSession) -> None:
        self._session = session
        self.rows_computed = 0
        """The number of rows that this rank computed and whose results were used."""

    def logprobs(self, rows: Sequence[TrainingRow]) -> list[Float32]:
        self._session.check(rows)
        return self._dealt(rows, self._session.logprobs, self._session.logprobs)

    def forward_backward(self, rows: Sequence[TrainingRow], loss: LossProgram) -> list[ForwardBackwardResult]:
        self._session.check(rows, loss)
        return self._dealt(
            rows,
            lambda own: self._session.forward_backward(own, loss),
            lambda idle: self._session.forward_backward(idle, _NOTHING),
        )

    def optim_step(self, params: OptimizerParams) -> float:
        return self._session.optim_step(params)

    def save(self, directory: Path, *, resumable: bool) -> None:
        if dist.get_rank() == 0:
            self.save_alone(directory, resumable=resumable)
        dist.barrier()

    def save_alone(self, directory: Path, *, resumable: bool) -> None:
        """Called on one rank only: each has everything that is saved."""
        self._session.save(directory, resumable=resumable)

    def close(self) -> None:
        self._session.close()
        log.info("Rank %d computed %d rows of the session that has closed.", dist.get_rank(), self.rows_computed)

    def _dealt(
        self,
        rows: Sequence[TrainingRow],
        compute: Callable[[Sequence[TrainingRow]], list[T]],
        idle: Callable[[Sequence[TrainingRow]], object],
    ) -> list[T]:
        """Returns the results of all rows, on every rank. Rows without trained tokens take part in no round."""
        rank, ranks = dist.get_rank(), dist.get_world_size()
        found: dict[int, T] = {index: compute([row])[0] for index, row in enumerate(rows) if len(row.targets) == 0}
        waiting = [index for index in range(len(rows)) if index not in found]
        for first in range(0, len(waiting), ranks):
            if first + rank < len(waiting):
                index = waiting[first + rank]
                found[index] = compute([rows[index]])[0]
                self.rows_computed += 1
            else:
                idle([rows[waiting[0]]])
        everyone: list[dict[int, T]] = [{} for _ in range(ranks)]
        dist.all_gather_object(everyone, found)
        for other in everyone:
            found |= other
        return [found[index] for index in range(len(rows))]


def sum_over_ranks(gradients: Sequence[Tensor]) -> None:
    """Sums in place, in one message, because adapters have hundreds of small tensors."""
    flat = torch.cat([gradient.flatten() for gradient in gradients])
    dist.all_reduce(flat)
    for gradient, sum_ in zip(gradients, torch.split(flat, [g.numel() for g in gradients]), strict=True):
        gradient.copy_(sum_.view_as(gradient))


def least_over_ranks(value: int) -> int:
    """Returns the minimum, so that either all ranks refuse a row or none does."""
    values = [value] * dist.get_world_size()
    dist.all_gather_object(values, value)
    return min(values)
