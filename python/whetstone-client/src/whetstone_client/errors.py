"""What can go wrong between here and a server."""

import httpx


class ApiError(Exception):
    """What the server answered when it refused."""

    def __init__(
        self, status: int, message: str, code: str | None, request_id: str | None, retry_after_s: float | None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.request_id = request_id
        """For questions to the operator: the server's log has it."""
        self.retry_after_s = retry_after_s


class TrainingFailedError(Exception):
    """The job ended in `training_failed`."""


def read_refusal(response: httpx.Response) -> ApiError:
    """Of a response whose body was read."""
    what = f"{response.request.method} {response.request.url.path}: {response.status_code} {response.text[:200]}"
    code, message = None, what
    try:
        error = response.json()["error"]
        code, message = error.get("code"), str(error["message"])
    except (ValueError, KeyError, TypeError, AttributeError):
        pass  # not ours: a proxy's page
    after = response.headers.get("retry-after", "")
    retry_after_s = float(after) if after.isdigit() else None  # the server names seconds, not dates
    return ApiError(response.status_code, message, code, response.headers.get("x-request-id"), retry_after_s)
