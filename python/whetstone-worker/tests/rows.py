"""Training rows with explicit fields, named as on the wire."""

from collections.abc import Mapping, Sequence
from typing import Any

from whetstone_worker.trainer.row import TrainingRow, parse_row


def plain_fields(tokens: Sequence[int], inputs: Mapping[str, Sequence[float]] | None = None) -> dict[str, Any]:
    """A row with one segment; every token after the first is a target."""
    trained = len(tokens) - 1
    return {
        "tokens": list(tokens),
        "positions": list(range(len(tokens))),
        "segments": [0] * len(tokens),
        "parents": [-1],
        "predictFrom": list(range(trained)),
        "targets": list(tokens[1:]),
        "sequenceIds": [0] * trained,
        "inputs": dict(inputs or {}),
    }


def plain_row(tokens: Sequence[int], inputs: Mapping[str, Sequence[float]] | None = None) -> TrainingRow:
    return parse_row(plain_fields(tokens, inputs))


def shared_prompt_row(prompt: Sequence[int], completions: Sequence[Sequence[int]]) -> TrainingRow:
    """A row with the prompt once and every completion as its child; all completion tokens are trained."""
    fields = {**plain_fields(prompt), "predictFrom": [], "targets": [], "sequenceIds": []}
    for sequence, completion in enumerate(completions):
        for i, token in enumerate(completion):
            fields["predictFrom"].append(len(prompt) - 1 if i == 0 else len(fields["tokens"]) - 1)
            fields["targets"].append(token)
            fields["sequenceIds"].append(sequence)
            fields["tokens"].append(token)
            fields["positions"].append(len(prompt) + i)
            fields["segments"].append(sequence + 1)
        fields["parents"].append(0)
    return parse_row(fields)
