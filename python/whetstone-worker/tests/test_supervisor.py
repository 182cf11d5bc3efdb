"""A worker that is kept running, with real processes on real leashes."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from processes import runs, wait_until
from whetstone_worker.leashed_process import LeashedProcess
from whetstone_worker.supervisor import PAUSES, REFUSED_PAUSE, Attempt, NotPlacedError, Supervisor, pause_after

"""Limit of a wait. Nothing is measured by it."""
STAYS = "import signal, time; signal.signal(signal.SIGTERM, lambda *_: exit(0)); print('here', flush=True); time.sleep(600)"
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('here', flush=True); time.sleep(600)"


def python(code: str) -> LeashedProcess:
    return LeashedProcess([sys.executable, "-c", code], os.environ)


def test_a_worker_that_ends_is_restarted_and_its_last_output_is_kept() -> None:
    starts = iter(["import sys; print('no such model', file=sys.stderr); exit(7)", STAYS])
    supervisor = Supervisor(lambda: python(next(starts)))
    wait_until(lambda: supervisor.report()["phase"] == "pausing")
    report = supervisor.report()
    assert report["last_exit"] == 7
    assert "no such model" in report["words"]
    assert "exit code 7; the next start is in 1 s" in report["cause"]
    wait_until(lambda: "here" in supervisor.report()["words"])
    assert supervisor.report()["starts"] == 2
    supervisor.leave()
    wait_until(lambda: supervisor.report()["phase"] == "left")
    assert supervisor.report()["last_exit"] == 0


def test_a_worker_that_does_not_leave_is_killed() -> None:
    supervisor = Supervisor(lambda: python(STUBBORN), leave_seconds=0.2)
    wait_until(lambda: "here" in supervisor.report()["words"])
    supervisor.leave()
    wait_until(lambda: supervisor.report()["phase"] == "left")
    assert supervisor.report()["last_exit"] == 128 + signal.SIGKILL


def test_a_worker_asked_to_leave_during_a_pause_is_not_started_again() -> None:
    supervisor = Supervisor(lambda: python("exit(2)"))
    wait_until(lambda: supervisor.report()["phase"] == "pausing")
    assert "the next start is in 300 s" in supervisor.report()["cause"]
    supervisor.leave()
    wait_until(lambda: supervisor.report()["phase"] == "left")
    assert supervisor.report()["starts"] == 1


def test_waiting_for_room_causes_no_pause() -> None:
    tries = 0

    def start() -> Attempt:
        nonlocal tries
        tries += 1
        if tries < 20:
            raise NotPlacedError("no room for 4 GPUs")
        return python(STAYS)

    supervisor = Supervisor(start)
    wait_until(lambda: supervisor.report()["phase"] == "running")
    supervisor.leave()
    wait_until(lambda: supervisor.report()["phase"] == "left")


@pytest.mark.parametrize(("code", "failures", "pause"), [(1, 1, PAUSES[0]), (None, 99, PAUSES[-1]), (2, 1, REFUSED_PAUSE)])
def test_pauses_grow_and_are_long_after_a_refusal(code: int | None, failures: int, pause: float) -> None:
    assert pause_after(code, failures) == pause


def test_a_missing_command_is_reported() -> None:
    process = LeashedProcess(["/no/such/program"], os.environ)
    wait_until(lambda: process.wait(1) == 127)
    assert "/no/such/program cannot be started" in process.last_words()


FAMILY = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(os.getpid(), child.pid, flush=True)
time.sleep(600)
"""


def family_of(words: Callable[[], str]) -> list[int]:
    wait_until(lambda: len(words().split()) == 2)
    pids = [int(pid) for pid in words().split()]
    assert all(runs(pid) for pid in pids)
    return pids


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_kill_also_ends_the_children_of_the_command() -> None:
    process = python(FAMILY)
    pids = family_of(process.last_words)
    process.kill()
    wait_until(lambda: process.wait(1) == 128 + signal.SIGKILL)
    wait_until(lambda: not any(runs(pid) for pid in pids))


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_parent_killed_with_sigkill_leaves_no_process_running() -> None:
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import os, sys, time; from whetstone_worker.leashed_process import LeashedProcess as P\n"
            "p = P([sys.executable, '-c', sys.argv[1]], os.environ)\n"
            "while len(p.last_words().split()) < 2: time.sleep(0.05)\n"
            "print(p.last_words(), flush=True); time.sleep(600)",
            FAMILY,
        ],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert holder.stdout
    line = holder.stdout.readline()
    pids = family_of(lambda: line)
    holder.kill()
    holder.wait()
    wait_until(lambda: not any(runs(pid) for pid in pids))
