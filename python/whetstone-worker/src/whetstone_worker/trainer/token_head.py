"""Log-probabilities and entropies of trained tokens, one chunk at a time: logits are `[chunk, vocab]`, never
`[trained, vocab]`, which for a thousand tokens and a vocabulary of 150k would be 600 MB several times over. The head W is
frozen and may carry an adapter: logits = states · Wᵀ + down · Bᵀ with down = scale · states · Aᵀ.

Most gradients need no logits either: ∂ logprob / ∂ state = W[target] − softmax · W is computed along with the value, and so is
∂ logprob / ∂ down. The gradient of B is as large as the vocabulary for every token: the backward pass computes the logits again
in the same chunks. log Σ exp is computed in float32 after subtracting the largest logit, whatever the dtype of the weights.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

LOGITS_MAX = 16 * 1024 * 1024
"""Number of logits in memory at once, as in the embedded engine."""
CHUNK_MIN = 64
"""Smaller chunks are too thin for fast matrix products."""


@dataclass(frozen=True)
class HeadAdapter:
    a: Tensor
    """float32 `[rank, hidden]`"""
    b: Tensor
    """float32 `[vocab, rank]`"""
    scale: float


def head_chunk(vocab: int, limit: int | None) -> int:
    """Returns the number of trained tokens whose logits are computed at once."""
    chunk = max(CHUNK_MIN, LOGITS_MAX // vocab)
    return chunk if limit is None else min(chunk, limit)


def token_head(
    states: Tensor, head: Tensor, targets: Tensor, chunk: int, adapter: HeadAdapter | None = None
) -> tuple[Tensor, Tensor]:
    """Takes states `[trained, hidden]`, head `[vocab, hidden]`; returns logprobs and entropies, float32 `[trained]`, nats."""
    down, b = None, None
    if adapter is not None:
        down, b = adapter.scale * torch.nn.functional.linear(states.float(), adapter.a), adapter.b
    logprobs, entropies = _TokenHead.apply(states, down, b, head, targets, chunk)  # type: ignore[no-untyped-call]
    return logprobs, entropies


class _TokenHead(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, states: Tensor, down: Tensor | None, b: Tensor | None, head: Tensor, targets: Tensor, chunk: int
    ) -> tuple[Tensor, Tensor]:
        wants_states, wants_down, *_ = ctx.needs_input_grad
        logprobs = states.new_empty(len(targets), dtype=torch.float32)
        entropies, normalizers = torch.empty_like(logprobs), torch.empty_like(logprobs)
        slopes = torch.empty_like(states) if wants_states else None  # ∂ logprob / ∂ state
        down_slopes = torch.empty_like(down) if down is not None and wants_down else None  # ∂ logprob / ∂ down
        for part in _chunks(len(targets), chunk):
            target = targets[part]
            logits = _logits(states, down, b, head, part)  # float32 [chunk, vocab]
            largest = logits.amax(dim=1, keepdim=True)
            logits -= largest
            total = logits.exp().sum(dim=1, keepdim=True).log()
            logits -= total  # now log-probabilities
            logprobs[part] = logits.gather(1, target[:, None])[:, 0]
            normalizers[part] = (largest + total)[:, 0]
            probabilities = logits.exp()
            entropies[part] = -(probabilities * logits).sum(dim=1)
            if slopes is not None:
                slopes[part] = head[target] - probabilities.to(head.dtype) @ head
            if down_slopes is not None and b is not None:
                down_slopes[part] = b[target] - probabilities @ b
        ctx.save_for_backward(slopes, down_slopes, states, down, b, head, targets, normalizers)
        ctx.chunk = chunk
        ctx.mark_non_differentiable(entropies)
        return logprobs, entropies

    @staticmethod
    def backward(ctx: Any, gradient: Tensor, _entropies: Tensor) -> tuple[Tensor | None, ...]:
        slopes, down_slopes, states, down, b, head, targets, normalizers = ctx.saved_tensors
        by_logprob = gradient[:, None]
        to_states = None if slopes is None else (by_logprob * slopes).to(slopes.dtype)
        to_down = None if down_slopes is None else by_logprob * down_slopes
        to_b = None
        if ctx.needs_input_grad[2]:
            to_b = torch.zeros_like(b).index_add_(0, targets, by_logprob * down)
            for part in _chunks(len(targets), ctx.chunk):
                logits = _logits(states, down, b, head, part)
                probabilities = logits.sub_(normalizers[part, None]).exp_()
                to_b.addmm_(probabilities.mul_(by_logprob[part]).T, down[part], alpha=-1)
        return to_states, to_down, to_b, None, None, None


def _chunks(count: int, size: int) -> list[slice]:
    return [slice(start, start + size) for start in range(0, count, size)]


def _logits(states: Tensor, down: Tensor | None, b: Tensor | None, head: Tensor, part: slice) -> Tensor:
    """`[chunk, vocab]`"""
    logits = _base_logits(states[part], head)
    return logits if down is None or b is None else logits.addmm_(down[part], b.T)


def _base_logits(states: Tensor, head: Tensor) -> Tensor:
    """In float32 also for half-precision inputs: a logit of 20 rounded to bfloat16 is off by up to 0.06 nats."""
    if head.dtype == torch.float32:
        return states @ head.T
    if states.is_cuda:
        return torch.mm(states, head.T, out_dtype=torch.float32)
    return states.float() @ head.float().T
