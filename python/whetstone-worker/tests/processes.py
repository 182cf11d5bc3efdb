"""Whether a process runs, and waiting for it: for tests that start and end processes of their own. Linux."""

import time
from collections.abc import Callable
from pathlib import Path

PATIENCE = 60.0


def runs(pid: int) -> bool:
    """False for a zombie, whose parent has not yet asked how it ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False  # ProcessLookupError: it ended between the opening and the reading
    return not stat.rpartition(")")[2].startswith(" Z")


def wait_until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.02)
