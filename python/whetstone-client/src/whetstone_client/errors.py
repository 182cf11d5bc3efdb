"""The errors of the client."""

from typing import Any


class ApiError(Exception):
    """The server refused the request. The message is the server's."""

    def __init__(
        self,
        status: int,
        message: str,
        code: str | None,
        request_id: str | None,
        retry_after_s: float | None,
        detail: Any = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.request_id = request_id
        """Identifies the request in the server's log, for questions to its operator."""
        self.retry_after_s = retry_after_s
        self.detail = detail
        """For a body with errors: a list of all of them, with their places. Otherwise the message again, or None."""


class AnswerError(ValueError):
    """The answer is not one that a Whetstone server gives, or it is too long. Asking again would not help."""


class TrainingFailedError(Exception):
    """The job ended with `training_failed`."""
