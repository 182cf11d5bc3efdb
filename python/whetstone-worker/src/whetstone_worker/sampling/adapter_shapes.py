"""Whether an adapter's tensors fit the base model: asked before vLLM is given it, whose own answer to one that does not may be
the end of its process. Reads the headers of safetensors files, no weights.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whetstone_worker.errors import WorkerError

_HEADER_BYTES_MAX = 100 << 20
_TENSOR = re.compile(r"base_model\.model\.(?P<layer>.+)\.lora_(?P<side>[AB])\.weight")

Shapes = Mapping[str, tuple[int, ...]]


class AdapterShapes:
    """`linears`: the base model's weights by name. None: they are stored as codes, whose shapes say nothing."""

    def __init__(self, linears: Shapes | None, rank_max: int) -> None:
        self._linears = linears
        self._rank_max = rank_max

    def check(self, directory: Path) -> None:
        """Raises bad_model_files."""
        path = directory / "adapter_model.safetensors"
        rank = _read_rank(directory / "adapter_config.json")
        if rank > self._rank_max:
            words = f"{directory}: rank {rank} is above the {self._rank_max} of this worker (--adapter-rank-max)."
            raise WorkerError("bad_model_files", words)
        for name, found in sorted(read_shapes(path).items()):
            self._check_tensor(path, name, found, rank)

    def _check_tensor(self, path: Path, name: str, found: tuple[int, ...], rank: int) -> None:
        match = _TENSOR.fullmatch(name)
        if match is None:
            raise WorkerError("bad_model_files", f"{path}: tensor {name} {list(found)} is no part of plain LoRA.")
        if self._linears is None:
            return
        weight = self._linears.get(f"{match['layer']}.weight")
        if weight is None or len(weight) != 2:
            fault = f"tensor {name} {list(found)} has no place in the base model"
            raise WorkerError("bad_model_files", f"{path} does not fit the base model: {fault}.")
        needed = (rank, weight[1]) if match["side"] == "A" else (weight[0], rank)
        if found != needed:
            fault = f"tensor {name} is {list(found)}, the base model needs {list(needed)}"
            raise WorkerError("bad_model_files", f"{path} does not fit the base model: {fault}.")


def open_adapter_shapes(model: Path, *, is_quantised: bool, rank_max: int) -> AdapterShapes:
    """Of a model's directory. Raises bad_model_files."""
    if is_quantised:
        return AdapterShapes(None, rank_max)
    linears: dict[str, tuple[int, ...]] = {}
    for path in sorted(model.glob("*.safetensors")):
        linears.update(read_shapes(path))
    return AdapterShapes(linears, rank_max)


def read_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """Of all tensors in a safetensors file."""
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
