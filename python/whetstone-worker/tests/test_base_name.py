"""If vLLM would compute requests without an adapter with another request's, they name an adapter of zeros."""

import asyncio
import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from whetstone_worker.errors import WorkerError
from whetstone_worker.sampling.adapter_shapes import AdapterShapes, open_adapter_shapes
from whetstone_worker.sampling.base_model import BaseModel, read_base_model
from whetstone_worker.sampling.base_name import NAME, name_of_base
from whetstone_worker.sampling.vllm_client import MODEL

CONFIG: dict[str, object] = {
    "vocab_size": 9,
    "hidden_size": 6,
    "num_attention_heads": 2,
    "head_dim": 4,
    "max_position_embeddings": 32,
}
QUANTISED: dict[str, object] = {**CONFIG, "quantization_config": {"quant_method": "gptq"}}
PROJECTION = "model.layers.0.self_attn.o_proj"


class Answering:
    """Replaces VllmClient."""

    def __init__(self) -> None:
        self.loaded: dict[str, Path] = {}

    async def load_adapter(self, name: str, directory: Path) -> None:
        self.loaded[name] = directory


def made(directory: Path, config: dict[str, object], tensors: dict[str, tuple[int, ...]]) -> tuple[BaseModel, AdapterShapes]:
    (directory / "config.json").write_text(json.dumps(config))
    save_file({name: torch.zeros(shape) for name, shape in tensors.items()}, directory / "model.safetensors")
    model = read_base_model(directory, "float32")
    return model, open_adapter_shapes(directory, is_quantised=model.is_quantised, rank_max=8)


def named(client: Answering, of: tuple[BaseModel, AdapterShapes], directory: Path, *, on_processor: bool = True) -> str:
    return asyncio.run(name_of_base(client, *of, directory, on_processor=on_processor))  # type: ignore[arg-type]


def test_on_a_gpu_requests_name_the_base_model(tmp_path: Path) -> None:
    client = Answering()
    model = made(tmp_path, CONFIG, {f"{PROJECTION}.weight": (6, 8)})
    assert (named(client, model, tmp_path, on_processor=False), client.loaded) == (MODEL, {})


@pytest.mark.parametrize(
    ("config", "tensors"),
    [
        (CONFIG, {f"{PROJECTION}.weight": (6, 8), "model.norm.weight": (6,)}),
        (QUANTISED, {f"{PROJECTION}.qweight": (1, 6), f"{PROJECTION}.scales": (1, 6)}),
        ({**QUANTISED, "head_dim": None, "num_attention_heads": 3}, {f"{PROJECTION}.weight_packed": (6, 1)}),
    ],
)
def test_on_a_cpu_requests_name_an_adapter_of_zeros_that_fits_even_quantised_weights(
    config: dict[str, object], tensors: dict[str, tuple[int, ...]], tmp_path: Path
) -> None:
    client = Answering()
    model = made(tmp_path, config, tensors)
    assert named(client, model, tmp_path) == NAME
    model[1].check(client.loaded[NAME])
    zeros = load_file(client.loaded[NAME] / "adapter_model.safetensors")
    assert {name: tuple(tensor.shape) for name, tensor in zeros.items()} == {
        f"base_model.model.{PROJECTION}.lora_A.weight": (1, 8 if config["head_dim"] else 6),
        f"base_model.model.{PROJECTION}.lora_B.weight": (6, 1),
    }
    assert not any(tensor.any() for tensor in zeros.values())


def test_a_model_without_a_layer_for_it_is_refused_on_a_cpu(tmp_path: Path) -> None:
    client = Answering()
    model = made(tmp_path, CONFIG, {"transformer.h.0.attn.c_proj.weight": (6, 8)})
    with pytest.raises(WorkerError, match=r"has no layer self_attn\.o_proj") as refusal:
        named(client, model, tmp_path)
    assert (refusal.value.code, client.loaded) == ("bad_model_files", {})
