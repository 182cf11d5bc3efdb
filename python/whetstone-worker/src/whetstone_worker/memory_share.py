"""A trainer's share of a device that it shares with a sampler: how much of it is left for rows beside the weights, computed
before the weights are loaded. The counterpart of vLLM's --gpu-memory-utilization. On a GPU the share is enforced.
"""

import math
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open

from whetstone_worker.errors import WorkerError
from whetstone_worker.trainer.base_model import arithmetic_of
from whetstone_worker.trainer.memory import CPU_SHARE, CUDA_SHARE, default_budget_bytes


def take_share(directory: Path, device: torch.device, share: float, ranks: int) -> int:
    """The bytes for rows. `directory`: of the model, whose weights are split over the ranks. Raises invalid_request if nothing
    is left, and bad_model_files."""
    if device.type == "cuda":
        torch.cuda.set_per_process_memory_fraction(share, device.index)  # beyond it this process fails, and not the sampler
    whole = _device_bytes(device)
    weights = _weights_bytes(directory, device) // ranks
    rows = int((share * whole - weights) * CUDA_SHARE)
    if rows < 1:
        words = f"The weights take {weights} bytes, and {share:g} of the memory are {int(share * whole)} bytes: give more."
        raise WorkerError("invalid_request", f"--memory-share {share:g}: {words}")
    return rows


def _device_bytes(device: torch.device) -> int:
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[1]
    return int(default_budget_bytes(device) / CPU_SHARE)  # of the machine, or what its container may use


def _weights_bytes(directory: Path, device: torch.device) -> int:
    """As they are loaded, whatever they are stored in."""
    return arithmetic_of(device).dtype.itemsize * sum(_elements(path) for path in directory.glob("*.safetensors"))


def _elements(path: Path) -> int:
    try:
        with safe_open(path, framework="pt") as file:
            return sum(math.prod(file.get_slice(name).get_shape()) for name in file.keys())  # noqa: SIM118
    except (SafetensorError, OSError) as cause:
        raise WorkerError("bad_model_files", f"{path} cannot be read as safetensors: {cause}.") from cause
