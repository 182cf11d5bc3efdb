"""A trainer's share of a device's memory, on a CPU: it includes the weights, whatever dtype they are stored in."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from repository import STARTER
from whetstone_worker.errors import WorkerError
from whetstone_worker.memory_share import take_share
from whetstone_worker.trainer.base_model import arithmetic_of, open_base_model
from whetstone_worker.trainer.memory import CPU_SHARE, CUDA_SHARE, default_budget_bytes

CPU = torch.device("cpu")
MACHINE = default_budget_bytes(CPU) / CPU_SHARE


def test_the_weights_are_part_of_the_share() -> None:
    base = open_base_model(STARTER, CPU, arithmetic_of(CPU))
    elements = sum(each.numel() for each in base.decoder.parameters())
    assert take_share(STARTER, CPU, 0.5, ranks=1) == pytest.approx((0.5 * MACHINE - 4 * elements) * CUDA_SHARE, abs=8)


def test_two_byte_weights_take_four_bytes_on_a_cpu(tmp_path: Path) -> None:
    save_file({"w": torch.zeros(1_000_000, dtype=torch.bfloat16)}, tmp_path / "model.safetensors")
    assert take_share(tmp_path, CPU, 0.5, ranks=1) == pytest.approx((0.5 * MACHINE - 4_000_000) * CUDA_SHARE, abs=8)
    assert take_share(tmp_path, CPU, 0.5, ranks=4) == pytest.approx((0.5 * MACHINE - 1_000_000) * CUDA_SHARE, abs=8)


def test_a_share_without_room_for_rows_is_refused_with_the_numbers(tmp_path: Path) -> None:
    save_file({"w": torch.zeros(1_000_000)}, tmp_path / "model.safetensors")
    with pytest.raises(WorkerError, match=r"--memory-share 1e-06: The weights take 4000000 bytes, more than 1e-06 of"):
        take_share(tmp_path, CPU, 1e-6, ranks=1)


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"no tensors")
    with pytest.raises(WorkerError, match=r"model\.safetensors cannot be read as safetensors"):
        take_share(tmp_path, CPU, 0.5, ranks=1)
