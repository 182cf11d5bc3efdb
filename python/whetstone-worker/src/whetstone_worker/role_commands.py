"""What `run` with both roles starts: for each role the same command with that role alone, and with the flags that belong to it.
Decides how the two share their device's memory if the operator does not say.
"""

import argparse
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from whetstone_worker.run_options import ROLES, Role, flag_of, given_flags, read_part

BOTH_SHARE = 0.9
"""Of the device's memory, for both together. The rest is for CUDA contexts, fragmentation and the machine's other programs."""
SAMPLER_SHARE = 0.4
"""Less than half: without room a row cannot be trained at all, while vLLM evicts cached prompts and computes them again."""
SAMPLER_FLAG = "--gpu-memory-utilization"
"""Of vLLM. In spite of its name it also applies to a processor's memory."""


@dataclass(frozen=True)
class RoleCommand:
    role: Role
    command: Sequence[str]
    environment: Mapping[str, str] = field(repr=False)


def commands_of_roles(given: argparse.Namespace, parser: argparse.ArgumentParser) -> list[RoleCommand]:
    """`given`: checked. The sampler's comes first. Ends the program if the two shares do not fit."""
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
        parser.error(f"--memory-share {trainer:g} leaves no memory to vLLM: at most {BOTH_SHARE:g} is for both")
    if trainer <= 0 and given.memory is None:
        parser.error(
            f"-- {SAMPLER_FLAG} {sampler:g} leaves no memory to the trainer: at most {BOTH_SHARE:g} is for both, unless "
            "--memory says how much rows may take"
        )
    if sampler + trainer > 1 and given.memory is None:
        parser.error(f"--memory-share {trainer:g} and -- {SAMPLER_FLAG} {sampler:g} are together more than the memory")
    return {"sample": sampler, "train": trainer}


def _sampler_share(given: argparse.Namespace, parser: argparse.ArgumentParser) -> float | None:
    """What the operator says to vLLM; of several, the last one applies. None: nothing is said."""
    vllm = argparse.ArgumentParser(prog=parser.prog, usage=argparse.SUPPRESS, add_help=False, allow_abbrev=False)
    vllm.add_argument(SAMPLER_FLAG, "--gpu_memory_utilization", dest="share", type=read_part)
    share: float | None = vllm.parse_known_args(given.vllm_arguments)[0].share
    return share
