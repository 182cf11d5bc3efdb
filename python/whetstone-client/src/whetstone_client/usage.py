"""Sums of usage: tokens and requests by model, key, project or day."""

from collections.abc import Sequence
from typing import Literal

from whetstone_client.http import Http
from whetstone_client.wire import Wire

UsagePart = Literal["model", "api_key", "project", "day"]


class UsageAmounts(Wire):
    requests: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    total_tokens: int


class UsageSum(UsageAmounts):
    """A part is None if the sums do not tell it apart."""

    model: str | None
    """Without its step."""
    api_key_id: str | None
    project: str | None
    date: str | None


class UsageSums(Wire):
    data: list[UsageSum]
    """Most tokens first."""
    has_more: bool
    totals: UsageAmounts


class UsageMethods:
    """The methods of `AsyncClient` for usage."""

    _http: Http

    async def get_usage_sums(
        self,
        by: Sequence[UsagePart] = ("model", "api_key"),
        *,
        api_key_id: str | None = None,
        project: str | None = None,
        model: str | None = None,
        start_date: str | None = None,
        end_date: str | None = None,
        limit: int = 100,
    ) -> UsageSums:
        """Days are in UTC, `2026-11-21`; both ends count."""
        query = {
            "by": ",".join(by),
            "api_key_id": api_key_id,
            "project": project,
            "model": model,
            "start_date": start_date,
            "end_date": end_date,
            "limit": str(limit),
        }
        return await self._http.call(UsageSums, "GET", "/v1/usage/sums", query=query)
