"""Checks whether an adapter's tensors fit the base model before vLLM loads it, because a misfit may crash vLLM. Reads the
headers of safetensors files only, no weights.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whetstone_worker.errors import WorkerError

_HEADER_BYTES_MAX = 100 << 20
_TENSOR = re.compile(r"base_model\.model\.(?P<layer>.+)\.lora_(?P<side>[AB])\.weight")

_PROJECTION = re.compile(r"(.+\.self_attn\.o_proj)\.[^.]+")

_HEAD = "lm_head"
_HEAD_COPY = "base_model.model.lm_head.base_layer.weight"
"""PEFT's `save_pretrained` stores it along with an adapter of the head. It is a copy of the base model's; vLLM ignores it."""
_EMBEDDING = "model.embed_tokens.weight"

Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class AdapterShapes:
    linears: Shapes | None
    """The shapes of the base model's weights by name. None: they are quantised, and their stored shapes differ."""
    rank_max: int
    takes_head: bool = True
    """Whether vLLM computes with adapters of the output head (head_probe.py)."""
    projection: str | None = None
    """The first attention output projection, which no family fuses with another layer. None if the model has none."""

    def check(self, directory: Path) -> None:
        """Raises WorkerError bad_model_files if the adapter does not fit."""
        path = directory / "adapter_model.safetensors"
        rank = _read_rank(directory / "adapter_config.json")
        if rank > self.rank_max:
            words = f"{directory}: rank {rank} is above the {self.rank_max} of this worker (--adapter-rank-max)."
            raise WorkerError("bad_model_files", words)
        for name, found in sorted(read_shapes(path).items()):
            if name != _HEAD_COPY:
                self._check_tensor(path, name, found, rank)

    def _check_tensor(self, path: Path, name: str, found: tuple[int, ...], rank: int) -> None:
        match = _TENSOR.fullmatch(name)
        if match is None:
            raise WorkerError("bad_model_files", f"{path}: tensor {name} {list(found)} is not part of plain LoRA.")
        if match["layer"] == _HEAD and not self.takes_head:
            words = f"{path} adapts the output head ({_HEAD}), which this worker's vLLM does not support for this model."
            raise WorkerError("bad_model_files", words)
        if self.linears is None:
            return
        weight = self.linears.get(f"{match['layer']}.weight")
        if weight is None and match["layer"] == _HEAD:
            weight = self.linears.get(_EMBEDDING)  # the two are tied
        if weight is None or len(weight) != 2:
            fault = f"tensor {name} {list(found)} has no place in the base model"
            raise WorkerError("bad_model_files", f"{path} does not fit the base model: {fault}.")
        needed = (rank, weight[1]) if match["side"] == "A" else (weight[0], rank)
        if found != needed:
            fault = f"tensor {name} is {list(found)}, the base model needs {list(needed)}"
            raise WorkerError("bad_model_files", f"{path} does not fit the base model: {fault}.")


def open_adapter_shapes(model: Path, *, is_quantised: bool, rank_max: int) -> AdapterShapes:
    """Reads the shapes of the model in a directory. Raises WorkerError bad_model_files."""
    tensors: dict[str, tuple[int, ...]] = {}
    for path in sorted(model.glob("*.safetensors")):
        tensors.update(read_shapes(path))
    found = sorted(match[1] for name in tensors if (match := _PROJECTION.fullmatch(name)))
    return AdapterShapes(None if is_quantised else tensors, rank_max, projection=found[0] if found else None)


def read_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """Returns the shapes of all tensors in a safetensors file."""
    try:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            if size > _HEADER_BYTES_MAX:
                raise ValueError(f"its header would have {size} bytes")
            header = json.loads(file.read(size))
        return {name: tuple(tensor["shape"]) for name, tensor in header.items() if name != "__metadata__"}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as cause:
        raise WorkerError("bad_model_files", f"{path} cannot be read as safetensors: {cause}.") from cause


def _read_rank(path: Path) -> int:
    try:
        config: Any = json.loads(path.read_text(encoding="utf-8"))
        rank = config["r"]
    except (OSError, ValueError, KeyError, TypeError) as cause:
        raise WorkerError("bad_model_files", f"{path} cannot be read as an adapter's configuration: {cause}.") from cause
    if not isinstance(rank, int) or rank < 1:
        raise WorkerError("bad_model_files", f"{path}: r must be a positive integer, got {rank!r}.")
    return rank
