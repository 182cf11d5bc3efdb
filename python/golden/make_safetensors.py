"""Writes test/support/golden/fixtures/safetensors: one file with the same numbers as F32, F16 and BF16, rounded by PyTorch, and
the bits of each as float32. Run through `npm run golden:make`.
"""

import json
import math

import torch
from provenance import FIXTURES, made_with
from safetensors.torch import save_file

# Ties, the largest finite values, overflow to infinity, subnormals of both halves, signed zeros. No NaN: which of its
# many bit patterns PyTorch writes as BF16 depends on the processor.
EDGES = [
    0.0, -0.0, 1.0, -1.0, 1 / 3, math.inf, -math.inf, 65504.0, 65519.996, 65520.0, -70000.0, 3.3895314e38,
    3.4028235e38, 6.1035156e-05, 6.0975552e-05, 5.9604645e-08, 2.9802322e-08, 2.9802326e-08, 1e-40, -1e-45,
    1 + 2**-11, 1 + 3 * 2**-11, 1 + 2**-8, 1 + 3 * 2**-8, 2049.0, 2051.0, 257.0, 259.0,
]  # fmt: skip


def bits(tensor: torch.Tensor) -> list[int]:
    return [value & 0xFFFFFFFF for value in tensor.float().view(torch.int32).tolist()]


def main() -> None:
    directory = FIXTURES / "safetensors"
    directory.mkdir(parents=True, exist_ok=True)
    generator = torch.Generator().manual_seed(7)
    exponents = torch.empty(3, 57).uniform_(-40, 38, generator=generator)
    spread = torch.randn(3, 57, generator=generator) * 2.0**exponents
    edges = torch.tensor(EDGES, dtype=torch.float32)
    tensors = {}
    for dtype in (torch.bfloat16, torch.float32, torch.float16):
        name = str(dtype).removeprefix("torch.")
        tensors[f"{name}.spread"] = spread.to(dtype)
        tensors[f"{name}.edges"] = edges.to(dtype)
    save_file(tensors, directory / "mixed.safetensors", metadata={"format": "pt"})
    expected = {
        "madeWith": made_with("torch", "safetensors"),
        "tolerance": "none: bits are equal",
        "tensors": {
            name: {"shape": list(tensor.shape), "float32Bits": bits(tensor.flatten())} for name, tensor in tensors.items()
        },
    }
    (directory / "expected.json").write_text(json.dumps(expected) + "\n")
    print("safetensors", list(tensors))


if __name__ == "__main__":
    main()
