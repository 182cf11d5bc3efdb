"""Rows of RL jobs against PyTorch in float64, every sequence alone: 46 combinations of options (python/golden/make_rl.py)."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from conftest import Engines, starting_from
from golden import read_gradients, row_of, sketch_error
from repository import FIXTURES, golden_tapes, read_json
from whetstone_worker.trainer.loss_program import parse_loss_program

JOB = read_json("rl/expected.json")


def test_there_are_more_than_forty_combinations() -> None:
    assert len(JOB["cases"]) > 40


@pytest.mark.parametrize("number", range(len(JOB["cases"])), ids=lambda i: str(JOB["cases"][i]["config"]))
def test_loss_metrics_and_gradients_equal_the_fixtures(number: int, engines: Engines, tmp_path: Path) -> None:
    expected, tape = JOB["cases"][number], golden_tapes()["rl"][number]
    program = parse_loss_program(tape["loss"])
    engine = engines.family("qwen3")
    if "referenceLogprobs" in program.inputs():
        with closing(engine.open(starting_from(None))) as base:
            tape["row"]["inputs"]["referenceLogprobs"] = base.logprobs([row_of(tape["row"])])[0]
    with closing(engine.open(starting_from(FIXTURES / "qwen3" / "adapter"))) as session:
        result = session.forward_backward([row_of(tape["row"])], program)[0]
        gradients = read_gradients(session, tmp_path / "gradients")

    tolerance = JOB["tolerance"]
    # Relative to the sum of magnitudes: if terms nearly cancel, their sum is no measure of the error.
    assert off(result.loss, expected["loss"]) < tolerance
    assert sorted(result.metrics) == sorted(expected["metrics"])
    for name, value in expected["metrics"].items():
        assert off(result.metrics[name], value) < tolerance, name
    assert sorted(gradients) == sorted(expected["gradients"])
    errors: dict[str, Any] = {name: sketch_error(gradients[name], sketch) for name, sketch in expected["gradients"].items()}
    assert max(errors.values()) < tolerance, errors


def off(value: float, expected: float) -> float:
    return abs(value - expected) / max(abs(expected), 0.1)
