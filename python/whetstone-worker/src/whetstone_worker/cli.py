"""The command `whetstone-worker`: reads what an operator asks for, and ends with what they need to know.

Exit codes: 0 it has left its server; 1 it failed; 2 it was refused, or asked for what cannot be.
"""

import argparse
import asyncio
import logging
import os
import re
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from whetstone_worker.cluster.options import add_ray, read_spec
from whetstone_worker.connection_socket import RefusedError
from whetstone_worker.errors import WorkerError
from whetstone_worker.sampling.options import add_sampler_arguments, read_sampler_options
from whetstone_worker.sampling.run_sampler import run_sampler
from whetstone_worker.server_options import add_server_arguments, check_server_arguments
from whetstone_worker.worker_options import WorkerOptions

_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "whetstone-worker"
_ROLES = ("train", "sample")


def main(arguments: Sequence[str] | None = None) -> int:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    for chatty in ("httpx", "httpcore", "websockets"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    parser = _parser()
    given = parser.parse_args(arguments)
    if given.command == "ray":
        return _run_ray(given, parser)
    options = _read_options(parser, given)
    try:
        if given.roles == "sample":
            asyncio.run(run_sampler(options, read_sampler_options(given)))
        else:
            from whetstone_worker.run_trainer import run_trainer  # PyTorch takes its time, and may be missing

            asyncio.run(run_trainer(options))
    except ModuleNotFoundError as fault:
        print(f"whetstone-worker: {fault}. Training needs: pip install 'whetstone-worker[torch]'", file=sys.stderr)
        return 2
    except (RefusedError, WorkerError) as fault:
        print(f"whetstone-worker: {fault}", file=sys.stderr)
        return 2 if isinstance(fault, RefusedError) or fault.code in ("bad_model_files", "invalid_request") else 1
    except KeyboardInterrupt:
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="whetstone-worker", description="Engines of Whetstone that run where the GPUs are.")
    commands = parser.add_subparsers(dest="command", required=True)
    add_ray(commands)
    run = commands.add_parser(
        "run",
        help="connect to a server and compute what it asks for",
        description="Connects to a Whetstone server and computes what it asks for, until it is stopped. SIGTERM: it ends what "
        "runs, then leaves; a second one ends it at once.",
    )
    add_server_arguments(run)
    run.add_argument("--model", metavar="PATH|ID", required=True, help="a directory, or a model of the Hugging Face Hub")
    run.add_argument("--model-id", metavar="ID", help="the server's name for it; default: the Hub id, or the directory's name")
    run.add_argument(
        "--roles", metavar="ROLE", required=True, help="what the worker does: `train` on PyTorch, or `sample` on vLLM"
    )
    run.add_argument("--name", default=socket.gethostname(), help="how people will know the worker; default: the host's name")
    run.add_argument("--device", help="`cuda`, `cuda:1`, `cpu`; default: the first GPU, or the CPU where there is none")
    run.add_argument(
        "--cache-dir",
        metavar="PATH",
        type=Path,
        default=_CACHE,
        help="for files of adapters; several workers may share it; default: %(default)s",
    )
    run.add_argument(
        "--cache-size", metavar="SIZE", type=_size, default="16GB", help="of what is kept there; default: %(default)s"
    )
    training = run.add_argument_group("training (--roles train)")
    training.add_argument(
        "--memory", metavar="SIZE", type=_size, help="for rows, beside the weights: 40GiB; default: most of it"
    )
    training.add_argument("--row-length-max", metavar="TOKENS", type=_count, help="default: what fits into the memory")
    add_sampler_arguments(run, _count)
    return parser


def _run_ray(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    spec = read_spec(given, parser) if given.action == "up" else None
    try:
        from whetstone_worker.cluster.command import run_ray  # Ray takes its time, and may be missing
    except ModuleNotFoundError as fault:
        print(f"whetstone-worker: {fault}. A cluster needs: pip install 'whetstone-worker[ray]'", file=sys.stderr)
        return 2
    return run_ray(given, spec)


def _read_options(parser: argparse.ArgumentParser, given: argparse.Namespace) -> WorkerOptions:
    roles = given.roles.split(",")
    check_server_arguments(given, parser)
    if unknown := [role for role in roles if role not in _ROLES]:
        parser.error(f"--roles: {unknown[0]!r} is none of {', '.join(_ROLES)}")
    if len(roles) > 1:
        parser.error("--roles: a worker does one of them; start two, which may stand on one machine")
    return WorkerOptions(
        url=given.server,
        key=given.key,
        model=given.model,
        model_id=given.model_id,
        name=given.name,
        device=given.device,
        memory_bytes=given.memory,
        row_length_max=given.row_length_max,
        cache_directory=given.cache_dir,
        cache_bytes_max=given.cache_size,
    )


def _size(text: str) -> int:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)", text.strip())
    unit = _UNITS.get(match[2].upper()) if match else None
    if not match or unit is None or float(match[1]) <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no size; write 40GiB, 512MB or a number of bytes")
    return int(float(match[1]) * unit)


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no positive whole number")
    return int(text)
