"""Reads and writes adapter_config.json as PEFT does. What this engine cannot compute exactly is refused by name: an adapter
that loads has the same meaning as in PEFT. The counterpart of the embedded engine's peft-config.ts, byte for byte.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import NoReturn

from whetstone_worker.errors import WorkerError
from whetstone_worker.trainer.lora import ALL_LINEAR, TARGETS, LoraShape

_BASE_CHANGING_INIT = re.compile(r"pissa|olora|loftq|corda")
"""These initialisations also change the base weights, so their adapters are meaningless on the unchanged ones."""

_MUST_BE_EMPTY = (
    "modules_to_save",
    "rank_pattern",
    "alpha_pattern",
    "layer_replication",
    "trainable_token_indices",
    "target_parameters",
)


def parse_peft_config(text: str, path: str) -> LoraShape:
    def bad(fault: str) -> NoReturn:
        raise WorkerError("bad_model_files", f"Cannot load the adapter: {path}: {fault}.")

    try:
        config = json.loads(text)
    except ValueError:
        bad("it is not valid JSON")
    if not isinstance(config, dict):
        bad("it is not a JSON object")
    unsupported = _find_unsupported(config)
    if unsupported is not None:
        bad(f"{unsupported} is not supported; plain LoRA on linear layers is")
    rank, alpha = config.get("r"), config.get("lora_alpha")
    if not isinstance(rank, int) or isinstance(rank, bool) or rank <= 0:
        bad(f"r must be a positive integer, got {rank!r}")
    if not isinstance(alpha, (int, float)) or isinstance(alpha, bool) or not alpha > 0:
        bad(f"lora_alpha must be a positive number, got {alpha!r}")
    return LoraShape(rank, alpha, bool(config.get("use_rslora")), _parse_targets(config.get("target_modules"), bad))


def _find_unsupported(config: Mapping[str, object]) -> str | None:
    if config.get("peft_type") != "LORA":
        return f"peft_type {config.get('peft_type')}"
    for switch in ("use_dora", "lora_bias"):
        if config.get(switch):
            return switch
    if (config.get("bias") or "none") != "none":
        return f"bias {config['bias']}"
    init = config.get("init_lora_weights")
    if isinstance(init, str) and _BASE_CHANGING_INIT.match(init):
        return f"init_lora_weights {init}"
    if config.get("layers_to_transform") is not None:
        return "layers_to_transform"
    return next((field for field in _MUST_BE_EMPTY if config.get(field)), None)


def _parse_targets(modules: object, bad: Callable[[str], NoReturn]) -> tuple[str, ...]:
    """PEFT stores `all-linear` as the paths of all layers except the head. Only the tensors show whether it is every layer."""
    if modules == "all-linear":
        return ALL_LINEAR
    if not isinstance(modules, list):
        bad(f"target_modules {modules} is a pattern; give a list of module names")
    names = [str(module).rpartition(".")[2] for module in modules]
    unknown = next((name for name in names if name not in TARGETS), None)
    if unknown is not None:
        bad(f"target module {unknown} is not one of {', '.join(TARGETS)}")
    if len(names) == 0:
        bad("target_modules is empty")
    return tuple(name for name in TARGETS if name in names)


def format_peft_config(shape: LoraShape, base_model: str) -> str:
    """Writes every field that PEFT's LoraConfig has had since 0.5, so that old and new versions load it, in PEFT's order."""
    alpha = int(shape.alpha) if float(shape.alpha).is_integer() else shape.alpha  # 8, as JavaScript writes 8.0
    config: dict[str, object] = {
        "alpha_pattern": {},
        "auto_mapping": None,
        "base_model_name_or_path": base_model,
        "bias": "none",
        "fan_in_fan_out": False,
        "inference_mode": True,
        "init_lora_weights": True,
        "layer_replication": None,
        "layers_pattern": None,
        "layers_to_transform": None,
        "loftq_config": {},
        "lora_alpha": alpha,
        "lora_dropout": 0,
        "megatron_config": None,
        "megatron_core": "megatron.core",
        "modules_to_save": None,
        "peft_type": "LORA",
        "r": shape.rank,
        "rank_pattern": {},
        "revision": None,
        "target_modules": list(shape.targets),
        "task_type": "CAUSAL_LM",
        "use_dora": False,
        "use_rslora": shape.rank_stabilized,
    }
    return json.dumps(config, indent=2, ensure_ascii=False) + "\n"
