"""Writes test/support/golden/fixtures/gguf.json: blocks of each quantisation that Whetstone reads, the float32 values to which the package
`gguf` (llama.cpp's own) dequantises them, and its Q8_0 quantisation of values. Run through `npm run golden:make`.
"""

import base64
import json

import gguf
import numpy as np
from provenance import FIXTURES, made_with

TYPES = ["F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q5_K", "Q6_K"]
# Offsets of the float16 scales in a block: any other byte may have any value.
SCALES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208]}


def text(array: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def main() -> None:
    random = np.random.default_rng(15)
    fixture: dict = {"madeWith": made_with("gguf", "numpy"), "tolerance": "none: bits are equal", "types": {}}
    for name in TYPES:
        kind = gguf.GGMLQuantizationType[name]
        values, size = gguf.GGML_QUANT_SIZES[kind]
        blocks = 8 if values == 32 else 4 if values == 256 else 64
        data = random.integers(0, 256, (blocks, size), dtype=np.uint8)
        for at in SCALES.get(name, []):
            data[:, at : at + 2] = random.normal(0, 0.05, (blocks, 1)).astype(np.float16).view(np.uint8)
        if name in ("F16", "BF16"):
            data = gguf.quants.quantize(random.normal(0, 3, (blocks,)).astype(np.float32), kind).view(np.uint8)
        decoded = gguf.quants.dequantize(data, kind).astype(np.float32)
        fixture["types"][name] = {"bytes": text(data), "float32": text(decoded)}
    weights = random.normal(0, 0.1, (4, 64)).astype(np.float32)
    weights[1, :32] = 0
    weights[2, 0] = 40.0
    fixture["quantized"] = {
        "float32": text(weights),
        "Q8_0": text(gguf.quants.quantize(weights, gguf.GGMLQuantizationType.Q8_0)),
    }
    (FIXTURES / "gguf.json").write_text(json.dumps(fixture, indent=1) + "\n")
    print("gguf", TYPES)


if __name__ == "__main__":
    main()
