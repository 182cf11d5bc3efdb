"""Formats the status of a cluster for people. Pure: the current time is an argument."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

_HEAD = ("WORKER", "SERVER SAYS", "PHASE", "SINCE", "STARTS", "HOST", "GPUS", "CAUSE")


def status_table(status: Mapping[str, Any], now: float | None = None) -> str:
    samplers, queue = status["samplers"], status["queue"]
    bounds = f" ({samplers['least']} to {samplers['most']})" if samplers["least"] != samplers["most"] else ""
    counts = f"{samplers['wanted']} samplers{bounds}, {status['trainers']['wanted']} trainers"
    lines = [
        f"{status['cluster']} at {status['server']}: {counts}",
        f"choices: {queue['running']} running, {queue['waiting']} waiting" if queue else str(status["fault"]),
    ]
    rows = [_row(worker, time.time() if now is None else now) for worker in status["workers"]]
    return "\n".join([*lines, *_columns([_HEAD, *rows])])


def what_is_missing(status: Mapping[str, Any]) -> str:
    """Returns one line for each worker that is not connected, with its last output."""
    lines = [f"  {status['fault']}"] if status["fault"] else []
    for worker in status["workers"]:
        if worker["on_server"] != "connected":
            cause = worker.get("cause") or "it has not connected yet"
            words = "".join(f"\n    | {line}" for line in str(worker.get("words") or "").splitlines()[-5:])
            lines.append(f"  {worker['name']} ({worker['phase']}): {cause}{words}")
    return "\n".join(lines) or "  workers are being started or replaced"


def progress(status: Mapping[str, Any]) -> str:
    """Returns one line with the state of each worker, for a command that waits."""
    states = (worker["on_server"] if worker["phase"] == "running" else worker["phase"] for worker in status["workers"])
    names = (worker["name"] for worker in status["workers"])
    causes = (f" ({worker['cause']})" if worker["phase"] == "unplaced" else "" for worker in status["workers"])
    said = ", ".join(
        f"{name} {state or 'loading its model'}{cause}" for name, state, cause in zip(names, states, causes, strict=True)
    )
    return "; ".join(filter(None, [status["fault"], said])) or "no worker has been started yet"


def why_unplaced(gpus: float, cpus: float, cluster: Mapping[str, float]) -> str:
    """`cluster`: the total resources of Ray's nodes, by Ray's names."""
    there = f"the cluster has {cluster.get('GPU', 0):g} GPUs and {cluster.get('CPU', 0):g} CPUs"
    wanted = f"Ray has no room for it: it needs {gpus:g} GPUs and {cpus:g} CPUs, {there}"
    if gpus > cluster.get("GPU", 0):
        return f"{wanted}; --gpus-per-sampler 0 and --gpus-per-trainer 0 use the CPU"
    return wanted if cpus > cluster.get("CPU", 0) else "Ray is starting it, waiting for room, or moving it from a lost node"


def _row(worker: Mapping[str, Any], now: float) -> tuple[str, ...]:
    since = worker.get("since")
    return (
        worker["name"],
        worker["on_server"] or "unknown",
        worker["phase"],
        "" if since is None else _age(now - since),
        str(worker.get("starts", "")),
        str(worker.get("host", "")),
        ",".join(worker.get("gpus", [])),
        worker.get("cause") or "",
    )


def _age(seconds: float) -> str:
    if seconds < 120:
        return f"{max(seconds, 0):.0f}s"
    return f"{seconds / 60:.0f}m" if seconds < 7200 else f"{seconds / 3600:.0f}h"


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
