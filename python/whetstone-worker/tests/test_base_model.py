"""Which models can be trained, and which are refused because training would differ from what is served."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from repository import FIXTURES
from whetstone_worker.errors import WorkerError
from whetstone_worker.trainer.engine import open_training_engine


def changed_model(directory: Path, change: dict[str, Any]) -> Path:
    model = directory / "model"
    shutil.copytree(FIXTURES / "qwen2" / "model", model)
    path = model / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    return model


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model_type": "gemma2"}, 'model_type "gemma2" is not supported; supported are llama, qwen2, qwen3'),
        ({"quantization_config": {"quant_method": "fp8"}}, "quantised"),
        ({"use_sliding_window": True}, "sliding_window is not supported"),
        ({"layer_types": ["full_attention", "sliding_attention"]}, "sliding_attention is not supported"),
        ({"rope_parameters": {"rope_type": "dynamic", "factor": 2.0}}, 'rope scaling "dynamic" is not supported'),
        ({"hidden_size": "many"}, 'hidden_size must be a positive number, got "many"'),
    ],
)
def test_models_whose_training_would_differ_from_serving_are_refused_by_name(
    change: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises(WorkerError, match=words) as refusal:
        open_training_engine(changed_model(tmp_path, change))
    assert refusal.value.code == "bad_model_files"


def test_missing_weights_are_named_and_not_initialised_at_random(tmp_path: Path) -> None:
    model = changed_model(tmp_path, {})
    weights = model / "model.safetensors"
    missing = "model.layers.1.mlp.up_proj.weight"
    save_file({name: t for name, t in load_file(weights).items() if name != missing}, weights, {"format": "pt"})
    with pytest.raises(WorkerError, match=missing):
        open_training_engine(model)


def test_damaged_or_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(WorkerError, match=r"config\.json cannot be read"):
        open_training_engine(tmp_path)
    model = changed_model(tmp_path, {})
    (model / "model.safetensors").write_bytes(b"x" * 20)
    with pytest.raises(WorkerError, match="cannot be loaded"):
        open_training_engine(model)
    (model / "config.json").write_text("[]")
    with pytest.raises(WorkerError, match="is not a JSON object"):
        open_training_engine(model)
