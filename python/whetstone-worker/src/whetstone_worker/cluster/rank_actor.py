"""The actor of one rank of a worker with several processes. Its creator watches it, and ends all ranks if it ends."""

import os
import socket
from collections.abc import Mapping

import ray

from whetstone_worker.leashed_process import LeashedProcess


class RankActor:
    def __init__(self) -> None:
        self._process: LeashedProcess | None = None

    def address(self) -> tuple[str, int]:
        """Returns an address on which rank 0 can listen."""
        with socket.socket() as free:
            free.bind(("", 0))
            return str(ray.util.get_node_ip_address()), int(free.getsockname()[1])  # type: ignore[no-untyped-call, unused-ignore]

    def places(self) -> list[str]:
        host = socket.gethostname()
        return [f"{host}:{gpu}" for gpu in ray.get_runtime_context().get_accelerator_ids().get("GPU", [])]

    def start(self, command: list[str], environment: Mapping[str, str]) -> None:
        self._process = LeashedProcess(command, {**os.environ, **environment})

    def poll(self) -> tuple[int | None, str]:
        """Returns the exit code, or None while it runs, and its last output."""
        assert self._process
        return self._process.wait(0), self._process.last_words()

    def ask_to_leave(self) -> None:
        assert self._process
        self._process.ask_to_leave()
