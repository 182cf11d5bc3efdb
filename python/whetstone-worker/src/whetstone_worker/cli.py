"""The command `whetstone-worker`: parses the command line, runs a worker or a cluster of workers, and sets the exit code.

Exit codes: 0 the worker has left its server; 1 it failed; 2 the server refused it, or the command line is invalid.
"""

import argparse
import asyncio
import logging
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec

from whetstone_worker.cluster.options import add_ray, read_spec
from whetstone_worker.connection_socket import RefusedError
from whetstone_worker.errors import WorkerError
from whetstone_worker.role_commands import commands_of_roles
from whetstone_worker.run_options import Role, add_run, read_options, read_roles
from whetstone_worker.run_roles import run_roles
from whetstone_worker.sampling.options import read_sampler_options
from whetstone_worker.sampling.run_sampler import run_sampler

_NEEDS: Mapping[Role, str] = {
    "sample": "pip install 'whetstone-worker[vllm]', or pass the command of another vLLM installation as --vllm",
    "train": "pip install 'whetstone-worker[torch]'",
}


def main(arguments: Sequence[str] | None = None) -> int:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    for chatty in ("httpx", "httpcore", "websockets"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    parser = _parser()
    given = parser.parse_args(arguments)
    if given.command == "ray":
        return _run_ray(given, parser)
    return _run(given, parser)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="whetstone-worker", description="Runs engines for a Whetstone server on machines with GPUs."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    add_ray(commands)
    add_run(commands)
    return parser


def _run(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    options = read_options(given, parser)
    roles = read_roles(given, parser)
    if len(roles) > 1:
        return run_roles(commands_of_roles(given, parser))
    try:
        if roles == ["sample"]:
            if given.vllm is None and find_spec("vllm") is None:
                raise ModuleNotFoundError("No module named 'vllm'")
            asyncio.run(run_sampler(options, read_sampler_options(given)))
        else:
            from whetstone_worker.run_trainer import run_trainer  # PyTorch is slow to import and may be missing

            asyncio.run(run_trainer(options))
    except ModuleNotFoundError as fault:
        print(f"whetstone-worker: {fault}. --roles {roles[0]} needs: {_NEEDS[roles[0]]}", file=sys.stderr)
        return 2
    except (RefusedError, WorkerError) as fault:
        print(f"whetstone-worker: {fault}", file=sys.stderr)
        return 2 if isinstance(fault, RefusedError) or fault.code in ("bad_model_files", "invalid_request") else 1
    except KeyboardInterrupt:
        return 130
    return 0


def _run_ray(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    spec = read_spec(given, parser) if given.action == "up" else None
    try:
        from whetstone_worker.cluster.command import run_ray  # Ray is slow to import and may be missing
    except ModuleNotFoundError as fault:
        print(f"whetstone-worker: {fault}. A cluster needs: pip install 'whetstone-worker[ray]'", file=sys.stderr)
        return 2
    return run_ray(given, spec)
