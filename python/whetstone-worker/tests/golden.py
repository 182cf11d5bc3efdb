"""Replays the calls of a job (test/support/worker/tape.ts) on a session of this engine, and compares with the fixtures."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from whetstone_worker.trainer.adamw import OptimizerParams
from whetstone_worker.trainer.loss_program import parse_loss_program
from whetstone_worker.trainer.row import TrainingRow, parse_row
from whetstone_worker.trainer.session import ForwardBackwardResult, TrainingSession

READOUT = OptimizerParams(0.0, beta1=0.0, beta2=0.99, epsilon=1e-8, weight_decay=0.0, max_grad_norm=0.0)


def row_of(data: Mapping[str, Any]) -> TrainingRow:
    """Reads null as NaN, which JSON does not have."""
    inputs = {name: [math.nan if x is None else x for x in values] for name, values in data["inputs"].items()}
    return parse_row({**data, "inputs": inputs})


def params_of(data: Mapping[str, float]) -> OptimizerParams:
    return OptimizerParams(
        learning_rate=data["learningRate"],
        beta1=data["beta1"],
        beta2=data["beta2"],
        epsilon=data["epsilon"],
        weight_decay=data["weightDecay"],
        max_grad_norm=data["maxGradNorm"],
    )


def play(session: TrainingSession, calls: Sequence[Mapping[str, Any]]) -> tuple[list[ForwardBackwardResult], list[float]]:
    """Returns the results of all rows, and the norms of all updates."""
    results, norms = [], []
    for call in calls:
        if call["verb"] == "optimStep":
            norms.append(session.optim_step(params_of(call["params"])))
        else:
            results.append(session.forward_backward([row_of(call["row"])], parse_loss_program(call["loss"]))[0])
    return results, norms


def read_gradients(session: TrainingSession, directory: Path) -> dict[str, Tensor]:
    """With β₁ = 0 and no clipping, AdamW's first moment is the gradient itself. Creates `directory`."""
    session.optim_step(READOUT)
    directory.mkdir()
    session.save(directory, resumable=True)
    moments = load_file(directory / "optimizer.safetensors")
    return {name.removesuffix(".exp_avg"): tensor for name, tensor in moments.items() if name.endswith(".exp_avg")}


def sketch_error(gradient: Tensor, expected: Sequence[float]) -> float:
    """Like test/support/golden/gradients.ts: ‖Δ‖ / ‖g‖, from projections on waves, or the error of the norm if larger."""
    flat = gradient.flatten().double()
    norm, projections = expected[0], torch.tensor(expected[1:], dtype=torch.float64)
    index = torch.arange(1, flat.numel() + 1, dtype=torch.float64)
    own = torch.stack([flat @ torch.cos(0.7 * (k + 1) * index) for k in range(len(projections))])
    difference = math.sqrt(2 * float(((own - projections) ** 2).sum()) / len(projections))
    return max(difference, abs(float(flat.norm()) - norm)) / norm


def relative_distance(actual: Tensor, expected: Tensor) -> float:
    """max |a − b| ÷ max |b|, so that one small element of a large tensor does not decide. Infinite if there is a NaN."""
    distance = float((actual - expected).abs().max() / expected.abs().max())
    return math.inf if math.isnan(distance) else distance
