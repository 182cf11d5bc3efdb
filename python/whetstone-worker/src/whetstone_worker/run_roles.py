"""Both roles under one command: one worker process per role, on a leash (leash.py), restarted when it ends.

SIGTERM or Ctrl-C lets both finish what they compute; a second one ends them at once. If one is refused, the other is stopped
too, because only the operator can help. role_commands.py defines the command of a role, supervisor.py keeps it running.
"""

import logging
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence

from whetstone_worker.leashed_process import LeashedProcess, write_to_stderr
from whetstone_worker.role_commands import RoleCommand
from whetstone_worker.run_options import Role
from whetstone_worker.sampling.run_sampler import READY_WORDS
from whetstone_worker.supervisor import (
    KILL_SECONDS,
    LEAVE_SECONDS,
    REFUSED_CODE,
    NotPlacedError,
    Phase,
    Report,
    Supervisor,
)

LEFT_CODES = (0, 128 + signal.SIGTERM)
"""Exit codes of a worker that was asked to leave. The second one: the worker did not handle signals yet."""
POLL_SECONDS = 0.1

log = logging.getLogger(__name__)

Event = tuple[Role, Report] | int
"""A report of a role's supervisor, or the number of a signal."""


def run_roles(commands: Sequence[RoleCommand], leave_seconds: float = LEAVE_SECONDS) -> int:
    """Returns the exit code: 0 both left; 1 one failed to leave; 2 one was refused; 128 + N ended at once by signal N."""
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _frame: events.put(received))
    supervisors = _supervise(commands, events.put, leave_seconds)
    phases: dict[Role, Phase] = dict.fromkeys(supervisors, "placing")
    codes: dict[Role, int] = {}
    signals = 0
    while len(codes) < len(supervisors):
        event = events.get()
        if isinstance(event, int):
            signals += 1
            if signals > 1:
                _kill(supervisors.values())
                return 128 + event
        else:
            role, report = event
            _tell(role, report)
            if report.phase == "left":
                codes[role] = _exit_code(phases[role], report.last_exit)
            phases[role] = report.phase
        if signals or codes:
            for supervisor in supervisors.values():
                supervisor.leave()
    for role in (role for role, code in codes.items() if code == REFUSED_CODE):
        print(f"whetstone-worker: --roles {role} is refused: {_last_line(supervisors[role])}", file=sys.stderr)
    return max(codes.values())


def _supervise(
    commands: Sequence[RoleCommand], put: Callable[[Event], None], leave_seconds: float
) -> Mapping[Role, Supervisor]:
    sampler_settled = threading.Event()
    """Set when vLLM has allocated its memory or has ended once. Until then vLLM measures free memory, so the trainer waits."""

    def supervise(each: RoleCommand) -> Supervisor:
        def start() -> LeashedProcess:
            if each.role == "train" and not sampler_settled.wait(POLL_SECONDS):
                raise NotPlacedError("it is waiting for vLLM to be ready")
            return LeashedProcess(each.command, each.environment, pass_on)

        def pass_on(line: str) -> None:
            write_to_stderr(f"{each.role}: {line}")
            if each.role == "sample" and READY_WORDS in line:
                sampler_settled.set()

        def note(report: Report) -> None:
            if each.role == "sample" and report.phase not in ("placing", "running"):
                sampler_settled.set()
            put((each.role, report))

        return Supervisor(start, leave_seconds, retries_refused=False, note=note)

    return {each.role: supervise(each) for each in commands}


def _tell(role: Role, report: Report) -> None:
    if report.phase == "pausing":
        log.error("%s: %s.", role, report.cause)
    elif report.phase == "running":
        log.info("%s: its worker has started.", role)
    elif report.phase == "placing":
        log.info("%s: %s.", role, report.cause)
    else:
        log.info("%s: %s: %s.", role, report.phase, report.cause)


def _exit_code(before: Phase, last_exit: int | None) -> int:
    """Returns the exit code of a role that has left. `before`: its phase until then."""
    if before in ("placing", "pausing"):
        return 0  # nothing was running
    if last_exit == REFUSED_CODE:
        return REFUSED_CODE
    return 0 if last_exit in LEFT_CODES else 1


def _last_line(supervisor: Supervisor) -> str:
    return str(supervisor.report()["words"]).rpartition("\n")[2].removeprefix("whetstone-worker: ")


def _kill(supervisors: Collection[Supervisor]) -> None:
    """Ends the running processes. If that takes too long, the leashes end them when this process exits."""
    until = time.monotonic() + KILL_SECONDS
    while time.monotonic() < until and any(each.report()["phase"] != "left" for each in supervisors):
        for each in supervisors:
            each.kill()  # repeated: a worker may be starting right now
        time.sleep(POLL_SECONDS)
