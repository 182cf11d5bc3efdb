"""The actor that is a worker: it keeps the worker's processes running and says how they are. Ray restarts it, on another node
where its own is gone; it begins anew from its arguments alone, because nothing that matters is in it.
"""

import os
import socket
import sys
from typing import Any

import ray

from whetstone_worker.cluster.ranked_attempt import RankedAttempt, RankGroup
from whetstone_worker.cluster.seats import WorkerSpec
from whetstone_worker.leashed_process import LeashedProcess
from whetstone_worker.supervisor import Attempt, Supervisor


class WorkerActor:
    """One worker, kept running. `name`: the server's name for it; `seat`: the actor's own."""

    def __init__(self, spec: WorkerSpec, name: str, seat: str) -> None:
        own = {"{name}": name, "{python}": sys.executable}  # whole words, and of this node
        self._command = [own.get(part, part) for part in spec.command]
        self._environment = spec.environment
        self._group = RankGroup(seat, spec) if spec.ranks > 1 else None
        self._supervisor = Supervisor(self._start)

    def report(self) -> dict[str, Any]:
        context = ray.get_runtime_context()
        return {
            **self._supervisor.report(),
            "host": socket.gethostname(),
            "node": context.get_node_id(),
            "pid": os.getpid(),
            "gpus": self._group.places() if self._group else context.get_accelerator_ids().get("GPU", []),
        }

    def leave(self) -> None:
        """Returns at once; the phase `left` says when it is done."""
        self._supervisor.leave()

    def _start(self) -> Attempt:
        if self._group is None:
            return LeashedProcess(self._command, {**os.environ, **self._environment})
        return RankedAttempt(self._group, self._command, self._environment)
