"""Adapters of one linear layer, written without PyTorch."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from whetstone_worker.files import WireFile

STARTER_QUERY = {"model.layers.0.self_attn.q_proj": (192, 192)}
"""Number of outputs and of inputs."""


def write_adapter(directory: Path, layers: Mapping[str, tuple[int, int]], rank: int, fill: int = 0) -> list[WireFile]:
    """Every byte of the weights is `fill`."""
    config = {
        "peft_type": "LORA",
        "r": rank,
        "lora_alpha": rank,
        "target_modules": ["q_proj"],
        "task_type": "CAUSAL_LM",
        "bias": "none",
    }
    (directory / "adapter_config.json").write_text(json.dumps(config))
    header: dict[str, object] = {}
    size = 0
    for layer, (outputs, inputs) in layers.items():
        for side, shape in (("A", (rank, inputs)), ("B", (outputs, rank))):
            end = size + 4 * shape[0] * shape[1]
            header[f"base_model.model.{layer}.lora_{side}.weight"] = {
                "dtype": "F32",
                "shape": shape,
                "data_offsets": (size, end),
            }
            size = end
    head = json.dumps(header).encode()
    (directory / "adapter_model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + bytes([fill]) * size)
    return [wire_file(directory / name) for name in ("adapter_config.json", "adapter_model.safetensors")]


def wire_file(path: Path) -> WireFile:
    content = path.read_bytes()
    return WireFile(path.name, len(content), sha256(content).hexdigest())
