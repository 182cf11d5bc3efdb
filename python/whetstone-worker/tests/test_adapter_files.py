"""PEFT directories and optimizer files: reads those of PEFT and of the embedded engine, and writes the same bytes as they."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from repository import FIXTURES
from whetstone_worker.errors import WorkerError
from whetstone_worker.trainer.adamw import create_adamw_state
from whetstone_worker.trainer.adapter_files import find_optimizer, read_adapter, write_adapter, write_optimizer
from whetstone_worker.trainer.lora import ALL_LINEAR, LinearLayer, create_adapter

MODULES = [*(f"self_attn.{x}_proj" for x in "qkvo"), *(f"mlp.{x}_proj" for x in ("gate", "up", "down"))]
LAYERS = [LinearLayer(f"model.layers.{layer}.{module}", 8, 12) for layer in range(2) for module in MODULES]
LAYERS.append(LinearLayer("lm_head", 8, 12))


def write(directory: Path) -> None:
    write_adapter(directory, create_adapter(LAYERS, rank=4, alpha=8, seed=1), "tiny")


def change_config(directory: Path, change: dict[str, Any]) -> None:
    path = directory / "adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))


def test_an_adapter_is_read_back_unchanged_and_written_with_the_same_bytes(tmp_path: Path) -> None:
    write(tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert sorted(before) == ["adapter_config.json", "adapter_model.safetensors"]
    write_adapter(tmp_path, read_adapter(tmp_path, LAYERS), "tiny")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_a_fresh_adapter_has_zero_b_and_uniform_a_from_its_seed() -> None:
    adapter, same, other = (create_adapter(LAYERS, rank=4, alpha=8, seed=seed) for seed in (2**53 - 1, 2**53 - 1, 5))
    for name, tensor in adapter.tensors.items():
        assert torch.equal(tensor, same.tensors[name])
        if "lora_B" in name:
            assert not tensor.any()
        else:
            assert 0.2 < float(tensor.abs().max()) < 8**-0.5
            assert not torch.equal(tensor, other.tensors[name])


@pytest.mark.parametrize("family", ["llama", "qwen2", "qwen3"])
def test_adapters_saved_by_peft_are_read(family: str) -> None:
    saved = load_file(FIXTURES / family / "adapter" / "adapter_model.safetensors")
    paths = {name.removeprefix("base_model.model.").rsplit(".", 2)[0] for name in saved}
    a, b = (f"base_model.model.{{}}.lora_{x}.weight" for x in "AB")
    layers = [LinearLayer(path, saved[a.format(path)].shape[1], saved[b.format(path)].shape[0]) for path in sorted(paths)]
    adapter = read_adapter(FIXTURES / family / "adapter", layers)
    assert adapter.shape.scale > 0
    assert sorted(adapter.tensors) == sorted(saved)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"peft_type": "LOHA"}, "peft_type LOHA"),
        ({"use_dora": True}, "use_dora"),
        ({"bias": "all"}, "bias all"),
        ({"lora_bias": True}, "lora_bias"),
        ({"init_lora_weights": "pissa_niter_4"}, "init_lora_weights pissa_niter_4"),
        ({"layers_to_transform": [0]}, "layers_to_transform"),
        ({"modules_to_save": ["lm_head"]}, "modules_to_save"),
        ({"rank_pattern": {"q_proj": 8}}, "rank_pattern"),
        ({"target_modules": ".*_proj"}, "is a pattern"),
        ({"target_modules": ["q_proj", "embed_tokens"]}, "target module embed_tokens"),
        ({"target_modules": [*ALL_LINEAR, "lm_head"]}, r"lm_head.lora_A.weight \[4, 8\] is missing"),
        ({"target_modules": []}, "target_modules is empty"),
        ({"r": 0}, "r must be a positive integer"),
        ({"lora_alpha": "8"}, "lora_alpha must be a positive number"),
        ({"r": 2}, r"q_proj.lora_A.weight is \[4, 8\], the base model needs \[2, 8\]"),
        ({"target_modules": ["q_proj"]}, r"has no place in the base model"),
    ],
)
def test_anything_but_plain_lora_on_this_model_is_refused_by_name(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    write(tmp_path)
    change_config(tmp_path, change)
    with pytest.raises(WorkerError, match=words) as refusal:
        read_adapter(tmp_path, LAYERS)
    assert refusal.value.code == "bad_model_files"


def test_the_copy_of_the_head_that_peft_stores_with_its_adapter_is_ignored(tmp_path: Path) -> None:
    write_adapter(tmp_path, adapter := create_adapter(LAYERS, 4, 8, 1, (*ALL_LINEAR, "lm_head")), "tiny")
    path, copy = tmp_path / "adapter_model.safetensors", "base_model.model.lm_head.base_layer.weight"
    tensors = load_file(path)
    save_file({**tensors, copy: torch.zeros(12, 8)}, path)
    assert sorted(read_adapter(tmp_path, LAYERS).tensors) == sorted(adapter.tensors)
    save_file({**tensors, copy: torch.zeros(13, 8)}, path)  # of a model with more tokens
    with pytest.raises(WorkerError, match=r"base_layer.weight is \[13, 8\], the base model needs \[12, 8\]"):
        read_adapter(tmp_path, LAYERS)


def test_damaged_or_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(WorkerError, match=r"adapter_config\.json cannot be read"):
        read_adapter(tmp_path, LAYERS)
    write(tmp_path)
    weights = tmp_path / "adapter_model.safetensors"
    tensors = load_file(weights)
    save_file({name: t for name, t in tensors.items() if "layers.1.mlp.up_proj.lora_B" not in name}, weights)
    with pytest.raises(WorkerError, match=r"up_proj.lora_B.weight \[12, 4\] is missing"):
        read_adapter(tmp_path, LAYERS)
    weights.write_bytes(b"x" * 20)
    with pytest.raises(WorkerError, match="cannot be read as safetensors"):
        read_adapter(tmp_path, LAYERS)
    (tmp_path / "adapter_config.json").write_text("{")
    with pytest.raises(WorkerError, match="not valid JSON"):
        read_adapter(tmp_path, LAYERS)


def test_optimizer_state_is_read_back_and_may_be_absent(tmp_path: Path) -> None:
    adapter = create_adapter(LAYERS, rank=4, alpha=8, seed=1)
    assert find_optimizer(tmp_path, LAYERS, adapter.shape) is None
    state = create_adamw_state(adapter.tensors)
    state.step = 7
    for moment in [*state.mean.values(), *state.square.values()]:
        moment.uniform_()
    write_optimizer(tmp_path, state)
    found = find_optimizer(tmp_path, LAYERS, adapter.shape)
    assert found is not None
    assert found.step == 7
    for name in adapter.tensors:
        assert torch.equal(found.mean[name], state.mean[name])
        assert torch.equal(found.square[name], state.square[name])


def test_a_directory_that_cannot_be_written_is_a_storage_error(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    shutil.rmtree(gone)
    with pytest.raises(WorkerError) as fault:
        write(gone)
    assert fault.value.code == "storage_unavailable"
