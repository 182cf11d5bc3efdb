"""Loss programs against the reference evaluation in TypeScript (src/training/loss-reference.ts): values, metrics, gradients."""

import math
from typing import Any

import pytest
import torch

from repository import golden_tapes
from whetstone_worker.errors import WorkerError
from whetstone_worker.trainer.evaluate_loss import TokenValues, evaluate_loss
from whetstone_worker.trainer.loss_program import DEPTH_MAX, parse_loss_program

LOGPROB = {"op": "logprob"}


def tensor(values: Any) -> torch.Tensor:
    return torch.tensor([math.nan if x is None else x for x in values], dtype=torch.float64)


def numbers(values: Any) -> list[float]:
    return [math.nan if x is None else x for x in values]


def test_every_program_has_the_value_of_the_reference_evaluation() -> None:
    losses = golden_tapes()["losses"]
    given = losses["tokens"]
    _, sequences = torch.unique(torch.tensor(given["sequenceIds"]), return_inverse=True)
    inputs = {name: tensor(values) for name, values in given["inputs"].items()}
    assert len(losses["values"]) > 100
    for case in losses["values"]:
        logprobs = tensor(given["logprobs"]).requires_grad_()
        tokens = TokenValues(logprobs, tensor(given["entropies"]), sequences, inputs)
        program = parse_loss_program(case["program"])
        value = evaluate_loss(program, tokens)
        gradient = torch.zeros_like(logprobs)
        if value.loss.requires_grad:
            (gradient,) = torch.autograd.grad(value.loss, logprobs, materialize_grads=True)
        expected = case["expected"]
        assert [float(value.loss.detach())] == pytest.approx(numbers([expected["loss"]]), nan_ok=True), program.name
        metrics = dict(zip(expected["metrics"], numbers(expected["metrics"].values()), strict=True))
        assert value.metrics == pytest.approx(metrics, nan_ok=True), program.name
        assert gradient.tolist() == pytest.approx(numbers(expected["gradient"]), nan_ok=True), program.name


def test_programs_list_the_inputs_that_they_read() -> None:
    old = {"op": "where", "condition": {"op": "isNaN", "x": {"op": "input", "name": "old"}}, "x": LOGPROB, "y": LOGPROB}
    program = parse_loss_program({"name": "p", "perToken": old, "metrics": {"m": {"op": "input", "name": "weights"}}})
    assert program.inputs() == ["old", "weights"]


def test_equal_expressions_become_one() -> None:
    ratio = {"op": "exp", "x": LOGPROB}
    program = parse_loss_program({"name": "p", "perToken": {"op": "mul", "x": ratio, "y": ratio}, "metrics": {"r": ratio}})
    assert program.per_token.parts[0] is program.per_token.parts[1] is program.metrics["r"]


def nested(depth: int) -> dict[str, Any]:
    expression: dict[str, Any] = LOGPROB
    for _ in range(depth):
        expression = {"op": "neg", "x": expression}
    return expression


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ({"op": "tanh", "x": LOGPROB}, "is not an expression"),
        ({"op": "add", "x": LOGPROB}, "None is not an expression"),
        ({"op": "input"}, "an input has no name"),
        ({"op": "constant", "value": "1"}, "constant '1' is not a number"),
        (nested(DEPTH_MAX), "expressions deep"),
    ],
)
def test_invalid_programs_are_refused_with_a_message(expression: object, words: str) -> None:
    with pytest.raises(WorkerError, match=words) as refusal:
        parse_loss_program({"name": "p", "perToken": expression, "metrics": {}})
    assert refusal.value.code == "invalid_request"


def test_a_branch_that_is_not_selected_has_no_effect() -> None:
    infinite = {"op": "exp", "x": {"op": "mul", "x": LOGPROB, "y": {"op": "constant", "value": -1e6}}}
    taken = {"op": "where", "condition": {"op": "constant", "value": 1}, "x": LOGPROB, "y": infinite}
    logprobs = torch.tensor([-1.0, -2.0], requires_grad=True)
    tokens = TokenValues(logprobs, torch.zeros(2), torch.zeros(2, dtype=torch.long), {})
    loss = evaluate_loss(parse_loss_program({"name": "p", "perToken": taken, "metrics": {}}), tokens).loss
    assert torch.autograd.grad(loss, logprobs)[0].tolist() == [0.5, 0.5]
