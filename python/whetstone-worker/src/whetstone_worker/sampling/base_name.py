"""Under which name requests without an adapter are sent to vLLM.

Its build for processors computes them with whatever adapter is in its last place (0.32: the place of "none" is -1, which
vllm/lora/ops/torch_ops takes for the last one). There they name an adapter of zeros, which changes nothing.
"""

import logging
import os
import sys
from array import array
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from whetstone_worker.sampling.adapter_shapes import AdapterShapes
from whetstone_worker.sampling.rank_one_adapter import write_rank_one_adapter
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
    out_features, in_features = shapes.linears[weight]
    a, b = array("f", bytes(4 * in_features)), array("f", bytes(4 * out_features))
    write_rank_one_adapter(adapter, weight.removesuffix(".weight"), a, b, alpha=1)
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
