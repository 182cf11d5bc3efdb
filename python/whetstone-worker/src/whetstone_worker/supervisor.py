"""Keeps one worker running: starts it, restarts it with growing pauses when it ends, and lets it leave when asked. A worker
may consist of several processes; how an attempt is started and watched is a parameter. Used by the actors of a cluster
(cluster/worker_actor.py) and by a command with several roles (run_roles.py); knows neither.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol

Phase = Literal["placing", "running", "pausing", "leaving", "left"]

PAUSES = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
"""Seconds before a restart after the first end, the second in a row, and so on; the last value repeats."""
REFUSED_PAUSE = 300.0
"""After exit code 2: the server refuses the worker, or its options are invalid. Only the operator can change that."""
REFUSED_CODE = 2
STEADY_SECONDS = 60.0
"""An attempt that ran this long resets the pauses to the shortest."""
LEAVE_SECONDS = 630.0
"""Seconds to leave. A worker takes up to ten minutes for a long row."""
KILL_SECONDS = 30.0


class Attempt(Protocol):
    def wait(self, seconds: float) -> int | None:
        """Returns the exit code, or None if the attempt still runs after `seconds`."""

    def ask_to_leave(self) -> None: ...

    def kill(self) -> None: ...

    def last_words(self) -> str: ...


class NotPlacedError(Exception):
    """The attempt cannot start yet. This is not a failure and causes no pause. The message names what it waits for."""


@dataclass(frozen=True)
class Report:
    phase: Phase
    since: float
    """Unix time in seconds at which the phase began."""
    starts: int
    last_exit: int | None
    """None if no attempt has ended yet."""
    cause: str | None
    """Why nothing is running, or why the last attempt ended."""
    words: str = field(repr=False, default="")
    """The last output of the worker."""


def pause_after(exit_code: int | None, failures: int) -> float:
    """Returns seconds. `failures`: the number of ends in a row, including this one."""
    return REFUSED_PAUSE if exit_code == REFUSED_CODE else PAUSES[min(failures, len(PAUSES)) - 1]


class Supervisor:
    """`start`: returns a running attempt. If it raises NotPlacedError, it is called again at once.
    `retries_refused`: whether a refused worker is started again; if not, the phase becomes `left`.
    `note`: called with each new report, on the supervisor's own thread."""

    def __init__(
        self,
        start: Callable[[], Attempt],
        leave_seconds: float = LEAVE_SECONDS,
        *,
        retries_refused: bool = True,
        note: Callable[[Report], None] = lambda _: None,
    ) -> None:
        self._start = start
        self._leave_seconds = leave_seconds
        self._retries_refused = retries_refused
        self._note = note
        self._leaving = threading.Event()
        self._report = Report("placing", time.time(), starts=0, last_exit=None, cause=None)
        self._attempt: Attempt | None = None
        self._thread = threading.Thread(target=self._run, name="supervisor", daemon=True)
        self._thread.start()

    def report(self) -> dict[str, Any]:
        words = self._attempt.last_words() if self._attempt else ""
        return {**asdict(self._report), "words": words or self._report.words}

    def leave(self) -> None:
        """Returns at once; the phase becomes `left` when the worker has left."""
        self._leaving.set()

    def kill(self) -> None:
        """Kills the running attempt without waiting for it. It is restarted, except after `leave`."""
        if attempt := self._attempt:
            attempt.kill()

    def _run(self) -> None:
        failures = 0
        why_left = "it was asked to leave"
        while not self._leaving.is_set():
            began = time.monotonic()
            code: int | None = None
            try:
                self._attempt = self._start()
            except NotPlacedError as fault:
                self._set("placing", cause=str(fault))
                continue
            except Exception as fault:  # such as a node lost between two calls: any failure is retried
                cause = f"it could not be started: {type(fault).__name__}: {fault}"
            else:
                self._set("running", starts=self._report.starts + 1)
                code = self._watch(self._attempt)
                cause = f"it ended with exit code {code}"
                self._report = Report(**{**asdict(self._report), "words": self._attempt.last_words(), "last_exit": code})
                self._attempt = None
            if self._leaving.is_set():
                break
            if code == REFUSED_CODE and not self._retries_refused:
                why_left = cause
                break
            failures = 1 if time.monotonic() - began > STEADY_SECONDS else failures + 1
            pause = pause_after(code, failures)
            self._set("pausing", cause=f"{cause}; the next start is in {pause:.0f} s")
            self._leaving.wait(pause)
        self._set("left", cause=why_left)

    def _watch(self, attempt: Attempt) -> int | None:
        while not self._leaving.is_set():
            if (code := attempt.wait(0.5)) is not None:
                return code
        self._set("leaving", cause="it was asked to leave")
        attempt.ask_to_leave()
        code = attempt.wait(self._leave_seconds)
        if code is None:
            self._set("leaving", cause=f"it did not leave within {self._leave_seconds:.0f} s and is killed")
            attempt.kill()
            code = attempt.wait(KILL_SECONDS)
        return code

    def _set(self, phase: Phase, *, cause: str | None = None, starts: int | None = None) -> None:
        old = self._report
        since = old.since if old.phase == phase else time.time()
        self._report = Report(phase, since, old.starts if starts is None else starts, old.last_exit, cause, old.words)
        if (phase, cause) != (old.phase, old.cause):
            self._note(self._report)
