import pytest
import torch

from whetstone_worker.trainer.token_head import head_chunk, token_head


@pytest.mark.parametrize("chunk", [1, 3, 7, 100])
def test_chunks_give_the_log_softmax_its_entropy_and_its_gradient(chunk: int) -> None:
    generator = torch.Generator().manual_seed(2)
    states = torch.randn(7, 16, generator=generator, dtype=torch.float64)
    head = torch.randn(50, 16, generator=generator, dtype=torch.float64)
    targets = torch.randint(0, 50, (7,), generator=generator)
    weights = torch.randn(7, generator=generator, dtype=torch.float64)

    exact = states.clone().requires_grad_()
    rows = torch.log_softmax(exact @ head.T, dim=-1)
    expected = rows[range(7), targets]
    (gradient,) = torch.autograd.grad((expected * weights).sum(), exact)

    ours = states.float().requires_grad_()
    logprobs, entropies = token_head(ours, head.float(), targets, chunk)
    (own,) = torch.autograd.grad((logprobs * weights).sum(), ours)
    assert not entropies.requires_grad
    torch.testing.assert_close(logprobs.double(), expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(entropies.double(), -(rows.exp() * rows).sum(-1), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(own.double(), gradient, atol=1e-5, rtol=1e-5)


def test_logits_beyond_what_exp_holds_are_no_infinity() -> None:
    logprobs, entropies = token_head(torch.tensor([[1000.0], [-1000.0]]), torch.tensor([[1.0], [0.5]]), torch.tensor([0, 0]), 2)
    assert logprobs.tolist() == [0.0, -500.0]
    assert entropies.tolist() == [0.0, 0.0]


def test_halves_are_summed_in_float32() -> None:
    states, head = torch.full((1, 512), 0.7, dtype=torch.bfloat16), torch.full((2, 512), 0.3, dtype=torch.bfloat16)
    head[1, 0] = 0.31
    logprobs, _ = token_head(states, head, torch.tensor([0]), 1)
    difference = (states.double() @ (head[1] - head[0]).double()).item()
    assert logprobs.item() == pytest.approx(-float(torch.tensor(difference).exp().log1p()), abs=1e-4)


def test_a_chunk_keeps_logits_in_bounds_but_not_thin() -> None:
    assert head_chunk(1000, None) == 16777
    assert head_chunk(150_000, None) == 111
    assert head_chunk(1_000_000, None) == 64
    assert head_chunk(1000, 5) == 5
