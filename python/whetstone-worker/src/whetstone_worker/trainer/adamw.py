"""AdamW with decoupled weight decay (arXiv:1711.05101), bit-identical to torch.optim.AdamW: decay, moments, bias correction,
update. A separate implementation only so that no number is rejected: torch.optim refuses a learning rate of 1e40, where this
one produces weights that are not finite, which the session then reports.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

Tensors = Mapping[str, Tensor]


@dataclass(frozen=True)
class OptimizerParams:
    learning_rate: float
    beta1: float
    beta2: float
    epsilon: float
    weight_decay: float
    max_grad_norm: float
    """Gradients are scaled down to this global norm; 0 disables clipping."""


@dataclass
class AdamwState:
    step: int
    """The number of updates applied so far."""
    mean: dict[str, Tensor]
    """First moment of the gradient, float32 by parameter name."""
    square: dict[str, Tensor]


def create_adamw_state(parameters: Tensors) -> AdamwState:
    def zeros() -> dict[str, Tensor]:
        return {name: torch.zeros_like(tensor, requires_grad=False) for name, tensor in parameters.items()}

    return AdamwState(step=0, mean=zeros(), square=zeros())


def global_norm(gradients: Tensors) -> float:
    """√Σ g² over all tensors, in float64."""
    norms = [torch.linalg.vector_norm(gradient, dtype=torch.float64) for gradient in gradients.values()]
    return float(torch.linalg.vector_norm(torch.stack(norms)))


def clip_coefficient(norm: float, max_norm: float) -> float:
    """Returns the factor by which torch.nn.utils.clip_grad_norm_ multiplies every gradient."""
    return 1.0 if max_norm == 0 else min(1.0, max_norm / (norm + 1e-6))


@torch.no_grad()
def apply_adamw(
    parameters: Tensors, gradients: Tensors, state: AdamwState, params: OptimizerParams, gradient_scale: float = 1.0
) -> None:
    """Updates the parameters in place. Every gradient is first multiplied by `gradient_scale`."""
    state.step += 1
    rate, beta1, beta2 = params.learning_rate, params.beta1, params.beta2
    step_size = _float32(rate / (1 - beta1**state.step))
    square_correction = math.sqrt(1 - beta2**state.step)
    keep = _float32(1 - rate * params.weight_decay)
    for name, parameter in parameters.items():
        gradient = gradients[name] * gradient_scale if gradient_scale != 1 else gradients[name]
        mean, square = state.mean[name], state.square[name]
        parameter.mul_(keep)
        mean.lerp_(gradient, 1 - beta1)
        square.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
        denominator = (square.sqrt() / square_correction).add_(_float32(params.epsilon))
        parameter.addcdiv_(mean, denominator, value=-step_size)


def _float32(value: float) -> float:
    """Rounds to float32, infinite beyond its range: PyTorch refuses scalars that a tensor could not hold."""
    with np.errstate(over="ignore"):
        rounded = float(np.float32(value))
    return rounded if math.isinf(rounded) else value
