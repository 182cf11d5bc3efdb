"""The errors of the client."""


class ApiError(Exception):
    """The server refused the request. The message is the server's."""

    def __init__(
        self, status: int, message: str, code: str | None, request_id: str | None, retry_after_s: float | None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.request_id = request_id
        """Identifies the request in the server's log, for questions to its operator."""
        self.retry_after_s = retry_after_s


class AnswerError(ValueError):
    """The answer is not one that a Whetstone server gives, or it is too long. Asking again would not help."""


class TrainingFailedError(Exception):
    """The job ended with `training_failed`."""
