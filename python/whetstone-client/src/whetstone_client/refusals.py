"""How an answer that is no success becomes an error."""

import json
import re

import httpx

from whetstone_client.answers import read_start, visible
from whetstone_client.errors import AnswerError, ApiError

_MESSAGE_CHARACTERS_MAX = 20_000


async def read_refusal(response: httpx.Response) -> ApiError:
    status, headers = response.status_code, response.headers
    what = f"{response.request.method} {response.request.url.path}"
    request_id = headers.get("x-request-id")
    if 300 <= status < 400:
        to = f" to {headers['location'][:500]}" if "location" in headers else ""
        message = f"{what}: the server redirects{to}. Redirects are not followed: use the final address."
        return ApiError(status, visible(message), "redirect", request_id, None)
    try:
        text = await read_start(response)
    except AnswerError:
        text = ""
    code, detail, message = None, None, f"{what}: {status} {text[:200]}"
    try:
        said = json.loads(text)
        code, message, detail = said["error"].get("code"), str(said["error"]["message"]), said.get("detail")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass  # not a response of Whetstone, such as a proxy's error page
    after = headers.get("retry-after", "")
    retry_after_s = float(after) if re.fullmatch("[0-9]{1,9}", after) else None  # the server sends seconds, never a date
    shown = visible(message)[:_MESSAGE_CHARACTERS_MAX]
    return ApiError(status, shown, code if isinstance(code, str) else None, request_id, retry_after_s, detail)
