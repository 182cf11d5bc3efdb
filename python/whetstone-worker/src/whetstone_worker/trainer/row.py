"""One packed training row, parsed from the wire: arrays of numbers, checked before any computation.

The fields are those of TrainingRow in src/engine/training-engine.ts. The error messages equal those of the embedded engine
(check-row.ts), so that a server reports the same with either engine.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from whetstone_worker.errors import WorkerError

Int32 = npt.NDArray[np.int32]
Float32 = npt.NDArray[np.float32]
Number = TypeVar("Number", np.int32, np.float32)


@dataclass(frozen=True)
class TrainingRow:
    tokens: Int32
    """`[row]`"""
    positions: Int32
    """`[row]` position of each token in its own sequence."""
    segments: Int32
    """`[row]`"""
    parents: Int32
    """`[segments]`, −1 for none. A token sees its own segment and that segment's ancestors."""
    predict_from: Int32
    """`[trained]` index in the row of the token whose output predicts the target."""
    targets: Int32
    """`[trained]`"""
    sequence_ids: Int32
    """`[trained]`"""
    inputs: Mapping[str, Float32]
    """`[trained]` each, by name."""


@dataclass(frozen=True)
class RowLimits:
    row_length_max: int
    max_positions: int
    vocab: int


def parse_row(value: Mapping[str, object]) -> TrainingRow:
    """Reads the names used on the wire, `predictFrom` and so on. Numbers may be arrays or lists. Raises WorkerError."""
    inputs = value.get("inputs", {})
    if not isinstance(inputs, Mapping):
        raise _refuse("its inputs are not arrays by name")
    return TrainingRow(
        tokens=_integers(value, "tokens"),
        positions=_integers(value, "positions"),
        segments=_integers(value, "segments"),
        parents=_integers(value, "parents"),
        predict_from=_integers(value, "predictFrom"),
        targets=_integers(value, "targets"),
        sequence_ids=_integers(value, "sequenceIds"),
        inputs={str(name): _array(numbers, f"input {name}", np.float32) for name, numbers in inputs.items()},
    )


def check_row(row: TrainingRow, limits: RowLimits) -> None:
    tokens, targets = len(row.tokens), len(row.targets)
    if tokens == 0:
        raise _refuse("it is empty")
    if tokens > limits.row_length_max:
        raise _refuse(f"it has {tokens} tokens, at most {limits.row_length_max} fit")
    if len(row.positions) != tokens or len(row.segments) != tokens:
        raise _refuse(f"{tokens} tokens, {len(row.positions)} positions and {len(row.segments)} segments must agree")
    if len(row.predict_from) != targets or len(row.sequence_ids) != targets:
        raise _refuse(f"{targets} targets, {len(row.predict_from)} places and {len(row.sequence_ids)} sequence ids must agree")
    _check_below("token", row.tokens, limits.vocab)
    _check_below("target", row.targets, limits.vocab)
    _check_below("position", row.positions, limits.max_positions)
    _check_below("segment", row.segments, len(row.parents))
    _check_below("place to predict from", row.predict_from, tokens)


def _check_below(what: str, values: Int32, limit: int) -> None:
    outside = np.flatnonzero((values < 0) | (values >= limit))
    if outside.size > 0:
        at = int(outside[0])
        raise _refuse(f"{what} {values[at]} at index {at} is not in [0, {limit})")


def _integers(value: Mapping[str, object], name: str) -> Int32:
    if name not in value:
        raise _refuse(f"it has no {name}")
    return _array(value[name], name, np.int32)


def _array(numbers: object, name: str, dtype: type[Number]) -> npt.NDArray[Number]:
    try:
        array: npt.NDArray[Number] = np.array(numbers, dtype=dtype)  # a copy: the message's bytes are read-only
    except (TypeError, ValueError, OverflowError) as cause:
        raise _refuse(f"{name} is not a list of {dtype.__name__}") from cause
    if array.ndim != 1:
        raise _refuse(f"{name} has {array.ndim} dimensions, not one")
    return array


def _refuse(fault: str) -> WorkerError:
    return WorkerError("invalid_request", f"This training row cannot be used: {fault}.")
