"""Runs that scripts logged with the `wandb` library: lists, one run, its history and its curves. That library writes them."""

from collections.abc import AsyncIterator
from typing import Any, Literal
from urllib.parse import quote

from whetstone_client.answers import segment
from whetstone_client.http import Http
from whetstone_client.wire import Wire

RunState = Literal["running", "finished", "failed"]


class Run(Wire):
    id: str
    entity: str
    project: str
    run: str
    """As the script chose it; unique within the project."""
    name: str
    """Display name."""
    group: str | None
    tags: list[str]
    state: RunState
    exit_code: int | None
    config: dict[str, Any]
    summary: dict[str, Any]
    history_lines: int
    created_at: str
    updated_at: str


class RunProject(Wire):
    project: str
    runs: int
    running: int
    updated_at: str


class RunHistoryLine(Wire):
    line: int
    values: dict[str, Any]


class Curve(Wire):
    steps: list[float]
    values: list[float]


class RunCurves(Wire):
    history_lines: int
    curves: dict[str, Curve]
    left_out: int
    """Names without a curve, because the run logs too many."""


def _run(named: str) -> str:
    return "/v1/runs/" + "/".join(quote(segment(part), safe="") for part in named.split("/"))


class RunMethods:
    """The methods of `AsyncClient` for runs. `named`: `entity/project/run`; `~` is the key's own entity."""

    _http: Http

    def list_runs(
        self,
        *,
        project: str | None = None,
        state: RunState | None = None,
        search: str | None = None,
        order: Literal["asc", "desc"] = "asc",
    ) -> AsyncIterator[Run]:
        """`search`: a text in the id, the display name, the group or the tags."""
        query = {"project": project, "state": state, "search": search, "order": order}
        return self._http.rows(Run, "/v1/runs", query)

    def list_run_projects(self) -> AsyncIterator[RunProject]:
        return self._http.rows(RunProject, "/v1/run-projects")

    async def get_run(self, named: str) -> Run:
        return await self._http.call(Run, "GET", _run(named))

    def list_run_history(self, named: str) -> AsyncIterator[RunHistoryLine]:
        return self._http.rows(RunHistoryLine, f"{_run(named)}/history")

    async def get_run_curves(self, named: str, points: int | None = None) -> RunCurves:
        """With at most so many points each (default 500)."""
        query = {"points": None if points is None else str(points)}
        return await self._http.call(RunCurves, "GET", f"{_run(named)}/curves", query=query)

    async def delete_run(self, named: str) -> None:
        await self._http.call(dict[str, Any], "DELETE", _run(named))
