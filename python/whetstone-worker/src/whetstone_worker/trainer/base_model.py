"""The frozen base model: a directory in Hugging Face's layout, loaded with Transformers, ready for adapters on its linear
layers.

Refused by name is a model whose training would differ from what is served: families with a special head or attention, sliding
windows, positions that depend on the row's length, quantised weights, missing weights. On CUDA it runs in bfloat16 with
FlexAttention, elsewhere in float32 with scaled dot products.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import fully_shard

from whetstone_worker.errors import WorkerError
from whetstone_worker.trainer.attention_mask import BLOCK, block_mask, compile_every_length, dense_mask
from whetstone_worker.trainer.lora import HEAD, LinearLayer
from whetstone_worker.trainer.lora_linear import LoraLinear, linear_layers, wrap_linears
from whetstone_worker.trainer.memory import ModelSizes
from whetstone_worker.trainer.row import TrainingRow

FAMILIES = ("llama", "qwen2", "qwen3")
"""Families with logits = states · headᵀ, causal attention over the whole row, and linear layers with the names of LoRA."""
ROPE_TYPES = ("default", "linear", "llama3", "yarn")
"""RoPE types whose angles depend on the position alone, because a packed row is longer than its sequences."""


@dataclass(frozen=True)
class Arithmetic:
    """The dtype of the frozen weights, and the implementation of attention."""

    dtype: torch.dtype
    flex: bool
    """FlexAttention with a block mask, instead of scaled dot products with a dense one."""


def arithmetic_of(device: torch.device) -> Arithmetic:
    cuda = device.type == "cuda"
    return Arithmetic(torch.bfloat16 if cuda else torch.float32, flex=cuda)


@dataclass(frozen=True)
class BaseModel:
    decoder: nn.Module
    """Maps tokens to states `[1, row, hidden]`, after the last norm."""
    head: Tensor
    """`[vocab, hidden]`; may be the embedding as well."""
    linears: dict[str, LoraLinear]
    sizes: ModelSizes
    device: torch.device
    arithmetic: Arithmetic
    name: str
    """For adapter_config.json."""

    @property
    def layers(self) -> list[LinearLayer]:
        """Returns the layers that can carry an adapter, in execution order."""
        vocab, hidden = self.head.shape
        return [*linear_layers(self.linears), LinearLayer(HEAD, hidden, vocab)]

    def states(self, row: TrainingRow) -> Tensor:
        """Returns `[row, hidden]`, differentiable with respect to the attached adapter."""
        count = len(row.tokens)
        flex = self.arithmetic.flex
        # Padded to whole blocks, so that kernels are compiled for few lengths.
        size = -(-count // BLOCK) * BLOCK if flex else count
        mask = block_mask(row, self.device, size) if flex else dense_mask(row, self.device)
        states: Tensor = self.decoder(
            input_ids=_padded(row.tokens, size, self.device),
            position_ids=_padded(row.positions, size, self.device),
            attention_mask=mask,
            use_cache=False,
        ).last_hidden_state
        return states[0, :count]


def _padded(values: Any, size: int, device: torch.device) -> Tensor:
    tensor = torch.from_numpy(values).long()
    return torch.nn.functional.pad(tensor, (0, size - len(tensor)))[None].to(device)


def open_base_model(
    directory: Path, device: torch.device, arithmetic: Arithmetic, name: str | None = None, mesh: DeviceMesh | None = None
) -> BaseModel:
    """`mesh`: the ranks that share the layers; each of them opens the model. Raises WorkerError bad_model_files."""
    config = _read_config(directory)
    sizes = _check_config(config, directory / "config.json")
    if arithmetic.flex:
        compile_every_length()
    model = _load(directory, arithmetic)
    model.requires_grad_(False)
    linears = wrap_linears(model)
    if getattr(model.lm_head, "bias", None) is not None:
        raise WorkerError("bad_model_files", f"{directory}: the output head has a bias, which is not supported.")
    # Gradient checkpointing: Transformers does it in training mode only. Nothing else differs in that mode, because _load
    # disables dropout.
    model.train()
    # The older name exists also in the Transformers that vLLM 0.32 requires (below 5.20): both roles may share an environment.
    recompute = getattr(model, "activation_checkpointing_enable", None) or model.gradient_checkpointing_enable
    recompute({"use_reentrant": False, "preserve_rng_state": False})
    if mesh is not None:
        shard_decoder(model.model, model.model.layers, mesh)
    model.to(device)
    return BaseModel(
        decoder=model.model,
        head=model.lm_head.weight,
        linears=linears,
        sizes=sizes,
        device=device,
        arithmetic=arithmetic,
        name=name or directory.resolve().name,
    )


def shard_decoder(decoder: nn.Module, layers: Sequence[nn.Module], mesh: DeviceMesh) -> None:
    """Applies FSDP2: each layer is moved to the device and split there, so that no rank ever holds all layers. What is
    outside the layers (the embedding, which may be the head, and a norm) is not split."""
    for layer in layers:
        fully_shard(layer, mesh=mesh)
    inside = {parameter for layer in layers for parameter in layer.parameters()}
    fully_shard(decoder, mesh=mesh, ignored_params={p for p in decoder.parameters() if p not in inside})


def _read_config(directory: Path) -> Mapping[str, Any]:
    path = directory / "config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as cause:
        words = f"{path} cannot be read as JSON. A model directory needs Hugging Face's config.json."
        raise WorkerError("bad_model_files", words) from cause
    if not isinstance(config, dict):
        raise WorkerError("bad_model_files", f"{path} is not a JSON object.")
    return config


def _check_config(config: Mapping[str, Any], path: Path) -> ModelSizes:
    def refuse(problem: str) -> WorkerError:
        return WorkerError("bad_model_files", f"{path}: {problem}")

    family = config.get("model_type")
    if family not in FAMILIES:
        raise refuse(f"model_type {json.dumps(family)} is not supported; supported are {', '.join(FAMILIES)}.")
    for key in ("quantization_config", "compression_config", "quantization"):
        if config.get(key):
            raise refuse(f"the checkpoint is quantised ({key}), which is not supported. Use the unquantised one.")
    windows = [kind for kind in config.get("layer_types") or [] if kind != "full_attention"]
    if windows or config.get("use_sliding_window"):
        raise refuse(f"{windows[0] if windows else 'sliding_window'} is not supported: only full attention is.")
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    kind = rope.get("rope_type") or rope.get("type") or "default"
    if kind not in ROPE_TYPES:
        raise refuse(f"rope scaling {json.dumps(kind)} is not supported; supported are {', '.join(ROPE_TYPES)}.")

    def positive(key: str, fallback: float | None = None) -> int:
        value = config.get(key) or fallback
        if not isinstance(value, (int, float)) or not value > 0:
            raise refuse(f"{key} must be a positive number, got {json.dumps(config.get(key))}.")
        return int(value)

    hidden, heads = positive("hidden_size"), positive("num_attention_heads")
    return ModelSizes(
        layers=positive("num_hidden_layers"),
        hidden=hidden,
        heads=heads,
        kv_heads=positive("num_key_value_heads", heads),
        head_dim=positive("head_dim", hidden / heads),
        intermediate=positive("intermediate_size"),
        vocab=positive("vocab_size"),
        max_positions=positive("max_position_embeddings"),
    )


def _load(directory: Path, arithmetic: Arithmetic) -> Any:
    transformers.logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    transformers.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        loaded: Any = transformers.AutoModelForCausalLM.from_pretrained(
            directory,
            dtype=arithmetic.dtype,
            attn_implementation="flex_attention" if arithmetic.flex else "sdpa",
            attention_dropout=0.0,
            local_files_only=True,
            use_safetensors=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
    except Exception as cause:  # any exception that Transformers or safetensors raises for a damaged file
        raise WorkerError("bad_model_files", f"{directory} cannot be loaded: {cause}") from cause
    model, report = loaded
    # Transformers initialises randomly what a checkpoint lacks.
    for fault in ("missing_keys", "mismatched_keys"):
        if report[fault]:
            raise WorkerError("bad_model_files", f"{directory}: {fault.replace('_', ' ')}: {sorted(report[fault])[:3]}.")
    return model
