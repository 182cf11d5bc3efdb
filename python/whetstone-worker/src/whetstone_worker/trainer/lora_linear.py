"""A frozen linear layer to which an adapter can be attached and detached. Adapters remain float32 and are multiplied in the
dtype of the activations, as in mixed-precision training.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from whetstone_worker.trainer.lora import ALL_LINEAR, Adapter, LinearLayer, a_name, b_name


class LoraLinear(nn.Module):
    def __init__(self, base: nn.Linear) -> None:
        super().__init__()
        self.base = base
        # Not registered as parameters: the adapter belongs to the session, and a sharded base model must not include it.
        self._adapter: tuple[Tensor, Tensor, float] | None = None

    def put_on(self, a: Tensor, b: Tensor, scale: float) -> None:
        self._adapter = (a, b, scale)

    def take_off(self) -> None:
        self._adapter = None

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.base(x)
        if self._adapter is None:
            return y
        a, b, scale = self._adapter
        down = torch.nn.functional.linear(x, a.to(x.dtype))  # [..., rank]
        return y + scale * torch.nn.functional.linear(down, b.to(x.dtype))


def wrap_linears(model: nn.Module) -> dict[str, LoraLinear]:
    """Wraps every linear layer of the decoder; returns them by path, in execution order. token_head.py handles the head."""
    found = [(path, module) for path, module in model.named_modules() if path.rpartition(".")[2] in ALL_LINEAR]
    wrapped: dict[str, LoraLinear] = {}
    for path, module in found:
        if isinstance(module, nn.Linear):
            parent, name = path.rsplit(".", 1)
            wrapped[path] = LoraLinear(module)
            setattr(model.get_submodule(parent), name, wrapped[path])
    return wrapped


def linear_layers(wrapped: Mapping[str, LoraLinear]) -> list[LinearLayer]:
    return [LinearLayer(path, module.base.in_features, module.base.out_features) for path, module in wrapped.items()]


def put_on(wrapped: Mapping[str, LoraLinear], adapter: Adapter) -> None:
    for path, module in wrapped.items():
        if a_name(path) in adapter.tensors:
            module.put_on(adapter.tensors[a_name(path)], adapter.tensors[b_name(path)], adapter.shape.scale)


def take_off(modules: Sequence[LoraLinear]) -> None:
    for module in modules:
        module.take_off()
