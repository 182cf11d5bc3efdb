"""Under which name requests without an adapter are sent to vLLM.

Its build for processors computes them with whatever adapter is in its last place (0.32: the place of "none" is -1, which
vllm/lora/ops/torch_ops takes for the last one). There they name an adapter of zeros, which changes nothing.
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
    """`directory`: stays as long as vLLM runs, which may read the adapter again. Raises where vLLM is gone, and where it would
    compute requests without an adapter with another's.
    """
    if not on_processor:
        return MODEL
    if shapes.projection is None:
        words = (
            "On a processor vLLM may compute a request without an adapter with the adapter of another request, unless it names "
            "one of zeros. Of this model none can be made: it has no layer self_attn.o_proj. Sample it on a GPU, or with "
            "`whetstone workers run`."
        )
        raise WorkerError("bad_model_files", words)
    adapter = directory / NAME
    adapter.mkdir()
    stored = (shapes.linears or {}).get(f"{shapes.projection}.weight")
    outputs, inputs = stored or (model.hidden_size, model.attention_size)  # codes have other shapes
    write_rank_one_adapter(adapter, shapes.projection, array("f", bytes(4 * inputs)), array("f", bytes(4 * outputs)), alpha=1)
    await client.load_adapter(NAME, adapter)
    return NAME
