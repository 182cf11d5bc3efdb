"""The share of a device's memory that a trainer uses next to a sampler: how much is left for rows after the weights,
computed before the weights are loaded. The counterpart of vLLM's --gpu-memory-utilization. On a GPU the share is enforced.
"""

import math
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open

from whetstone_worker.errors import WorkerError
from whetstone_worker.trainer.base_model import arithmetic_of
from whetstone_worker.trainer.memory import CPU_SHARE, CUDA_SHARE, default_budget_bytes


def take_share(directory: Path, device: torch.device, share: float, ranks: int) -> int:
    """Returns the bytes for rows. `directory`: that of the model, whose weights are split over the ranks. Raises WorkerError
    invalid_request if nothing is left, and bad_model_files if the weights cannot be read."""
    if device.type == "cuda":
        torch.cuda.set_per_process_memory_fraction(share, device.index)  # beyond it this process fails, not the sampler
    whole = _device_bytes(device)
    weights = _weights_bytes(directory, device) // ranks
    rows = int((share * whole - weights) * CUDA_SHARE)
    if rows < 1:
        words = f"The weights take {weights} bytes, more than {share:g} of the memory ({int(share * whole)} bytes): raise it."
        raise WorkerError("invalid_request", f"--memory-share {share:g}: {words}")
    return rows


def _device_bytes(device: torch.device) -> int:
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[1]
    return int(default_budget_bytes(device) / CPU_SHARE)  # of the machine, or its container's limit


def _weights_bytes(directory: Path, device: torch.device) -> int:
    """Returns the size of the weights in the dtype they are loaded in, not the one they are stored in."""
    return arithmetic_of(device).dtype.itemsize * sum(_elements(path) for path in directory.glob("*.safetensors"))


def _elements(path: Path) -> int:
    try:
        with safe_open(path, framework="pt") as file:
            return sum(math.prod(file.get_slice(name).get_shape()) for name in file.keys())  # noqa: SIM118
    except (SafetensorError, OSError) as cause:
        raise WorkerError("bad_model_files", f"{path} cannot be read as safetensors: {cause}.") from cause
