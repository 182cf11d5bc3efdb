"""Where vLLM computes requests without an adapter with another's, they name one of zeros."""

import asyncio
from pathlib import Path

import pytest
from safetensors.torch import load_file

from whetstone_worker.sampling import base_name
from whetstone_worker.sampling.adapter_shapes import AdapterShapes
from whetstone_worker.sampling.base_name import NAME, name_of_base
from whetstone_worker.sampling.vllm_client import MODEL

SHAPES = AdapterShapes({"model.layers.0.self_attn.o_proj.weight": (6, 8), "model.norm.weight": (6,)}, rank_max=8)


class Answering:
    """Stands for VllmClient."""

    def __init__(self) -> None:
        self.loaded: dict[str, Path] = {}

    async def load_adapter(self, name: str, directory: Path) -> None:
        self.loaded[name] = directory


def named(client: Answering, shapes: AdapterShapes, directory: Path) -> str:
    return asyncio.run(name_of_base(client, shapes, directory))  # type: ignore[arg-type]


def test_on_a_gpu_the_base_model_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base_name, "version", lambda _: "0.32.0")
    client = Answering()
    assert (named(client, SHAPES, tmp_path), client.loaded) == (MODEL, {})


def test_on_a_processor_an_adapter_of_zeros_that_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base_name, "version", lambda _: "0.32.0+cpu")
    client = Answering()
    assert named(client, SHAPES, tmp_path) == NAME
    SHAPES.check(client.loaded[NAME])
    tensors = load_file(client.loaded[NAME] / "adapter_model.safetensors")
    assert {name: tuple(tensor.shape) for name, tensor in tensors.items()} == {
        "base_model.model.model.layers.0.self_attn.o_proj.lora_A.weight": (1, 8),
        "base_model.model.model.layers.0.self_attn.o_proj.lora_B.weight": (6, 1),
    }
    assert not any(tensor.any() for tensor in tensors.values())


def test_where_shapes_are_not_known_it_goes_on_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_TARGET_DEVICE", "cpu")
    client = Answering()
    assert (named(client, AdapterShapes(None, 8), tmp_path), client.loaded) == (MODEL, {})
