"""Log-probabilities and entropies of trained tokens, a chunk of them at a time: logits are `[chunk, vocab]`, never
`[trained, vocab]`, which for a thousand tokens and a vocabulary of 150k would be 600 MB several times over.

The gradient needs no logits either: ∂ logprob / ∂ state = W[target] − softmax · W is computed beside the value. The head is
frozen. log Σ exp is taken in float32 with the largest logit subtracted first, whatever the weights are stored in.
"""

from typing import Any

import torch
from torch import Tensor

LOGITS_MAX = 16 * 1024 * 1024
"""Floats of logits in memory at once, as in the embedded engine."""
CHUNK_MIN = 64
"""Matrices with fewer rows are too thin to be computed fast."""


def head_chunk(vocab: int, limit: int | None) -> int:
    """Trained tokens whose logits are computed at once."""
    chunk = max(CHUNK_MIN, LOGITS_MAX // vocab)
    return chunk if limit is None else min(chunk, limit)


def token_head(states: Tensor, head: Tensor, targets: Tensor, chunk: int) -> tuple[Tensor, Tensor]:
    """From states `[trained, hidden]` and head `[vocab, hidden]`: logprobs and entropies, float32 `[trained]`, nats."""
    logprobs, entropies = _TokenHead.apply(states, head, targets, chunk)  # type: ignore[no-untyped-call]
    return logprobs, entropies


class _TokenHead(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, states: Tensor, head: Tensor, targets: Tensor, chunk: int) -> tuple[Tensor, Tensor]:
        wants_slopes = ctx.needs_input_grad[0]
        logprobs = states.new_empty(len(targets), dtype=torch.float32)
        entropies = torch.empty_like(logprobs)
        slopes = torch.empty_like(states) if wants_slopes else None  # ∂ logprob / ∂ state
        for start in range(0, len(targets), chunk):
            part = slice(start, start + chunk)
            target = targets[part, None]
            logits = _logits(states[part], head)  # float32 [chunk, vocab]
            logits -= logits.amax(dim=1, keepdim=True)
            total = logits.exp().sum(dim=1, keepdim=True).log()
            logits -= total  # log-probabilities from here
            logprobs[part] = logits.gather(1, target)[:, 0]
            probabilities = logits.exp()
            entropies[part] = -(probabilities * logits).sum(dim=1)
            if slopes is not None:
                slopes[part] = head[targets[part]] - probabilities.to(head.dtype) @ head
        ctx.save_for_backward(slopes)
        ctx.mark_non_differentiable(entropies)
        return logprobs, entropies

    @staticmethod
    def backward(ctx: Any, gradient: Tensor, _entropies: Tensor) -> tuple[Tensor | None, None, None, None]:
        (slopes,) = ctx.saved_tensors
        return (gradient[:, None] * slopes).to(slopes.dtype), None, None, None


def _logits(states: Tensor, head: Tensor) -> Tensor:
    """In float32, also from halves: a logit of 20 rounded to bfloat16 is off by up to 0.06 nats."""
    if head.dtype == torch.float32:
        return states @ head.T
    if states.is_cuda:
        return torch.mm(states, head.T, out_dtype=torch.float32)
    return states.float() @ head.float().T
