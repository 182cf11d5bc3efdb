"""Keeps one worker running: starts it, starts it again when it ends, with growing pauses, and lets it leave when asked. A
worker may be several processes that only work together; how an attempt is started and watched is a parameter. Used by the
actors of a cluster (cluster/worker_actor.py) and by a command with several roles (run_roles.py); knows neither.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol

Phase = Literal["placing", "running", "pausing", "leaving", "left"]

PAUSES = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
"""After the first end, the second in a row, and so on; the last for ever."""
REFUSED_PAUSE = 300.0
"""After exit code 2: the server does not take it, or it was asked for what cannot be. Somebody has to change something."""
REFUSED_CODE = 2
STEADY_SECONDS = 60.0
"""What ran for so long begins with the shortest pause again."""
LEAVE_SECONDS = 630.0
"""A worker takes up to ten minutes for a long row."""
KILL_SECONDS = 30.0


class Attempt(Protocol):
    def wait(self, seconds: float) -> int | None:
        """The exit code when it is over; None when it still runs after so long."""

    def ask_to_leave(self) -> None: ...

    def kill(self) -> None: ...

    def last_words(self) -> str: ...


class NotPlacedError(Exception):
    """The attempt cannot start yet, which is no failure and no reason to pause. Says what it waits for."""


@dataclass(frozen=True)
class Report:
    phase: Phase
    since: float
    """Unix seconds: of this phase."""
    starts: int
    last_exit: int | None
    """Null: none has ended yet."""
    cause: str | None
    """Why nothing runs, or why it ended last."""
    words: str = field(repr=False, default="")
    """What the worker wrote last."""


def pause_after(exit_code: int | None, failures: int) -> float:
    """`failures`: ends in a row, this one counted."""
    return REFUSED_PAUSE if exit_code == REFUSED_CODE else PAUSES[min(failures, len(PAUSES)) - 1]


class Supervisor:
    """`start`: gives a running attempt. Raises NotPlacedError where it has to wait longer; it is then called again at once.
    `retries_refused`: whether a worker that was refused is started again; without, the phase is `left`.
    `note`: takes each new report, on the supervisor's own thread."""

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
        """Returns at once; the phase `left` says when it is done."""
        self._leaving.set()

    def kill(self) -> None:
        """What runs now, without waiting for it. It is started again, except after `leave`."""
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
            except Exception as fault:  # a node was lost between two calls: whatever it is, it is tried again
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
            self._set("pausing", cause=f"{cause}; the next start is {pause:.0f} s later")
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
