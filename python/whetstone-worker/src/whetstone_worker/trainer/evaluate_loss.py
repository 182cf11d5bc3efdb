"""Evaluates a LossProgram over the trained tokens of a row, differentiable with respect to each token's log-probability. The
meaning of every operation, also at points without a derivative, is defined by src/training/loss-reference.ts.

PyTorch's own derivatives differ from it in two places, so the pointwise operations define their own slopes: at a tie, the
gradient of `min` and `max` goes to y alone (PyTorch halves it), and the branch that `where` did not select has no effect (in
PyTorch, 0 · ∞ in that branch makes everything NaN).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from whetstone_worker.errors import WorkerError
from whetstone_worker.trainer.loss_program import Expression, LossProgram
from whetstone_worker.trainer.row import TrainingRow


@dataclass(frozen=True)
class TokenValues:
    """Each `[trained]`, float32 (float64 in tests), in nats."""

    logprobs: Tensor
    entropies: Tensor
    sequences: Tensor
    """int64, 0 … sequences − 1."""
    inputs: Mapping[str, Tensor]


@dataclass(frozen=True)
class LossValue:
    loss: Tensor
    """`[]`, differentiable with respect to the log-probabilities."""
    metrics: Mapping[str, float]


def token_values(row: TrainingRow, program: LossProgram, logprobs: Tensor, entropies: Tensor) -> TokenValues:
    _, sequences = torch.unique(torch.from_numpy(row.sequence_ids), return_inverse=True)
    inputs = {name: torch.from_numpy(row.inputs[name]).to(logprobs.device) for name in program.inputs()}
    return TokenValues(logprobs, entropies, sequences.to(logprobs.device), inputs)


def check_inputs(row: TrainingRow, program: LossProgram) -> None:
    for name in program.inputs():
        values = row.inputs.get(name)
        if values is None or len(values) != len(row.targets):
            found = "nothing" if values is None else f"{len(values)} values"
            raise WorkerError(
                "invalid_request",
                f"Loss {program.name} needs input {name} for {len(row.targets)} trained tokens, the row has {found}.",
            )


def evaluate_loss(program: LossProgram, tokens: TokenValues) -> LossValue:
    evaluation = _Evaluation(tokens)
    total = evaluation.per_token(program.per_token).sum()
    loss = total / len(tokens.logprobs) if program.per_trained_token else total
    with torch.no_grad():
        means = [evaluation.per_token(expression).mean() for expression in program.metrics.values()]
    values = torch.stack(means).tolist() if means else []
    return LossValue(loss, dict(zip(program.metrics, values, strict=True)))


class _Evaluation:
    """Values are `[trained]`, or `[]` if they do not depend on the token."""

    def __init__(self, tokens: TokenValues) -> None:
        self._tokens = tokens
        self._known: dict[int, Tensor] = {}

    def per_token(self, expression: Expression) -> Tensor:
        return self._value(expression).expand_as(self._tokens.logprobs)

    def _value(self, expression: Expression) -> Tensor:
        known = self._known.get(id(expression))
        if known is None:
            known = self._compute(expression)
            self._known[id(expression)] = known
        return known

    def _compute(self, e: Expression) -> Tensor:
        tokens = self._tokens
        match e.op:
            case "logprob":
                return tokens.logprobs
            case "entropy":
                return tokens.entropies.detach()
            case "input":
                return tokens.inputs[e.name].to(tokens.logprobs.dtype)
            case "constant":
                return tokens.logprobs.new_tensor(e.value)
        x = self._value(e.parts[0])
        match e.op:
            case "neg":
                return -x
            case "exp":
                value = x.detach().exp()
                return _slope(value, (x, value))
            case "sqrt":
                value = x.detach().sqrt()
                return _slope(value, (x, 0.5 / value))
            case "stopGradient":
                return x.detach()
            case "isNaN":
                return x.isnan().to(x.dtype)
            case "mean":
                return self.per_token(e.parts[0]).mean()
            case "largest":
                return x.detach().max()
            case "smallest":
                return x.detach().min()
            case "sequenceMean":
                return _sequence_mean(self.per_token(e.parts[0]), tokens.sequences)
        y = self._value(e.parts[1])
        match e.op:
            case "add":
                return x + y
            case "sub":
                return x - y
            case "mul":
                return _slope(x.detach() * y.detach(), (x, y.detach()), (y, x.detach()))
            case "div":
                over = y.detach()
                return _slope(x.detach() / over, (x, 1 / over), (y, -x.detach() / (over * over)))
            case "less":
                return (x < y).to(tokens.logprobs.dtype)
            case "min":
                return _choice(x < y, x, y, torch.minimum)
            case "max":
                return _choice(x > y, x, y, torch.maximum)
            case "where":
                return torch.where(x != 0, y, self._value(e.parts[2]))
        raise AssertionError(f"unknown operation {e.op}")


def _choice(first: Tensor, x: Tensor, y: Tensor, pick: Any) -> Tensor:
    """Selects a value, which is NaN if x or y is. The whole slope is that of x if `first`, else that of y."""
    share = first.to(x.dtype)
    return _slope(pick(x.detach(), y.detach()), (x, share), (y, 1 - share))


def _sequence_mean(x: Tensor, sequences: Tensor) -> Tensor:
    count = int(sequences.max()) + 1
    sums = x.new_zeros(count).index_add(0, sequences, x)
    sizes = x.new_zeros(count).index_add(0, sequences, torch.ones_like(x))
    return (sums / sizes)[sequences]


def _slope(value: Tensor, *terms: tuple[Tensor, Tensor]) -> Tensor:
    """Returns `value` with a derivative: `terms` are pairs of a variable and its slope. A slope of 0 adds nothing."""
    differentiable = [(x.expand_as(value), slope) for x, slope in terms if x.requires_grad]
    if not differentiable:
        return value
    flat = [part for term in differentiable for part in term]
    result: Tensor = _Slope.apply(value, *flat)  # type: ignore[no-untyped-call]
    return result


class _Slope(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, value: Tensor, *flat: Tensor) -> Tensor:
        ctx.save_for_backward(*flat[1::2])
        return value.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        grads: list[Tensor | None] = [None]
        for slope in ctx.saved_tensors:
            silent = (gradient == 0) | (slope == 0)
            grads += [(gradient * slope).masked_fill(silent, 0), None]
        return tuple(grads)
