"""Low-rank adapters (arXiv:2106.09685) on the linear layers of a decoder: y = xWᵀ + scale · (xAᵀ)Bᵀ. Defines names, shapes and
initial values in PEFT's format: lora_A `[rank, in]`, lora_B `[out, rank]`. Does not know files or models.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

ATTENTION = ("q_proj", "k_proj", "v_proj", "o_proj")
MLP = ("gate_proj", "up_proj", "down_proj")
HEAD = "lm_head"
"""Also its path. If the head is tied to the embedding, only the head is adapted."""
TARGETS = (*ATTENTION, *MLP, HEAD)
ALL_LINEAR = (*ATTENTION, *MLP)
"""The layers that PEFT means by `all-linear`."""


@dataclass(frozen=True)
class LinearLayer:
    """A layer of the base model, with weight `[out_features, in_features]`."""

    path: str
    """Such as `model.layers.0.self_attn.q_proj`."""
    in_features: int
    out_features: int

    @property
    def target(self) -> str:
        return self.path.rpartition(".")[2]


@dataclass(frozen=True)
class LoraShape:
    """Determines the shapes of an adapter's tensors and its scale."""

    rank: int
    alpha: float
    rank_stabilized: bool
    """scale = alpha / √rank (arXiv:2312.03732) instead of alpha / rank."""
    targets: tuple[str, ...]

    @property
    def scale(self) -> float:
        return self.alpha / (math.sqrt(self.rank) if self.rank_stabilized else self.rank)


@dataclass(frozen=True)
class Adapter:
    shape: LoraShape
    tensors: dict[str, Tensor]
    """float32 by parameter name, in the order of `parameters`."""


@dataclass(frozen=True)
class Parameter:
    name: str
    shape: tuple[int, int]


def a_name(path: str) -> str:
    return f"base_model.model.{path}.lora_A.weight"


def b_name(path: str) -> str:
    return f"base_model.model.{path}.lora_B.weight"


def parameters(layers: Sequence[LinearLayer], shape: LoraShape) -> list[Parameter]:
    """A and B of every targeted layer, in the order of the layers."""
    return [
        parameter
        for layer in layers
        if layer.target in shape.targets
        for parameter in (
            Parameter(a_name(layer.path), (shape.rank, layer.in_features)),
            Parameter(b_name(layer.path), (layer.out_features, shape.rank)),
        )
    ]


def head_copy(layers: Sequence[LinearLayer], shape: LoraShape) -> dict[str, tuple[int, ...]]:
    """The shapes of the head that PEFT's `save_pretrained` stores along with an adapter of it: a copy, which is not read."""
    heads = [layer for layer in layers if layer.target == HEAD and HEAD in shape.targets]
    return {f"base_model.model.{head.path}.base_layer.weight": (head.out_features, head.in_features) for head in heads}


def create_adapter(
    layers: Sequence[LinearLayer],
    rank: int,
    alpha: float,
    seed: int,
    targets: tuple[str, ...] = ALL_LINEAR,
    *,
    rank_stabilized: bool = False,
) -> Adapter:
    """B is zero, so a fresh adapter changes nothing; A is U(−1/√in, 1/√in), as in PEFT. The numbers differ from those of the
    embedded engine for the same seed: the initial adapter of a model comes from the server, as files."""
    random = np.random.Generator(np.random.PCG64(seed & (2**64 - 1)))
    shape = LoraShape(rank, alpha, rank_stabilized, targets)
    tensors: dict[str, Tensor] = {}
    for layer in (layer for layer in layers if layer.target in targets):
        bound = 1 / math.sqrt(layer.in_features)
        uniform = random.random((rank, layer.in_features)) * 2 - 1
        tensors[a_name(layer.path)] = torch.from_numpy((uniform * bound).astype(np.float32))
        tensors[b_name(layer.path)] = torch.zeros(layer.out_features, rank)
    return Adapter(shape, tensors)
