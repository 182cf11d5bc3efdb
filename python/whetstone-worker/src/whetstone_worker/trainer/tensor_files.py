"""Named float32 tensors in a safetensors file: exactly the expected ones, or an error that names the tensor and both shapes.
Files are written to a temporary name, fsynced, then renamed, so that a name never refers to half a file.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from whetstone_worker.errors import WorkerError

Shapes = Mapping[str, Sequence[int]]


def read_tensors(path: Path, expected: Shapes, passed_over: Shapes = MappingProxyType({})) -> dict[str, Tensor]:
    """`passed_over`: tensors that may exist and are not read. Raises WorkerError bad_model_files."""
    try:
        with safe_open(path, framework="pt") as file:
            found = {name: file.get_slice(name).get_shape() for name in file.keys()}  # noqa: SIM118
            _check_shapes(path, found, {**expected, **{name: passed_over[name] for name in passed_over if name in found}})
            return {name: _float32(path, name, file.get_tensor(name)) for name in expected}
    except (SafetensorError, OSError) as cause:
        raise WorkerError("bad_model_files", f"{path} cannot be read as safetensors: {cause}.") from cause


def _check_shapes(path: Path, found: Shapes, expected: Shapes) -> None:
    def misfit(fault: str) -> WorkerError:
        return WorkerError("bad_model_files", f"{path} does not fit the base model: {fault}.")

    for name in sorted(found):
        if name not in expected:
            raise misfit(f"tensor {name} {list(found[name])} has no place in the base model")
    for name, shape in expected.items():
        if name not in found:
            raise misfit(f"tensor {name} {list(shape)} is missing")
        if list(found[name]) != list(shape):
            raise misfit(f"tensor {name} is {list(found[name])}, the base model needs {list(shape)}")


def _float32(path: Path, name: str, tensor: Tensor) -> Tensor:
    if not tensor.is_floating_point():
        raise WorkerError("bad_model_files", f"{path}: tensor {name} is {tensor.dtype}, not floating point.")
    return tensor.to(torch.float32).contiguous()


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Equal tensors produce equal bytes. Raises WorkerError storage_unavailable."""
    held = {name: tensor.detach().to("cpu", torch.float32).contiguous() for name, tensor in tensors.items()}
    with _replacing(path) as temporary:
        save_file(held, temporary, metadata={"format": "pt"})  # Transformers refuses files without this metadata


def write_text(path: Path, text: str) -> None:
    with _replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    temporary = path.with_name(f"{path.name}.partial")
    try:
        yield temporary
        _sync(temporary)
        temporary.replace(path)
        _sync(path.parent)
    except (OSError, SafetensorError) as cause:
        temporary.unlink(missing_ok=True)
        raise WorkerError("storage_unavailable", f"{path} cannot be written: {cause}. Nothing was lost; try again.") from cause


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
