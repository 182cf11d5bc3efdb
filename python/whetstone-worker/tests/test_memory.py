"""How long rows may be, and that the estimate of their memory is not below what a row really takes."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from repository import ROOT
from whetstone_worker.trainer.memory import ModelSizes, RowMemory, training_limits

SIZES = ModelSizes(layers=4, hidden=64, heads=4, kv_heads=2, head_dim=16, intermediate=128, vocab=1000, max_positions=4096)


def bytes_of(tokens: int, memory: RowMemory) -> float:
    return memory.fixed_bytes + tokens * memory.bytes_per_token + tokens**2 * memory.bytes_per_pair


@pytest.mark.parametrize("dense_mask", [True, False])
def test_the_longest_row_fits_and_a_longer_one_does_not(dense_mask: bool) -> None:
    limits = training_limits(SIZES, 280_000_000, float_bytes=4, dense_mask=dense_mask, row_length_max=None)
    assert 0 < limits.row_length_max < limits.context_length == 4096
    assert bytes_of(limits.row_length_max, limits.memory) <= 280_000_000
    assert bytes_of(limits.row_length_max + 1, limits.memory) > 280_000_000


def test_rows_hold_several_sequences_and_the_operator_can_limit_them() -> None:
    assert training_limits(SIZES, 10**12, 4, dense_mask=True, row_length_max=None).row_length_max == 32_768
    assert training_limits(SIZES, 10**12, 4, dense_mask=True, row_length_max=100).row_length_max == 100
    assert training_limits(SIZES, 1000, 4, dense_mask=True, row_length_max=100).row_length_max == 0
    long = replace(SIZES, max_positions=10**6)
    assert training_limits(long, 10**12, 4, dense_mask=False, row_length_max=None).context_length == 32_768


@pytest.mark.parametrize("head", [[], ["--head"]])
def test_a_row_takes_no_more_memory_than_planned(head: list[str]) -> None:
    """Runs in a process of its own, whose peak is that of this row: bench/row_memory.py with fewer layers and tokens."""
    script = ROOT / "python" / "whetstone-worker" / "bench" / "row_memory.py"
    environment = {**os.environ, "PYTHONPATH": str(Path(*script.parts[:-2]) / "src")}
    done = subprocess.run(
        [sys.executable, script, "--layers", "12", "--vocab", "1000", "--json", *head, "1024"],
        env=environment, stdout=subprocess.PIPE, timeout=600, check=True,
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert found["measured"] < found["estimated"]


def test_an_adapter_is_counted_by_its_rank() -> None:
    memory = training_limits(SIZES, 10**9, 4, dense_mask=True, row_length_max=None).memory
    q, kv, o, mlp = 64 + 64, 2 * (64 + 32), 64 + 64, 3 * (64 + 128)
    assert memory.bytes_per_rank == 4 * 7 * 4 * (q + kv + o + mlp)
    assert memory.head_bytes_per_rank == 4 * 7 * (64 + 1000)
