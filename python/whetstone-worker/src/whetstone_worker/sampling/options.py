"""What an operator may ask of a worker that samples, beside what every worker is asked."""

import argparse
import re
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from whetstone_worker.sampling.base_model import DTYPES
from whetstone_worker.sampling.vllm_process import VllmOptions

# Of vLLM's own: others are refused by it, after minutes.
ADAPTER_RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)


@dataclass(frozen=True)
class SamplerOptions:
    dtype: str = "auto"
    sequences_max: int = 128
    adapters_max: int = 32
    adapters_in_batch_max: int = 4
    adapter_rank_max: int = 64
    ready_seconds: float = 1800
    vllm_command: tuple[str, ...] = (sys.executable, "-m", "vllm.entrypoints.cli.main", "serve")
    vllm_arguments: tuple[str, ...] = ()

    def vllm(self, model: Path, dtype: str, device: str | None) -> VllmOptions:
        """`dtype`: the one that `self.dtype` means for this model. `device`: vLLM takes the GPUs that it sees."""
        number = re.fullmatch(r"cuda:(\d+)", device or "")
        return VllmOptions(
            command=self.vllm_command,
            model=model,
            dtype=dtype,
            sequences_max=self.sequences_max,
            adapters_max=self.adapters_max,
            adapters_in_batch_max=self.adapters_in_batch_max,
            adapter_rank_max=self.adapter_rank_max,
            ready_seconds=self.ready_seconds,
            more=self.vllm_arguments,
            environment={"CUDA_VISIBLE_DEVICES": number[1]} if number else {},
        )


def add_sampler_arguments(parser: argparse.ArgumentParser, count: Callable[[str], int]) -> list[argparse.Action]:
    """Their defaults are SamplerOptions's own."""
    group = parser.add_argument_group("sampling (--roles sample)")

    def add(flag: str, words: str, default: object, **more: Any) -> argparse.Action:
        return group.add_argument(flag, help=f"{words}; default: {default}", **more)

    own = SamplerOptions
    return [
        add("--dtype", "of the weights", "the checkpoint's", choices=DTYPES),
        add("--sequences-max", "choices computed at once", own.sequences_max, metavar="N", type=count),
        add("--adapters-max", "kept in memory", own.adapters_max, metavar="N", type=count),
        add("--adapters-in-batch-max", "computed with at once", own.adapters_in_batch_max, metavar="N", type=count),
        add("--adapter-rank-max", "room for each", own.adapter_rank_max, type=int, choices=ADAPTER_RANKS),
        add("--ready-seconds", "for vLLM to start", own.ready_seconds, metavar="SECONDS", type=count),
        group.add_argument(
            "--vllm",
            metavar="COMMAND",
            type=shlex.split,
            help="another vLLM than this Python's, such as '/opt/vllm/bin/vllm serve'",
        ),
        group.add_argument(
            "vllm_arguments",
            metavar="ARGUMENT",
            nargs="*",
            help="behind `--`, for vLLM: -- --tensor-parallel-size 2; default with both roles: -- --gpu-memory-utilization 0.4",
        ),
    ]


def read_sampler_options(given: argparse.Namespace) -> SamplerOptions:
    names = ("dtype", "sequences_max", "adapters_max", "adapters_in_batch_max", "adapter_rank_max", "ready_seconds")
    said: dict[str, Any] = {name: getattr(given, name) for name in names if getattr(given, name) is not None}
    if given.vllm:
        said["vllm_command"] = tuple(given.vllm)
    options = SamplerOptions(**said, vllm_arguments=tuple(given.vllm_arguments))
    return replace(options, adapters_max=max(options.adapters_max, options.adapters_in_batch_max))
