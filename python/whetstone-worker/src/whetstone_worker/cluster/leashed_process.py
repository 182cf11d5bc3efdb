"""A command on a leash (leash.py): what it writes goes to this process's stderr, where Ray's logs find it; its last words are
kept for whoever asks why it ended.
"""

import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping, Sequence

LINES_KEPT = 20
LINE_LENGTH_MAX = 2_000


class LeashedProcess:
    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._lines: deque[str] = deque(maxlen=LINES_KEPT)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "whetstone_worker.leash", *command],
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    @property
    def pid(self) -> int:
        """Of the leash."""
        return self._process.pid

    def wait(self, seconds: float) -> int | None:
        """Its exit code; None while it runs. After it, everything that it wrote was read."""
        try:
            code = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        self._reading.join(seconds)
        return code

    def ask_to_leave(self) -> None:
        self._process.terminate()

    def kill(self) -> None:
        """With all its processes. They have ended when `wait` gives a code."""
        if self._process.stdin:
            self._process.stdin.close()

    def last_words(self) -> str:
        return "\n".join(self._lines)

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._lines.append(line.rstrip()[:LINE_LENGTH_MAX])
            sys.stderr.write(line)
            sys.stderr.flush()
