"""The errors that a worker returns: an error code of the server (src/domain/errors.ts) and a message.

`message` says what failed, where, and what to do. The cause is not sent to the server; the worker logs it.
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
    """`param`: the field of the client's request that is at fault. `retry_after_seconds`: how long to wait before a retry."""

    def __init__(
        self, code: ErrorCode, message: str, *, param: str | None = None, retry_after_seconds: int | None = None
    ) -> None:
        super().__init__(message)
        self.code: ErrorCode = code
        self.message = message
        self.param = param
        self.retry_after_seconds = retry_after_seconds
