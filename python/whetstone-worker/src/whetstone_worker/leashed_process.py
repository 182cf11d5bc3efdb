"""A command that runs on a leash (leash.py). Its output is passed on line by line, and its last lines are kept to explain
why it ended.
"""

import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

LINES_KEPT = 20
LINE_LENGTH_MAX = 2_000


def write_to_stderr(line: str) -> None:
    with suppress(OSError, ValueError):  # stderr is closed, but the process's output must still be drained
        sys.stderr.write(line)
        sys.stderr.flush()


class LeashedProcess:
    """`pass_on`: called with each line of output, including its line end, on a thread of this object."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], pass_on: Callable[[str], None] = write_to_stderr
    ) -> None:
        self._lines: deque[str] = deque(maxlen=LINES_KEPT)
        self._pass_on = pass_on
        self._process = subprocess.Popen(
            [sys.executable, "-m", "whetstone_worker.leash", *command],
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # a signal to this process's group must not reach the command
        )
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def wait(self, seconds: float) -> int | None:
        """Returns the exit code, 128 + N after signal N, or None if it still runs. After a code all output has been read."""
        try:
            code = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        self._reading.join(seconds)
        return code if code >= 0 else 128 - code

    def ask_to_leave(self) -> None:
        self._process.terminate()

    def kill(self) -> None:
        """Kills the command and all its processes. They have ended when `wait` returns a code."""
        if self._process.stdin:
            self._process.stdin.close()

    def last_words(self) -> str:
        return "\n".join(self._lines)

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._lines.append(line.rstrip()[:LINE_LENGTH_MAX])
            self._pass_on(line)
