"""The options of a sampling worker, in addition to those of every worker."""

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

# vLLM supports only these ranks, and refuses others only after minutes.
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
        """`dtype`: the resolved value of `self.dtype`. `device`: on GPUs vLLM uses those that are visible to it."""
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
    """Returns the arguments, whose defaults are those of SamplerOptions."""
    group = parser.add_argument_group("sampling (--roles sample)")

    def add(flag: str, words: str, default: object, **more: Any) -> argparse.Action:
        return group.add_argument(flag, help=f"{words}; default: {default}", **more)

    own = SamplerOptions
    return [
        add("--dtype", "dtype of the weights", "the checkpoint's", choices=DTYPES),
        add("--sequences-max", "choices computed at once", own.sequences_max, metavar="N", type=count),
        add("--adapters-max", "adapters kept in memory", own.adapters_max, metavar="N", type=count),
        add("--adapters-in-batch-max", "adapters computed with at once", own.adapters_in_batch_max, metavar="N", type=count),
        add("--adapter-rank-max", "highest rank of an adapter", own.adapter_rank_max, type=int, choices=ADAPTER_RANKS),
        add("--ready-seconds", "time for vLLM to start", own.ready_seconds, metavar="SECONDS", type=count),
        group.add_argument(
            "--vllm",
            metavar="COMMAND",
            type=shlex.split,
            help="use another vLLM than this Python's, such as '/opt/vllm/bin/vllm serve'",
        ),
        group.add_argument(
            "vllm_arguments",
            metavar="ARGUMENT",
            nargs="*",
            help="after `--`, for vLLM: -- --tensor-parallel-size 2; default with both roles: -- --gpu-memory-utilization 0.4",
        ),
    ]


def read_sampler_options(given: argparse.Namespace) -> SamplerOptions:
    names = ("dtype", "sequences_max", "adapters_max", "adapters_in_batch_max", "adapter_rank_max", "ready_seconds")
    said: dict[str, Any] = {name: getattr(given, name) for name in names if getattr(given, name) is not None}
    if given.vllm:
        said["vllm_command"] = tuple(given.vllm)
    options = SamplerOptions(**said, vllm_arguments=tuple(given.vllm_arguments))
    return replace(options, adapters_max=max(options.adapters_max, options.adapters_in_batch_max))
