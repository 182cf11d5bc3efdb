"""A probe determines whether a vLLM samples with adapters of the output head: it may refuse one, load but ignore it, or
compute with it."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from whetstone_worker.errors import WorkerError
from whetstone_worker.sampling.adapter_shapes import AdapterShapes, read_shapes
from whetstone_worker.sampling.head_probe import takes_head_adapters
from whetstone_worker.sampling.vllm_client import MODEL, VllmGoneError


class Answering:
    """Replaces VllmClient. `moved`: by how much the adapter changes a log-probability."""

    def __init__(self, moved: float = 0.0, refusal: WorkerError | None = None) -> None:
        self._moved = moved
        self._refusal = refusal
        self.loaded: list[str] = []
        self.shapes: dict[str, tuple[int, ...]] = {}

    async def load_adapter(self, name: str, directory: Path) -> None:
        if self._refusal:
            raise self._refusal
        assert json.loads((directory / "adapter_config.json").read_text())["target_modules"] == ["lm_head"]
        self.shapes.update(read_shapes(directory / "adapter_model.safetensors"))
        self.loaded.append(name)

    async def unload_adapter(self, name: str) -> None:
        self.loaded.remove(name)

    async def complete(self, body: Mapping[str, object]) -> Any:
        logprob = -2.0 if body["model"] == MODEL else -2.0 + self._moved
        return {"choices": [{"prompt_logprobs": [None, {}, {}, {"3": {"logprob": logprob}}]}]}


def tried(client: Answering) -> bool:
    found = asyncio.run(takes_head_adapters(client, MODEL, vocab_size=11, hidden_size=6))  # type: ignore[arg-type]
    assert client.loaded == []
    return found


def test_an_adapter_that_changes_logprobs_is_supported() -> None:
    client = Answering(moved=0.4)
    assert tried(client)
    path = "base_model.model.lm_head.lora_"
    assert client.shapes == {f"{path}A.weight": (1, 6), f"{path}B.weight": (11, 1)}


def test_an_adapter_that_is_loaded_without_effect_is_not_supported() -> None:
    assert not tried(Answering(moved=1e-6))


def test_a_refused_adapter_is_not_supported_and_a_vllm_that_is_gone_raises() -> None:
    assert not tried(Answering(refusal=WorkerError("bad_model_files", "expected target modules in {'q_proj'}")))
    with pytest.raises(VllmGoneError):
        tried(Answering(refusal=VllmGoneError()))


def test_the_head_of_a_tied_model_has_the_shape_of_its_embedding_and_is_refused_if_unsupported(
    tmp_path: Path,
) -> None:
    write_head_adapter(tmp_path, vocab=11)
    tied = {"model.embed_tokens.weight": (11, 6)}
    AdapterShapes(tied, rank_max=4).check(tmp_path)
    AdapterShapes({**tied, "lm_head.weight": (11, 6)}, rank_max=4).check(tmp_path)
    with pytest.raises(WorkerError, match=r"lora_B.weight is \[11, 1\], the base model needs \[12, 1\]"):
        AdapterShapes({"model.embed_tokens.weight": (12, 6)}, rank_max=4).check(tmp_path)
    with pytest.raises(WorkerError, match="adapts the output head") as refusal:
        AdapterShapes(tied, rank_max=4, takes_head=False).check(tmp_path)
    assert refusal.value.code == "bad_model_files"


def write_head_adapter(directory: Path, vocab: int) -> None:
    (directory / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "r": 1, "target_modules": ["lm_head"]}))
    shapes = {"lora_A": [1, 6], "lora_B": [vocab, 1], "base_layer": [vocab, 6]}
    names = {f"base_model.model.lm_head.{part}.weight": {"shape": shape} for part, shape in shapes.items()}
    head = json.dumps(names).encode()
    (directory / "adapter_model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head)
