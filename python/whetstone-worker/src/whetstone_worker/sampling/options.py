"""What an operator may ask of a worker that samples, beside what every worker is asked."""

import argparse
import re
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from whetstone_worker.sampling.base_model import DTYPES
from whetstone_worker.sampling.vllm_process import VllmOptions

# Of vLLM's own: others are refused by it, after minutes.
ADAPTER_RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)


@dataclass(frozen=True)
class SamplerOptions:
    dtype: str
    sequences_max: int
    adapters_max: int
    adapters_in_batch_max: int
    adapter_rank_max: int
    ready_seconds: float
    vllm_command: tuple[str, ...]
    vllm_arguments: tuple[str, ...]

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


def add_sampler_arguments(parser: argparse.ArgumentParser, count: Callable[[str], int]) -> None:
    group = parser.add_argument_group("sampling (--roles sample)")
    group.add_argument("--dtype", choices=DTYPES, default="auto", help="of the weights; default: the checkpoint's")
    group.add_argument(
        "--sequences-max", metavar="N", type=count, default=128, help="choices computed at once; default: %(default)s"
    )
    group.add_argument("--adapters-max", metavar="N", type=count, default=32, help="kept in memory; default: %(default)s")
    group.add_argument(
        "--adapters-in-batch-max", metavar="N", type=count, default=4, help="computed with at once; default: %(default)s"
    )
    group.add_argument(
        "--adapter-rank-max", type=int, choices=ADAPTER_RANKS, default=64, help="room for each; default: %(default)s"
    )
    group.add_argument(
        "--ready-seconds", metavar="SECONDS", type=count, default=1800, help="for vLLM to start; default: %(default)s"
    )
    group.add_argument(
        "--vllm",
        metavar="COMMAND",
        type=shlex.split,
        help="another vLLM than this Python's, such as '/opt/vllm/bin/vllm serve'",
    )
    group.add_argument(
        "vllm_arguments", metavar="ARGUMENT", nargs="*", help="behind `--`, for vLLM: -- --tensor-parallel-size 2"
    )


def read_sampler_options(given: argparse.Namespace) -> SamplerOptions:
    return SamplerOptions(
        dtype=given.dtype,
        sequences_max=given.sequences_max,
        adapters_max=max(given.adapters_max, given.adapters_in_batch_max),
        adapters_in_batch_max=given.adapters_in_batch_max,
        adapter_rank_max=given.adapter_rank_max,
        ready_seconds=given.ready_seconds,
        vllm_command=tuple(given.vllm or (sys.executable, "-m", "vllm.entrypoints.cli.main", "serve")),
        vllm_arguments=tuple(given.vllm_arguments),
    )
