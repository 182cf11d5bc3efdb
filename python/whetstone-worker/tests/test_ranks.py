"""Two ranks on gloo, each with half of every layer, give the same log-probabilities, losses and adapter as a single one."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file

from golden import relative_distance
from repository import ROOT

FILES = ["adapter_config.json", "adapter_model.safetensors", "optimizer.safetensors"]


def run_ranks(ranks: int, directory: Path) -> list[Any]:
    """Returns the report of each rank. Creates `directory`, which then has what rank 0 saved."""
    directory.mkdir()
    script = Path(__file__).with_name("two_ranks.py")
    rendezvous = directory.with_suffix(".rendezvous")
    source = str(ROOT / "python" / "whetstone-worker" / "src")
    running = [
        subprocess.Popen(
            [sys.executable, script, str(rank), str(ranks), rendezvous, directory],
            env={"PYTHONPATH": source, "OMP_NUM_THREADS": "1"},
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(ranks)
    ]
    try:
        for process in running:
            _, errors = process.communicate(timeout=300)
            assert process.returncode == 0, errors
    finally:
        for process in running:
            process.kill()
    return [json.loads((directory.parent / f"{directory.name}-{rank}.json").read_text()) for rank in range(ranks)]


def test_two_ranks_with_half_the_layers_each_train_like_one_rank(tmp_path: Path) -> None:
    (alone,) = run_ranks(1, tmp_path / "one")
    first, second = run_ranks(2, tmp_path / "two")
    # Three rows with targets, in four calls: two of each at the same time, then one.
    assert [alone["computed"], first["computed"], second["computed"]] == [12, 8, 4]
    assert alone["norms"][-1] == 0  # a refused row adds no gradient, nor does the other row of the call
    for rank in (first, second):
        assert alone["sharded"] == 0
        assert rank["sharded"] > 0
        assert rank["held"] == pytest.approx(rank["sharded"] / 2, rel=0.05)
        for name in ("logprobs", "losses", "norms"):
            for found, expected in zip(rank[name], alone[name], strict=True):
                assert found == pytest.approx(expected, rel=1e-5, abs=1e-6), name
    assert sorted(file.name for file in (tmp_path / "two").iterdir()) == FILES
    for file in FILES[1:]:
        expected = load_file(tmp_path / "one" / file)
        for name, tensor in load_file(tmp_path / "two" / file).items():
            assert relative_distance(tensor, expected[name]) < 1e-4, name
