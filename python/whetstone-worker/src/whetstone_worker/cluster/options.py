"""The flags of `whetstone-worker ray`, and the commands that the cluster's workers run. Does not know Ray."""

import argparse
import shlex
from collections.abc import Mapping

from whetstone_worker.cluster.cluster_spec import ClusterSpec
from whetstone_worker.cluster.scaling import Bounds, Windows
from whetstone_worker.cluster.seats import Role, WorkerSpec
from whetstone_worker.server_options import add_server_arguments, check_server_arguments

WAIT_SECONDS = 900.0
"""Limit for `up`: long enough for a cloud to start nodes and for models to be downloaded there."""


def add_ray(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    ray = commands.add_parser(
        "ray",
        help="keep workers running on a Ray cluster, as many as the queue needs",
        description="Keeps workers of one model running on a Ray cluster. They are Ray actors and outlive this command.",
    )
    actions = ray.add_subparsers(dest="action", required=True)
    up = actions.add_parser(
        "up",
        help="bring the cluster to the state that the flags describe, and wait until it is reached",
        description="Brings the cluster to the state that the flags describe. Repeated with the same flags it changes nothing; "
        "with other flags it starts and stops workers as needed, and replaces changed workers one by one. Waits until all are "
        "connected to the server.",
    )
    status = actions.add_parser(
        "status",
        help="show the workers and their state",
        description="Shows the workers, their nodes and their faults. Exits with 0 if all are connected, otherwise with 1.",
    )
    down = actions.add_parser(
        "down",
        help="let all workers finish what they compute, and remove them",
        description="Asks all workers to leave: they finish what they compute, which takes up to ten minutes for a long row.",
    )
    for action in (up, status, down):
        action.add_argument(
            "--address",
            metavar="ADDRESS",
            default="auto",
            help="`auto`, the Ray cluster of this machine or of $RAY_ADDRESS, or ray://head:10001; default: auto",
        )
        action.add_argument(
            "--name", metavar="NAME", default="whetstone", help="name of this group of workers; default: whetstone"
        )
    _add_up(up)
    status.add_argument("--json", action="store_true", help="for programs")
    down.add_argument("--wait", metavar="SECONDS", type=float, default=WAIT_SECONDS, help="default: %(default)s")


def _add_up(up: argparse.ArgumentParser) -> None:
    add_server_arguments(up)
    up.add_argument("--model", metavar="PATH|ID", required=True, help="as in `run`; a path must exist on every node")
    up.add_argument("--model-id", metavar="ID", help="as in `run`")
    up.add_argument("--samplers", metavar="N", type=_count, default=1, help="initial number of samplers; default: 1")
    up.add_argument("--min-samplers", metavar="N", type=_count, help="lowest number, without any load; default: --samplers")
    up.add_argument(
        "--max-samplers", metavar="N", type=_count, help="highest number, if the server's queue needs it; default: --samplers"
    )
    up.add_argument("--trainers", metavar="N", type=_count, default=1, help="each runs one job at a time; default: 1")
    up.add_argument("--gpus-per-sampler", metavar="K", type=_gpus, default=1.0, help="0: on the CPU; default: 1")
    up.add_argument(
        "--gpus-per-trainer",
        metavar="K",
        type=_gpus,
        default=1.0,
        help="0: on the CPU; more than 1: one process per GPU, with the model split between them; default: 1",
    )
    up.add_argument("--cpus-per-sampler", metavar="C", type=_gpus, default=1.0, help="CPUs to reserve in Ray; default: 1")
    up.add_argument(
        "--cpus-per-trainer", metavar="C", type=_gpus, default=1.0, help="CPUs to reserve in Ray, per process; default: 1"
    )
    up.add_argument("--sampler-args", metavar="ARGS", default="", help="more arguments for the samplers' `run`, in one string")
    up.add_argument("--trainer-args", metavar="ARGS", default="", help="more arguments for the trainers' `run`, in one string")
    up.add_argument(
        "--sampler-command",
        metavar="COMMAND",
        help="another program to run as the sampler, such as `node dist/cli.js workers run --roles sample --model {model} "
        "--name {name}`; it gets $WHETSTONE_URL and $WHETSTONE_API_KEY, and must leave on SIGTERM",
    )
    up.add_argument("--scale-up-seconds", metavar="S", type=float, default=Windows().up_seconds, help="default: %(default)s")
    up.add_argument(
        "--scale-down-seconds", metavar="S", type=float, default=Windows().down_seconds, help="default: %(default)s"
    )
    up.add_argument("--wait", metavar="SECONDS", type=float, default=WAIT_SECONDS, help="0: do not; default: %(default)s")


def read_spec(given: argparse.Namespace, parser: argparse.ArgumentParser) -> ClusterSpec:
    """Reads the spec of `up`. Exits with an error message if a flag is invalid."""
    check_server_arguments(given, parser)
    if not given.name.replace("-", "").isalnum():
        parser.error(f"--name may contain only letters, digits and hyphens, not {given.name!r}")
    least = given.samplers if given.min_samplers is None else given.min_samplers
    most = given.samplers if given.max_samplers is None else given.max_samplers
    if not least <= given.samplers <= most:
        parser.error(f"--samplers {given.samplers} is not between --min-samplers {least} and --max-samplers {most}")
    if least == 0 < most:
        parser.error("--min-samplers must be at least 1: without a sampler, a request fails after 30 s, before one could start")
    for flag, gpus in (("sampler", given.gpus_per_sampler), ("trainer", given.gpus_per_trainer)):
        if gpus > 1 and gpus != int(gpus):
            parser.error(f"--gpus-per-{flag} {gpus} is neither a part of one GPU, such as 0.5, nor a whole number of GPUs")
    environment = {"WHETSTONE_URL": given.server, "WHETSTONE_API_KEY": given.key}
    ranks = max(1, int(given.gpus_per_trainer))
    workers: Mapping[Role, WorkerSpec] = {
        "sampler": WorkerSpec(
            command=_sampler_command(given),
            environment=environment,
            gpus=given.gpus_per_sampler,
            cpus=given.cpus_per_sampler,
        ),
        "trainer": WorkerSpec(
            command=_run(given, "train", given.gpus_per_trainer, given.trainer_args),
            environment=environment,
            gpus=given.gpus_per_trainer / ranks,
            cpus=given.cpus_per_trainer,
            ranks=ranks,
        ),
    }
    return ClusterSpec(
        name=given.name,
        server=given.server,
        key=given.key,
        workers=workers,
        samplers=Bounds(least, most),
        samplers_first=given.samplers,
        trainers=given.trainers,
        windows=Windows(given.scale_up_seconds, given.scale_down_seconds),
    )


def _sampler_command(given: argparse.Namespace) -> tuple[str, ...]:
    if given.sampler_command is None:
        gpus = int(given.gpus_per_sampler)
        return (*_run(given, "sample", given.gpus_per_sampler, given.sampler_args), *_over_gpus(gpus, given.sampler_args))
    parts = shlex.split(given.sampler_command)
    return tuple(given.model if part == "{model}" else part for part in parts)


def _over_gpus(gpus: int, said: str) -> tuple[str, ...]:
    """vLLM uses one of the visible GPUs unless an option says more. Arguments after `--` are vLLM's own."""
    if gpus < 2:
        return ()
    return (*(() if "--" in shlex.split(said) else ("--",)), "--tensor-parallel-size", str(gpus))


def _run(given: argparse.Namespace, roles: str, gpus: float, more: str) -> tuple[str, ...]:
    model_id = ("--model-id", given.model_id) if given.model_id else ()
    device = ("--device", "cpu") if gpus == 0 else ()
    run = ("{python}", "-m", "whetstone_worker", "run", "--roles", roles, "--model", given.model, *model_id)
    return (*run, "--name", "{name}", *device, *shlex.split(more))


def _count(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def _gpus(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of 0 or more")
    return value
