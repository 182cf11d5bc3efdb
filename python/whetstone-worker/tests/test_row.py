import numpy as np
import pytest

from rows import plain_fields
from whetstone_worker.errors import WorkerError
from whetstone_worker.trainer.row import RowLimits, check_row, parse_row

LIMITS = RowLimits(row_length_max=8, max_positions=8, vocab=10)
GOOD = plain_fields([1, 2, 3, 4])


def test_a_valid_row_passes_even_without_targets() -> None:
    check_row(parse_row(GOOD), LIMITS)
    check_row(parse_row({**GOOD, "predictFrom": [], "targets": [], "sequenceIds": []}), LIMITS)


def test_arrays_of_a_message_become_writable() -> None:
    message = np.frombuffer(np.arange(4, dtype=np.int32).tobytes(), dtype=np.int32)
    assert parse_row({**GOOD, "tokens": message}).tokens.flags.writeable


# The same messages as the embedded engine's: src/engine/onnx/learning/check-row.test.ts.
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (plain_fields([1] * 9), "9 tokens, at most 8 fit"),
        ({"tokens": []}, "empty"),
        ({"tokens": [1, 2, 10, 4]}, "token 10 at index 2 is not in [0, 10)"),
        ({"targets": [2, -100, 4]}, "target -100 at index 1"),
        ({"positions": [0, 1, 2, 8]}, "position 8 at index 3"),
        ({"segments": [0, 0, 1, 1]}, "segment 1 at index 2"),
        ({"predictFrom": [0, 1, 4]}, "place to predict from 4"),
        ({"sequenceIds": [0]}, "3 targets, 3 places and 1 sequence ids"),
        ({"positions": [0]}, "4 tokens, 1 positions"),
        ({"tokens": "abc"}, "tokens is not a list of int32"),
        ({"tokens": [[1]]}, "tokens has 2 dimensions"),
        ({"inputs": {"weights": ["x"]}}, "input weights is not a list"),
        ({"inputs": 3}, "inputs are not arrays by name"),
    ],
)
def test_invalid_rows_are_refused_with_a_message(change: dict[str, object], words: str) -> None:
    with pytest.raises(WorkerError) as refusal:
        check_row(parse_row({**GOOD, **change}), LIMITS)
    assert words in refusal.value.message
    assert refusal.value.code == "invalid_request"


def test_a_missing_field_of_a_row_is_named() -> None:
    fields = {name: value for name, value in GOOD.items() if name != "parents"}
    with pytest.raises(WorkerError, match="it has no parents"):
        parse_row(fields)
