"""Under which name requests without an adapter are sent to vLLM.

Its build for processors computes them with whatever adapter is in its last place (0.32: the place of "none" is -1, which
vllm/lora/ops/torch_ops takes for the last one). There they name an adapter of zeros, which changes nothing.
"""

import json
import logging
import os
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from whetstone_worker.sampling.adapter_shapes import AdapterShapes
from whetstone_worker.sampling.vllm_client import MODEL, VllmClient

log = logging.getLogger(__name__)

NAME = "whetstone-no-adapter"
_LINEAR = ".self_attn.o_proj.weight"
"""No family fuses it with another."""


async def name_of_base(client: VllmClient, shapes: AdapterShapes, directory: Path) -> str:
    """`directory`: stays as long as vLLM runs, which may read the adapter again. Raises where vLLM is gone."""
    if not computes_on_processors():
        return MODEL
    weight = next((name for name in sorted(shapes.linears or {}) if name.endswith(_LINEAR)), None)
    if shapes.linears is None or weight is None:
        log.warning("Requests without an adapter may be computed with one: of this model no adapter of zeros can be made.")
        return MODEL
    adapter = directory / NAME
    adapter.mkdir()
    write_zeros(adapter, weight.removesuffix(".weight"), shapes.linears[weight])
    await client.load_adapter(NAME, adapter)
    return NAME


def computes_on_processors() -> bool:
    """As vLLM decides it. Of another vLLM than this Python's (`--vllm`) only VLLM_TARGET_DEVICE says it."""
    if os.environ.get("VLLM_TARGET_DEVICE") == "cpu" or sys.platform == "darwin":
        return True
    try:
        return "cpu" in version("vllm")
    except PackageNotFoundError:
        return False


def write_zeros(directory: Path, layer: str, shape: tuple[int, ...]) -> None:
    """A PEFT directory: rank 1 on one linear layer, weight `[out, in]`."""
    config = {
        "peft_type": "LORA",
        "r": 1,
        "lora_alpha": 1,
        "target_modules": [layer.rsplit(".", 1)[-1]],
        "task_type": "CAUSAL_LM",
        "bias": "none",
    }
    (directory / "adapter_config.json").write_text(json.dumps(config))
    out_features, in_features = shape
    header, offset = {}, 0
    for side, sizes in (("A", [1, in_features]), ("B", [out_features, 1])):
        end = offset + 4 * sizes[0] * sizes[1]
        header[f"base_model.model.{layer}.lora_{side}.weight"] = {"dtype": "F32", "shape": sizes, "data_offsets": [offset, end]}
        offset = end
    head = json.dumps(header).encode()
    (directory / "adapter_model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + bytes(offset))
