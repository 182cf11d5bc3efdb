"""The errors of the client, and how a server's error response becomes one."""

import httpx


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


class TrainingFailedError(Exception):
    """The job ended with `training_failed`."""


def read_refusal(response: httpx.Response) -> ApiError:
    """`response`: its body must have been read."""
    what = f"{response.request.method} {response.request.url.path}: {response.status_code} {response.text[:200]}"
    code, message = None, what
    try:
        error = response.json()["error"]
        code, message = error.get("code"), str(error["message"])
    except (ValueError, KeyError, TypeError, AttributeError):
        pass  # not a response of Whetstone, such as a proxy's error page
    after = response.headers.get("retry-after", "")
    retry_after_s = float(after) if after.isdigit() else None  # the server sends seconds, never a date
    return ApiError(response.status_code, message, code, response.headers.get("x-request-id"), retry_after_s)
