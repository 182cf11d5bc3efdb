"""The commands that `run` with both roles starts: the same command once per role, with the flags of that role. Decides how
the two roles share the device's memory if the operator does not say.
"""

import argparse
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from whetstone_worker.run_options import ROLES, Role, flag_of, given_flags, read_part

BOTH_SHARE = 0.9
"""Share of the device's memory for both together. The rest is for CUDA contexts, fragmentation and other programs."""
SAMPLER_SHARE = 0.4
"""Less than half: without enough memory a row cannot be trained at all, while vLLM evicts cached prompts and recomputes."""
SAMPLER_FLAG = "--gpu-memory-utilization"
"""A flag of vLLM. In spite of its name it also applies to a CPU's memory."""


@dataclass(frozen=True)
class RoleCommand:
    role: Role
    command: Sequence[str]
    environment: Mapping[str, str] = field(repr=False)


def commands_of_roles(given: argparse.Namespace, parser: argparse.ArgumentParser) -> list[RoleCommand]:
    """`given`: checked options. The sampler's command comes first. Exits with an error message if the two shares do not fit."""
    environment = {**os.environ, "WHETSTONE_URL": given.server, "WHETSTONE_API_KEY": given.key}
    shares = _read_shares(given, parser)
    behind = {"sample": ["--", SAMPLER_FLAG, f"{shares['sample']:g}", *given.vllm_arguments], "train": []}
    if given.memory is None:
        given.memory_share = shares["train"]
    return [RoleCommand(role, [*_run(given, role), *behind[role]], environment) for role in ROLES]


def _run(given: argparse.Namespace, role: Role) -> list[str]:
    said = {
        "--roles": role,
        "--model": given.model,
        "--model-id": given.model_id,
        "--name": f"{given.name}-{role}",
        "--device": given.device,
        "--cache-dir": given.cache_dir,
        "--cache-size": given.cache_size,
        **{flag_of(action): getattr(given, action.dest) for action in given_flags(given, role) if action.option_strings},
    }
    flags = [f"{flag}={_text(value)}" for flag, value in said.items() if value is not None]
    return [sys.executable, "-m", "whetstone_worker", "run", *flags]


def _text(value: object) -> str:
    return shlex.join(value) if isinstance(value, list) else str(value)


def _read_shares(given: argparse.Namespace, parser: argparse.ArgumentParser) -> Mapping[Role, float]:
    sampler = _sampler_share(given, parser)
    trainer = given.memory_share
    if sampler is None:
        sampler = SAMPLER_SHARE if trainer is None else round(BOTH_SHARE - trainer, 3)
    if trainer is None:
        trainer = round(BOTH_SHARE - sampler, 3)
    if sampler <= 0:
        parser.error(f"--memory-share {trainer:g} leaves no memory to vLLM: both together may have at most {BOTH_SHARE:g}")
    if trainer <= 0 and given.memory is None:
        parser.error(
            f"-- {SAMPLER_FLAG} {sampler:g} leaves no memory to the trainer: both together may have at most {BOTH_SHARE:g}, "
            "unless --memory sets the memory for rows"
        )
    if sampler + trainer > 1 and given.memory is None:
        parser.error(f"--memory-share {trainer:g} and -- {SAMPLER_FLAG} {sampler:g} add up to more than 1")
    return {"sample": sampler, "train": trainer}


def _sampler_share(given: argparse.Namespace, parser: argparse.ArgumentParser) -> float | None:
    """Returns the share in vLLM's own arguments, None if there is none. If it is repeated, the last one applies."""
    vllm = argparse.ArgumentParser(prog=parser.prog, usage=argparse.SUPPRESS, add_help=False, allow_abbrev=False)
    vllm.add_argument(SAMPLER_FLAG, "--gpu_memory_utilization", dest="share", type=read_part)
    share: float | None = vllm.parse_known_args(given.vllm_arguments)[0].share
    return share
