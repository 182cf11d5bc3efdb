"""Batches of an SFT job against Transformers and PEFT on the starter model (python/golden/make_sft.py)."""

from collections.abc import Iterator
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from conftest import Engines, starting_from
from golden import play, read_gradients, sketch_error
from repository import FIXTURES, golden_tapes, read_json

JOB = read_json("sft/expected.json")
START = starting_from(FIXTURES / "sft" / "adapter")
CASES = pytest.mark.parametrize("number", range(len(JOB["cases"])), ids=lambda i: JOB["cases"][i]["assistantTurns"])


@CASES
def test_loss_and_gradients_of_each_batch_equal_the_fixtures(number: int, engines: Engines, tmp_path: Path) -> None:
    expected = JOB["cases"][number]["batches"]
    batches = list(rows_of_batches(golden_tapes()["sft"][number]))
    assert len(batches) == len(expected)
    for index, (rows, batch) in enumerate(zip(batches, expected, strict=True)):
        with closing(engines.starter().open(START)) as session:
            results, _ = play(session, rows)
            assert sum(r.loss for r in results) == pytest.approx(batch["loss"], rel=JOB["tolerance"])
            gradients = read_gradients(session, tmp_path / str(index))
            assert sorted(gradients) == sorted(batch["gradients"])
            for name, sketch in batch["gradients"].items():
                assert sketch_error(gradients[name], sketch) < JOB["tolerance"], name


@CASES
def test_adamw_over_all_batches_equals_the_fixtures(number: int, engines: Engines) -> None:
    tape, expected = golden_tapes()["sft"][number], JOB["cases"][number]["adamw"]
    with closing(engines.starter().open(START)) as session:
        results, norms = play(session, tape)
    losses = iter(r.loss for r in results)
    summed = [sum(next(losses) for _ in rows) for rows in rows_of_batches(tape)]
    assert summed == pytest.approx(expected["losses"], rel=JOB["tolerance"])
    assert norms == pytest.approx(expected["gradNorms"], rel=JOB["tolerance"])


def rows_of_batches(tape: list[Any]) -> Iterator[list[Any]]:
    for verb, calls in groupby(tape, key=lambda call: call["verb"]):
        if verb == "forwardBackward":
            yield list(calls)
