"""The files that a training session reads and writes: an adapter as a PEFT directory, and next to it optimizer.safetensors, the
moments of AdamW and the step count, and gradients.safetensors, the gradients not yet applied. Same names and bytes as the
embedded engine's, so that either resumes from the other.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from whetstone_worker.errors import WorkerError
from whetstone_worker.trainer.adamw import AdamwState
from whetstone_worker.trainer.lora import Adapter, LinearLayer, LoraShape, Parameter, head_copy, parameters
from whetstone_worker.trainer.peft_config import format_peft_config, parse_peft_config
from whetstone_worker.trainer.tensor_files import read_tensors, write_tensors, write_text

CONFIG_FILE = "adapter_config.json"
WEIGHTS_FILE = "adapter_model.safetensors"
OPTIMIZER_FILE = "optimizer.safetensors"
GRADIENTS_FILE = "gradients.safetensors"
STEP = "step"
"""`[1]`: float32 represents every step count below 2²⁴ exactly, more than any run has."""


def read_adapter(directory: Path, layers: Sequence[LinearLayer]) -> Adapter:
    """`layers`: those of the base model, which the adapter must fit. Raises WorkerError bad_model_files."""
    path = directory / CONFIG_FILE
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as cause:
        raise WorkerError("bad_model_files", f"No adapter at {directory}: {CONFIG_FILE} cannot be read.") from cause
    shape = parse_peft_config(text, str(path))
    expected = {p.name: p.shape for p in parameters(layers, shape)}
    return Adapter(shape, read_tensors(directory / WEIGHTS_FILE, expected, head_copy(layers, shape)))


def write_adapter(directory: Path, adapter: Adapter, base_model: str) -> None:
    """Writes into an existing directory, with fsync. The config is written last: a directory that has it is complete."""
    write_tensors(directory / WEIGHTS_FILE, adapter.tensors)
    write_text(directory / CONFIG_FILE, format_peft_config(adapter.shape, base_model))


def find_optimizer(directory: Path, layers: Sequence[LinearLayer], shape: LoraShape) -> AdamwState | None:
    """Returns None if the directory has no optimizer state. Raises WorkerError bad_model_files if it cannot be used."""
    path = directory / OPTIMIZER_FILE
    if not path.exists():
        return None
    trained = parameters(layers, shape)
    tensors = read_tensors(path, _stored(trained))
    step = float(tensors[STEP][0])
    if not step.is_integer() or step < 0:
        raise WorkerError("bad_model_files", f"{path}: step {step} is not a whole number.")
    return AdamwState(
        step=int(step),
        mean={p.name: tensors[_mean(p.name)] for p in trained},
        square={p.name: tensors[_square(p.name)] for p in trained},
    )


def write_optimizer(directory: Path, state: AdamwState) -> None:
    tensors = {STEP: torch.tensor([float(state.step)])}
    tensors |= {_mean(name): moment for name, moment in state.mean.items()}
    tensors |= {_square(name): moment for name, moment in state.square.items()}
    write_tensors(directory / OPTIMIZER_FILE, tensors)


def find_gradients(directory: Path, layers: Sequence[LinearLayer], shape: LoraShape) -> dict[str, Tensor] | None:
    """Returns None if the directory has none. Raises WorkerError bad_model_files if they cannot be used."""
    path = directory / GRADIENTS_FILE
    return read_tensors(path, {p.name: p.shape for p in parameters(layers, shape)}) if path.exists() else None


def write_gradients(directory: Path, gradients: Mapping[str, Tensor]) -> None:
    write_tensors(directory / GRADIENTS_FILE, gradients)


def _stored(trained: Sequence[Parameter]) -> dict[str, tuple[int, ...]]:
    moments = {name(p.name): p.shape for p in trained for name in (_mean, _square)}
    return {STEP: (1,), **moments}


def _mean(name: str) -> str:
    return f"{name}.exp_avg"


def _square(name: str) -> str:
    return f"{name}.exp_avg_sq"
