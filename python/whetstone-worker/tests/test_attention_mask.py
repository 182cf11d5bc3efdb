"""Both forms of the mask against the rule, evaluated token by token."""

import numpy as np
import pytest
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from rows import plain_fields, shared_prompt_row
from whetstone_worker.errors import WorkerError
from whetstone_worker.trainer.attention_mask import BLOCK, block_mask, dense_mask
from whetstone_worker.trainer.row import TrainingRow, parse_row

CPU = torch.device("cpu")


def plain_rule(row: TrainingRow, i: int, j: int) -> bool:
    segment = int(row.segments[i])
    while j <= i and segment != -1:
        if segment == row.segments[j]:
            return True
        segment = int(row.parents[segment])
    return False


def tree_row(length: int, seed: int) -> TrainingRow:
    """Segments of 1 to 40 tokens, each the child of an earlier one or a root."""
    random = np.random.default_rng(seed)
    segments: list[int] = []
    parents: list[int] = []
    while len(segments) < length:
        segments += [len(parents)] * int(random.integers(1, 40))
        parents.append(int(random.integers(-1, len(parents))))
    return parse_row({**plain_fields([1] * length), "segments": segments[:length], "parents": parents})


@pytest.mark.parametrize("row", [shared_prompt_row([1, 2, 3], [[4, 5], [6]]), tree_row(90, 1)], ids=["shared", "tree"])
def test_a_token_sees_itself_and_earlier_tokens_of_its_segment_and_of_its_ancestors(row: TrainingRow) -> None:
    length = len(row.tokens)
    expected = [[plain_rule(row, i, j) for j in range(length)] for i in range(length)]
    assert dense_mask(row, CPU)[0, 0].tolist() == expected


@pytest.mark.parametrize("length", [BLOCK, 700, 1024])
def test_the_block_mask_equals_the_dense_mask(length: int) -> None:
    row = tree_row(length, length)
    size = -(-length // BLOCK) * BLOCK
    mask = block_mask(row, CPU, size)
    assert mask.shape == (1, 1, size, size)
    dense = dense_mask(row, CPU)[0, 0]
    q, k = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    whole = mask.mask_mod(torch.tensor(0), torch.tensor(0), q, k)
    assert torch.equal(whole[:length, :length], dense)
    assert not whole[:length, length:].any()
    assert whole[length:].any(dim=1).all() or length == size  # softmax over nothing would be NaN

    made_by_torch = create_block_mask(mask.mask_mod, None, None, size, size, device="cpu")
    assert torch.equal(mask.to_dense(), made_by_torch.to_dense())
    assert mask.full_kv_num_blocks is not None
    assert made_by_torch.full_kv_num_blocks is not None
    assert torch.equal(mask.full_kv_num_blocks, made_by_torch.full_kv_num_blocks)


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
def test_flex_attention_with_the_block_mask_equals_scaled_dot_products_with_the_dense_one() -> None:
    row = tree_row(300, 4)
    size = 3 * BLOCK
    q, k, v = torch.randn(3, 1, 2, size, 16, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        flexed = flex_attention(q, k, v, block_mask=block_mask(row, CPU, size))
        assert isinstance(flexed, torch.Tensor)
        plain = torch.nn.functional.scaled_dot_product_attention(
            q[:, :, :300], k[:, :, :300], v[:, :, :300], attn_mask=dense_mask(row, CPU)
        )
    torch.testing.assert_close(flexed[:, :, :300], plain, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("parents", [[1, 0], [0], [5], [-2]])
def test_a_segment_without_a_root_is_refused(parents: list[int]) -> None:
    row = parse_row({**plain_fields([1, 2]), "parents": parents})
    with pytest.raises(WorkerError, match="segment 0 has no root"):
        dense_mask(row, CPU)
