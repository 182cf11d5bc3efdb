"""The flags of `run`: the role that each belongs to, and how its value is parsed. Runs nothing.

Flags of a role default to None, to distinguish a flag that was given from one that was not.
"""

import argparse
import os
import re
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from whetstone_worker.sampling.options import add_sampler_arguments
from whetstone_worker.server_options import add_server_arguments, check_server_arguments
from whetstone_worker.worker_options import WorkerOptions

Role = Literal["sample", "train"]
ROLES: tuple[Role, ...] = ("sample", "train")

_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "whetstone-worker"


def add_run(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    run = commands.add_parser(
        "run",
        help="connect to a server and run its engines here",
        description="Connects to a Whetstone server and computes for it until it is stopped. On SIGTERM or Ctrl-C it finishes "
        "the running calls and leaves; a second signal ends it at once. With both roles it runs one worker per role and "
        "restarts a worker that ends.",
    )
    add_server_arguments(run)
    run.add_argument("--model", metavar="PATH|ID", required=True, help="a directory, or a model of the Hugging Face Hub")
    run.add_argument("--model-id", metavar="ID", help="the server's name for the model; default: the Hub id or directory name")
    run.add_argument(
        "--roles",
        metavar="ROLES",
        required=True,
        help="`sample` on vLLM, `train` on PyTorch, or `sample,train`: two workers that share one device",
    )
    run.add_argument(
        "--name",
        default=socket.gethostname(),
        help="the worker's name in listings; with both roles `-sample` and `-train` are appended; default: the host's name",
    )
    run.add_argument("--device", help="`cuda`, `cuda:1`, `cpu`; default: the first GPU, or the CPU if there is none")
    run.add_argument(
        "--cache-dir",
        metavar="PATH",
        type=Path,
        default=_CACHE,
        help="for adapter files; several workers may share it; default: %(default)s",
    )
    run.add_argument(
        "--cache-size", metavar="SIZE", type=_size, default="16GB", help="limit of each worker's cache; default: %(default)s"
    )
    flags: Mapping[Role, Sequence[argparse.Action]] = {
        "train": _add_trainer_arguments(run),
        "sample": add_sampler_arguments(run, _count),
    }
    run.set_defaults(role_flags=flags)


def _add_trainer_arguments(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    group = parser.add_argument_group("training (--roles train)")
    return [
        group.add_argument(
            "--memory",
            metavar="SIZE",
            type=_size,
            help="for rows, in addition to the weights: 40GiB; default: most free memory",
        ),
        group.add_argument(
            "--memory-share",
            metavar="PART",
            type=read_part,
            help="fraction of the device's memory for weights and rows, such as 0.5, when a sampler shares the device; "
            "default with both roles: 0.9 minus vLLM's --gpu-memory-utilization",
        ),
        group.add_argument(
            "--row-length-max", metavar="TOKENS", type=_count, help="default: the longest row that fits into memory"
        ),
    ]


def read_roles(given: argparse.Namespace, parser: argparse.ArgumentParser) -> list[Role]:
    """Exits with an error message if a flag of another role is given."""
    named = [part.strip() for part in given.roles.split(",")]
    roles = [role for role in ROLES if role in named]
    if len(roles) != len(named):
        parser.error(f"--roles must be a comma-separated list of {','.join(ROLES)}, not {given.roles!r}")
    for role in ROLES:
        if role not in roles and (flags := [flag_of(action) for action in given_flags(given, role)]):
            parser.error(f"{flags[0]} is for --roles {role}, and this worker has --roles {given.roles}")
    return roles


def given_flags(given: argparse.Namespace, role: Role) -> list[argparse.Action]:
    return [action for action in given.role_flags[role] if getattr(given, action.dest) not in (None, [])]


def flag_of(action: argparse.Action) -> str:
    return action.option_strings[0] if action.option_strings else "an argument after `--`"


def read_options(given: argparse.Namespace, parser: argparse.ArgumentParser) -> WorkerOptions:
    """Reads the options that are common to all roles."""
    check_server_arguments(given, parser)
    if given.memory is not None and given.memory_share is not None:
        parser.error("--memory and --memory-share exclude each other: give only one")
    return WorkerOptions(
        url=given.server,
        key=given.key,
        model=given.model,
        model_id=given.model_id,
        name=given.name,
        device=given.device,
        memory_bytes=given.memory,
        memory_share=given.memory_share,
        row_length_max=given.row_length_max,
        cache_directory=given.cache_dir,
        cache_bytes_max=given.cache_size,
    )


def _size(text: str) -> int:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)", text.strip())
    unit = _UNITS.get(match[2].upper()) if match else None
    if not match or unit is None or float(match[1]) <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size; write 40GiB, 512MB or a number of bytes")
    return int(float(match[1]) * unit)


def read_part(text: str) -> float:
    try:
        part = float(text)
    except ValueError:
        part = 0.0
    if not 0 < part < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a fraction; write a number between 0 and 1, such as 0.5")
    return part


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return int(text)
