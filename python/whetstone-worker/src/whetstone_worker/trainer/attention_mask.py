"""The attention mask of a packed row: token i attends to token j if j ≤ i and j's segment is i's own or one of its ancestors.

Two forms of one rule: a dense `[row, row]` table for scaled dot products on any device, and a BlockMask for FlexAttention,
which skips blocks of 128 × 128 without a visible pair, so that a row of many short sequences costs little more than the
sequences. Knows segments and parents, nothing of models. Computes a few rows of the table at a time, never row × row integers.
"""

from typing import Any

import numpy as np
import torch
import torch._dynamo.config
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask

from whetstone_worker.errors import WorkerError
from whetstone_worker.trainer.row import Int32, TrainingRow

BLOCK = 128
"""FlexAttention's default: the tile size of its kernels on every GPU that it supports."""
COMPILED_MAX = 64
"""The number of kinds of rows that FlexAttention may be compiled for."""


def ancestor_table(parents: Int32) -> Tensor:
    """Returns bool `[segments, segments]`: true where the second is the first itself or one of its ancestors."""
    count = len(parents)
    table = np.zeros((count, count), dtype=bool)
    segments = np.arange(count, dtype=np.int32)
    ancestors = segments
    for _ in range(count):
        table[segments, ancestors] = True
        above = parents[ancestors]
        if ((above < -1) | (above >= count)).any():
            raise _no_root(int(segments[(above < -1) | (above >= count)][0]))
        segments, ancestors = segments[above >= 0], above[above >= 0]
    if segments.size > 0:
        raise _no_root(int(segments[0]))
    return torch.from_numpy(table)


def _no_root(segment: int) -> WorkerError:
    return WorkerError("invalid_request", f"This training row cannot be used: segment {segment} has no root.")


def dense_mask(row: TrainingRow, device: torch.device) -> Tensor:
    """Returns bool `[1, 1, row, row]`, true where token i (row) sees token j (column)."""
    segments = torch.from_numpy(row.segments).long().to(device)
    sees = ancestor_table(row.parents).to(device)
    return sees[segments][:, segments].tril_()[None, None]


def compile_every_length() -> None:
    """Raises PyTorch's limit of recompilations. Rows differ in length and segments, layers in whether they need gradients.
    Beyond the limit PyTorch warns, stops compiling, and computes scores of row × row. Its default is 8; rows without
    gradients alone are 6 kinds.
    """
    config: Any = torch._dynamo.config
    config.recompile_limit = max(config.recompile_limit, COMPILED_MAX)


def block_mask(row: TrainingRow, device: torch.device, size: int) -> BlockMask:
    """The mask of `size` ≥ row tokens, a multiple of 128. Padding tokens form a segment of their own, which is not trained."""
    padding = size - len(row.segments)
    table = ancestor_table(row.parents)
    count = len(row.parents)
    sees = torch.nn.functional.pad(table, (0, 1, 0, 1)).to(device)
    sees[count, count] = True
    segments = torch.nn.functional.pad(torch.from_numpy(row.segments).long(), (0, padding), value=count).to(device)

    def mask_mod(_batch: Tensor, _head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return (key <= query) & sees[segments[query], segments[key]]

    some, every = _block_counts(sees, segments)
    partial, full = some & ~every, every
    return BlockMask.from_kv_blocks(
        *_listed(partial), *_listed(full), BLOCK_SIZE=BLOCK, mask_mod=mask_mod, seq_lengths=(size, size)
    )


def _block_counts(sees: Tensor, segments: Tensor) -> tuple[Tensor, Tensor]:
    """Returns two bool `[blocks, blocks]`: whether some pair, and whether every pair, of a block is visible."""
    size = len(segments)
    places = torch.arange(size, device=segments.device)
    some, every = [], []
    for start in range(0, size, BLOCK):
        rows = slice(start, start + BLOCK)
        seen = sees[segments[rows]][:, segments] & (places <= places[rows, None])  # [128, size]
        blocks = seen.view(BLOCK, size // BLOCK, BLOCK)
        some.append(blocks.any(dim=2).any(dim=0))
        every.append(blocks.all(dim=2).all(dim=0))
    return torch.stack(some), torch.stack(every)


def _listed(blocks: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the number of set columns per row of blocks, int32 `[1, 1, blocks]`, and their indices, set ones first."""
    order = blocks.to(torch.int8).argsort(dim=1, descending=True, stable=True)
    return blocks.sum(dim=1).to(torch.int32)[None, None], order.to(torch.int32)[None, None].contiguous()
