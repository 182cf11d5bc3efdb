"""AdamW against torch.optim.AdamW with clip_grad_norm_, bit for bit."""

import torch

from whetstone_worker.trainer.adamw import (
    OptimizerParams,
    apply_adamw,
    clip_coefficient,
    create_adamw_state,
    global_norm,
)

PARAMS = OptimizerParams(0.01, beta1=0.9, beta2=0.99, epsilon=1e-8, weight_decay=0.1, max_grad_norm=0.5)
SHAPES = {"a": (4, 7), "b": (5, 4)}


def draw(seed: int) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return {name: torch.randn(shape, generator=generator) for name, shape in SHAPES.items()}


def test_every_update_has_the_same_bits() -> None:
    ours, theirs = draw(0), {name: tensor.requires_grad_() for name, tensor in draw(0).items()}
    state = create_adamw_state(ours)
    optimizer = torch.optim.AdamW(theirs.values(), lr=0.01, betas=(0.9, 0.99), eps=1e-8, weight_decay=0.1, foreach=False)
    for step in range(10):
        gradients = draw(step + 1)
        for name, parameter in theirs.items():
            parameter.grad = gradients[name].clone()
        optimizer.step()
        apply_adamw(ours, gradients, state, PARAMS)
        for name, parameter in theirs.items():
            assert torch.equal(ours[name], parameter), f"{name} after step {step}"
    assert state.step == 10


def test_gradients_are_scaled_down_to_the_norm() -> None:
    gradients = draw(1)
    parameters = [torch.nn.Parameter(torch.zeros(shape)) for shape in SHAPES.values()]
    for parameter, gradient in zip(parameters, gradients.values(), strict=True):
        parameter.grad = gradient.clone()
    norm = torch.nn.utils.clip_grad_norm_(parameters, 0.5)
    assert abs(global_norm(gradients) / float(norm) - 1) < 1e-6
    scale = clip_coefficient(global_norm(gradients), 0.5)
    for parameter, gradient in zip(parameters, gradients.values(), strict=True):
        torch.testing.assert_close(parameter.grad, gradient * scale)
    assert clip_coefficient(0.4, 0.5) == 1
    assert clip_coefficient(1e9, 0) == 1


def test_a_learning_rate_beyond_float32_makes_weights_that_are_not_finite() -> None:
    for rate in (1e40, 3e38, float("inf"), float("nan")):
        parameters = draw(0)
        params = OptimizerParams(rate, 0.9, 0.99, 1e-8, 0.1, 0.0)
        apply_adamw(parameters, draw(1), create_adamw_state(parameters), params)
        assert not torch.cat([p.flatten() for p in parameters.values()]).isfinite().all()
