"""The errors that a worker answers with: a code of the server's own (src/domain/errors.ts), and words for whoever reads them.

`message` says what, where and what to do. The cause stays here, in the log of the worker.
"""

from typing import Literal

ErrorCode = Literal[
    "invalid_request",
    "invalid_constraint",
    "context_length_exceeded",
    "too_many_requests",
    "bad_model_files",
    "engine_unavailable",
    "engine_failed",
    "storage_unavailable",
    "cancelled",
]


class WorkerError(Exception):
    """`param`: the field of a client's request that is at fault. `retry_after_seconds`: when to try again."""

    def __init__(
        self, code: ErrorCode, message: str, *, param: str | None = None, retry_after_seconds: int | None = None
    ) -> None:
        super().__init__(message)
        self.code: ErrorCode = code
        self.message = message
        self.param = param
        self.retry_after_seconds = retry_after_seconds
