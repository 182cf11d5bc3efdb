"""The actor of one worker: keeps the worker's processes running and reports their state. If its node is gone, Ray restarts it
on another node; it starts again from its arguments alone, because it holds no other state that matters.
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
    """Keeps one worker running. `name`: the server's name for it; `seat`: the actor's own name."""

    def __init__(self, spec: WorkerSpec, name: str, seat: str) -> None:
        own = {"{name}": name, "{python}": sys.executable}  # replace whole arguments, with values of this node
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
        """Returns at once; the phase becomes `left` when the worker has left."""
        self._supervisor.leave()

    def _start(self) -> Attempt:
        if self._group is None:
            return LeashedProcess(self._command, {**os.environ, **self._environment})
        return RankedAttempt(self._group, self._command, self._environment)
