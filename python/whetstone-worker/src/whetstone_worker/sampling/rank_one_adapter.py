"""Writes a LoRA adapter of rank 1 on one linear layer as a PEFT directory, for the worker's own use of vLLM."""

import json
from array import array
from pathlib import Path


def write_rank_one_adapter(directory: Path, layer: str, a: "array[float]", b: "array[float]", alpha: int) -> None:
    """`layer`: such as lm_head or model.layers.0.self_attn.o_proj. `a` has one float per input, `b` one per output."""
    config = {
        "peft_type": "LORA",
        "r": 1,
        "lora_alpha": alpha,
        "target_modules": [layer.rsplit(".", 1)[-1]],
        "task_type": "CAUSAL_LM",
        "bias": "none",
    }
    (directory / "adapter_config.json").write_text(json.dumps(config))
    header, offset = {}, 0
    for side, values, shape in (("A", a, [1, len(a)]), ("B", b, [len(b), 1])):
        end = offset + 4 * len(values)
        header[f"base_model.model.{layer}.lora_{side}.weight"] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, end]}
        offset = end
    head = json.dumps(header).encode()
    content = len(head).to_bytes(8, "little") + head + a.tobytes() + b.tobytes()
    (directory / "adapter_model.safetensors").write_bytes(content)
