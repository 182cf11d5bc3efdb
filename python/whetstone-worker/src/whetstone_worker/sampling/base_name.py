"""The model name for requests to vLLM without an adapter.

vLLM's CPU build computes them with the adapter in its last slot (0.32: the slot of "none" is -1, which
vllm/lora/ops/torch_ops reads as the last one). There these requests name an adapter of zeros, which changes nothing.
"""

from array import array
from pathlib import Path

from whetstone_worker.errors import WorkerError
from whetstone_worker.sampling.adapter_shapes import AdapterShapes
from whetstone_worker.sampling.base_model import BaseModel
from whetstone_worker.sampling.rank_one_adapter import write_rank_one_adapter
from whetstone_worker.sampling.vllm_client import MODEL, VllmClient

NAME = "whetstone-no-adapter"


async def name_of_base(
    client: VllmClient, model: BaseModel, shapes: AdapterShapes, directory: Path, *, on_processor: bool
) -> str:
    """`directory`: must exist as long as vLLM runs, which may read the adapter again. Raises WorkerError if vLLM is gone, or if
    it would compute requests without an adapter with the adapter of another request.
    """
    if not on_processor:
        return MODEL
    if shapes.projection is None:
        words = (
            "On a CPU vLLM may compute a request without an adapter with the adapter of another request, unless the request "
            "names an adapter of zeros. No such adapter exists for this model, which has no layer self_attn.o_proj. Sample it "
            "on a GPU, or with `whetstone workers run`."
        )
        raise WorkerError("bad_model_files", words)
    adapter = directory / NAME
    adapter.mkdir()
    stored = (shapes.linears or {}).get(f"{shapes.projection}.weight")
    outputs, inputs = stored or (model.hidden_size, model.attention_size)  # quantised weights have other shapes
    write_rank_one_adapter(adapter, shapes.projection, array("f", bytes(4 * inputs)), array("f", bytes(4 * outputs)), alpha=1)
    await client.load_adapter(NAME, adapter)
    return NAME
