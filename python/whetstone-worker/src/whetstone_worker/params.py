"""Parses the parameters of a trainer's procedures. A missing or invalid parameter is refused with its name."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whetstone_worker.errors import WorkerError
from whetstone_worker.files import WireFile, read_wire_files
from whetstone_worker.trainer.adamw import OptimizerParams
from whetstone_worker.trainer.engine import LoraConfig, OpenSessionOptions
from whetstone_worker.trainer.lora import ATTENTION, HEAD, MLP, TARGETS
from whetstone_worker.trainer.row import TrainingRow, parse_row


def read_files(params: Any, name: str) -> list[WireFile] | None:
    files = _get(params, name)
    return None if files is None else read_wire_files(files, name)


def read_open_options(params: Any, start: Path | None) -> OpenSessionOptions:
    lora = _get(params, "lora")
    head_tokens = _get(params, "headTokensMax")
    return OpenSessionOptions(
        start=start,
        lora=LoraConfig(
            rank=_whole(lora, "rank"),
            alpha=_number(lora, "alpha"),
            seed=_whole(lora, "seed"),
            targets=_read_targets(lora),
            rank_stabilized=bool(lora.get("rankStabilized", False)),
        ),
        reset_optimizer=bool(_get(params, "resetOptimizer")),
        head_tokens_max=None if head_tokens is None else _whole(params, "headTokensMax"),
    )


def read_rows(params: Any) -> list[TrainingRow]:
    """Reads `rows`, or the single `row`, of a call."""
    rows = params["rows"] if "rows" in params else [_get(params, "row")]
    if not isinstance(rows, list) or not rows:
        raise _refuse("rows", "is not a list of rows")
    return [parse_row(row) for row in rows]


def read_optimizer_params(params: Any) -> OptimizerParams:
    update = _get(params, "params")
    return OptimizerParams(
        learning_rate=_number(update, "learningRate"),
        beta1=_number(update, "beta1"),
        beta2=_number(update, "beta2"),
        epsilon=_number(update, "epsilon"),
        weight_decay=_number(update, "weightDecay"),
        max_grad_norm=_number(update, "maxGradNorm"),
    )


def _read_targets(lora: Any) -> tuple[str, ...]:
    """Reads the target modules in the format of LoraConfig (src/domain/lora-config.ts)."""
    named = lora.get("targets")
    if named is None:
        parts = ((ATTENTION, lora.get("attention", True)), (MLP, lora.get("mlp", True)), ((HEAD,), lora.get("unembed", False)))
        chosen = tuple(target for targets, is_trained in parts if is_trained for target in targets)
        if not chosen:
            raise _refuse("lora", "selects no linear layer")
        return chosen
    for name in named:
        if name not in TARGETS:
            raise _refuse("targets", f"has {name!r:.40}, which is not one of {', '.join(TARGETS)}")
    return tuple(target for target in TARGETS if target in named)


def _get(value: Any, name: str) -> Any:
    if not isinstance(value, Mapping) or name not in value:
        raise _refuse(name, "is missing")
    return value[name]


def _number(value: Any, name: str) -> float:
    found = _get(value, name)
    if not isinstance(found, (int, float)) or isinstance(found, bool):
        raise _refuse(name, f"is not a number: {found!r:.40}")
    return float(found)


def _whole(value: Any, name: str) -> int:
    found = _number(value, name)
    if not found.is_integer():
        raise _refuse(name, f"is not a whole number: {found}")
    return int(found)


def _text(value: Any, name: str) -> str:
    found = _get(value, name)
    if not isinstance(found, str):
        raise _refuse(name, f"is not a string: {found!r:.40}")
    return found


def _refuse(name: str, fault: str) -> WorkerError:
    return WorkerError("invalid_request", f"A call from the server cannot be read: {name} {fault}.")
