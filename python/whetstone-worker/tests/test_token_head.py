import pytest
import torch
from torch import Tensor

from whetstone_worker.trainer.token_head import HeadAdapter, head_chunk, token_head


def logprobs_and_gradients(logits: Tensor, targets: Tensor, weights: Tensor, *of: Tensor) -> tuple[Tensor, ...]:
    """Returns what autograd computes from the whole logits."""
    rows = torch.log_softmax(logits, dim=-1)
    logprobs = rows[range(len(targets)), targets]
    return rows, logprobs, *torch.autograd.grad((logprobs * weights).sum(), of)


@pytest.mark.parametrize("chunk", [1, 3, 7, 100])
def test_chunks_give_log_softmax_entropy_and_gradient(chunk: int) -> None:
    generator = torch.Generator().manual_seed(2)
    states = torch.randn(7, 16, generator=generator, dtype=torch.float64)
    head = torch.randn(50, 16, generator=generator, dtype=torch.float64)
    targets = torch.randint(0, 50, (7,), generator=generator)
    weights = torch.randn(7, generator=generator, dtype=torch.float64)

    exact = states.clone().requires_grad_()
    rows, expected, gradient = logprobs_and_gradients(exact @ head.T, targets, weights, exact)

    ours = states.float().requires_grad_()
    logprobs, entropies = token_head(ours, head.float(), targets, chunk)
    (own,) = torch.autograd.grad((logprobs * weights).sum(), ours)
    assert not entropies.requires_grad
    torch.testing.assert_close(logprobs.double(), expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(entropies.double(), -(rows.exp() * rows).sum(-1), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(own.double(), gradient, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("chunk", [1, 3, 9, 100])
def test_an_adapter_on_the_head_gives_the_results_of_whole_logits(chunk: int) -> None:
    generator = torch.Generator().manual_seed(3)
    shapes = {"states": (9, 16), "a": (3, 16), "b": (50, 3), "head": (50, 16)}
    exact = {name: torch.randn(shape, generator=generator, dtype=torch.float64) for name, shape in shapes.items()}
    targets = torch.tensor([4, 49, 4, 0, 7, 4, 12, 0, 31])  # repeated: their gradients add up in one row of B
    weights = torch.randn(9, generator=generator, dtype=torch.float64)
    trained = [exact[name].requires_grad_() for name in ("states", "a", "b")]
    logits = exact["states"] @ exact["head"].T + 1.5 * (exact["states"] @ exact["a"].T) @ exact["b"].T
    _, expected, *gradients = logprobs_and_gradients(logits, targets, weights, *trained)

    states, a, b = (tensor.detach().float().requires_grad_() for tensor in trained)
    logprobs, entropies = token_head(states, exact["head"].float(), targets, chunk, HeadAdapter(a, b, 1.5))
    assert not entropies.requires_grad
    torch.testing.assert_close(logprobs.double(), expected, atol=1e-5, rtol=1e-5)
    own = torch.autograd.grad((logprobs * weights).sum(), (states, a, b))
    for name, ours, gradient in zip(("states", "a", "b"), own, gradients, strict=True):
        torch.testing.assert_close(ours.double(), gradient, atol=1e-5, rtol=1e-5, msg=f"the gradient of {name}")


def test_the_head_is_trained_alone_if_states_need_no_gradient() -> None:
    states, head = torch.randn(5, 8), torch.randn(11, 8)
    a, b = torch.randn(2, 8, requires_grad=True), torch.zeros(11, 2, requires_grad=True)
    logprobs, _ = token_head(states, head, torch.arange(5), 2, HeadAdapter(a, b, 0.5))
    to_a, to_b = torch.autograd.grad(logprobs.sum(), (a, b))
    assert not to_a.any()  # B is zero
    assert to_b.any()
    with torch.no_grad():
        assert not token_head(states, head, torch.arange(5), 2, HeadAdapter(a, b, 0.5))[0].requires_grad


def test_logits_beyond_the_range_of_exp_give_finite_results() -> None:
    logprobs, entropies = token_head(torch.tensor([[1000.0], [-1000.0]]), torch.tensor([[1.0], [0.5]]), torch.tensor([0, 0]), 2)
    assert logprobs.tolist() == [0.0, -500.0]
    assert entropies.tolist() == [0.0, 0.0]


def test_half_precision_inputs_are_summed_in_float32() -> None:
    states, head = torch.full((1, 512), 0.7, dtype=torch.bfloat16), torch.full((2, 512), 0.3, dtype=torch.bfloat16)
    head[1, 0] = 0.31
    difference = (states.double() @ (head[1] - head[0]).double()).item()
    logprobs, _ = token_head(states, head, torch.tensor([0]), 1)
    assert logprobs.item() == pytest.approx(-float(torch.tensor(difference).exp().log1p()), abs=1e-4)
    adapter = HeadAdapter(torch.full((1, 512), 0.001), torch.tensor([[0.0], [0.1]]), 2.0)
    difference += 2.0 * 0.1 * 0.001 * states.double().sum().item()
    logprobs, _ = token_head(states, head, torch.tensor([0]), 1, adapter)
    assert logprobs.item() == pytest.approx(-float(torch.tensor(difference).exp().log1p()), abs=1e-4)


def test_chunks_limit_the_logits_but_do_not_become_thin() -> None:
    assert head_chunk(1000, None) == 16777
    assert head_chunk(150_000, None) == 111
    assert head_chunk(1_000_000, None) == 64
    assert head_chunk(1000, 5) == 5
