"""How long rows may be, from the memory that training a row takes (computed from the model's sizes) and that the device has.
An estimate slightly above the measurements (README.md). The embedded engine's counterpart is row-memory.ts.

Layers are checkpointed: of each only its input is kept, and one layer at a time is computed again. Fused attention keeps no
scores, so only the mask grows with the square of the row; FlexAttention has no such mask either.
"""

import ctypes
import math
import os
from dataclasses import dataclass
from pathlib import Path

import torch

from whetstone_worker.trainer.token_head import head_chunk

LENGTH_MAX = 32_768
"""Limit in tokens of sequences and rows, whatever the model and the memory permit; the same as in the embedded engine and in
the reference trainer."""
CPU_SHARE = 0.4
"""Share of the machine's memory, or of its container's limit, for training; the rest is for everything else."""
CUDA_SHARE = 0.85
"""Share of the memory left after the weights. The allocator's fragmentation and the layers' optimizer state take the rest."""
ADAPTER_COPIES = 7
"""Copies of an adapter: weights, summed gradients, a row's gradients, two moments, and the temporaries of an update."""
_ADAPTER_FLOAT_BYTES = 4


@dataclass(frozen=True)
class ModelSizes:
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate: int
    vocab: int
    max_positions: int


@dataclass(frozen=True)
class RowMemory:
    """A row of n tokens peaks at about fixed_bytes + n · bytes_per_token + n² · bytes_per_pair, beside an adapter."""

    budget_bytes: int
    fixed_bytes: int
    bytes_per_token: float
    bytes_per_pair: float
    bytes_per_rank: float
    """For an adapter on all linear layers, with its optimizer and gradients."""
    head_bytes_per_rank: float
    """In addition, for an adapter on the output head."""


@dataclass(frozen=True)
class TrainingLimits:
    context_length: int
    """Tokens of the longest sequence that the model supports."""
    row_length_max: int
    """Tokens that fit in one row, of one sequence or several: more than the context length if memory permits."""
    memory: RowMemory


def training_limits(
    sizes: ModelSizes, budget_bytes: int, float_bytes: int, dense_mask: bool, row_length_max: int | None
) -> TrainingLimits:
    """`row_length_max`: the operator's limit, which can only lower the one from memory."""
    memory = _row_memory(sizes, budget_bytes, float_bytes, dense_mask)
    limit = LENGTH_MAX if row_length_max is None else min(LENGTH_MAX, row_length_max)
    return TrainingLimits(min(sizes.max_positions, LENGTH_MAX), max(0, min(limit, _longest_row(memory))), memory)


def _row_memory(sizes: ModelSizes, budget_bytes: int, float_bytes: int, dense_mask: bool) -> RowMemory:
    attention, kv = sizes.heads * sizes.head_dim, sizes.kv_heads * sizes.head_dim
    # For the layer being recomputed: norms, residuals; q, k, v before and after norm and rotation, k and v repeated for every
    # query head, the attention output; gate, up, their products; and the gradients of the widest of them.
    one_layer = 8 * sizes.hidden + 8 * attention + 6 * kv + 8 * sizes.intermediate
    kept = sizes.layers * sizes.hidden + 4 * sizes.hidden
    return RowMemory(
        budget_bytes=budget_bytes,
        fixed_bytes=4 * 4 * head_chunk(sizes.vocab, None) * sizes.vocab,
        bytes_per_token=float_bytes * (kept + one_layer),
        bytes_per_pair=2 + 2 * float_bytes if dense_mask else 0,
        bytes_per_rank=_ADAPTER_FLOAT_BYTES * ADAPTER_COPIES * sizes.layers * _features(sizes),
        head_bytes_per_rank=_ADAPTER_FLOAT_BYTES * ADAPTER_COPIES * (sizes.hidden + sizes.vocab),
    )


def _features(sizes: ModelSizes) -> int:
    """The inputs and outputs of a layer's linear parts together: q, k, v, o, gate, up, down."""
    attention, kv = sizes.heads * sizes.head_dim, sizes.kv_heads * sizes.head_dim
    return 7 * sizes.hidden + 2 * attention + 2 * kv + 3 * sizes.intermediate


def _longest_row(memory: RowMemory) -> int:
    """The largest n with fixed + n · per_token + n² · per_pair ≤ budget."""
    room = memory.budget_bytes - memory.fixed_bytes
    if room <= 0:
        return 0
    a, b = memory.bytes_per_pair, memory.bytes_per_token
    return int(room / b) if a == 0 else int((-b + math.sqrt(b * b + 4 * a * room)) / (2 * a))


def default_budget_bytes(device: torch.device) -> int:
    if device.type == "cuda":
        free, _total = torch.cuda.mem_get_info(device)
        return int(free * CUDA_SHARE)
    return int(_machine_bytes() * CPU_SHARE)


def _machine_bytes() -> int:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for limit in (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes")):
        try:
            return min(total, int(limit.read_text()))
        except (OSError, ValueError):  # no such controller, or the value "max"
            continue
    return total


def give_freed_memory_back() -> None:
    """Makes glibc return freed memory. It keeps freed blocks of up to 32 MB in a heap, which the remaining inputs of layers
    fragment: a row of 1024 tokens of a 135M model took 1.1 GB, of which at most 0.3 GB were in use. No effect with other
    C libraries."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _MMAP_THRESHOLD_BYTES)


_M_MMAP_THRESHOLD = -3
"""From malloc.h."""
_MMAP_THRESHOLD_BYTES = 1024 * 1024
"""Tensors of rows are larger; smaller blocks are reused at once."""
