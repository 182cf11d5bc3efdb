"""`python -m whetstone_worker.leash [--own DIRECTORY] COMMAND…`: runs a command that must not outlive its parent process.

A process that is killed with SIGKILL cannot stop its children; a child that continued would occupy the GPU that a successor
needs. The leash holds one end of a pipe to its parent; when the pipe breaks, it kills the command's process group. It passes
SIGTERM on to the command alone, which ends its own children, and exits with the command's exit code.
`--own`: a directory of the command, removed after it ends.
"""

import argparse
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress

_PR_SET_PDEATHSIG = 1


def main(command: Sequence[str]) -> int:
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None

    def die_with_the_leash() -> None:
        if libc:
            libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=die_with_the_leash,
        )
    except OSError as fault:
        print(f"{command[0]} cannot be started: {fault}", file=sys.stderr)
        return 127

    def kill_all() -> None:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)

    def hold() -> None:
        while os.read(0, 1024):
            pass
        kill_all()

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: child.send_signal(signal.SIGTERM))
    threading.Thread(target=hold, daemon=True).start()
    code = child.wait()
    kill_all()  # processes that the command left running
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--own")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    try:
        code = main(given.command)
    finally:
        if given.own is not None:
            shutil.rmtree(given.own, ignore_errors=True)
    sys.exit(code)
