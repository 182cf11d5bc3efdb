"""Directs a foreign test suite to a running server, instead of one that each test starts with its own model. Requests are sent
as the tests write them, except for the model's name, a key if they have none, and paths without /v1."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
import requests

URL = os.environ["WHETSTONE_URL"]
KEY = os.environ["WHETSTONE_API_KEY"]
MODEL = os.environ["WHETSTONE_MODEL"]
MODEL_DIRECTORY = os.environ["WHETSTONE_MODEL_DIRECTORY"]
IN_PROCESS = "asks the other server's own code"

own_names: set[str] = set()
"""The names by which tests call the models that they would have started. Other names are unchanged, and unknown."""

own_keys = {"Bearer dummy"}
"""The keys with which tests would have started a server."""

paths: dict[str, str] = {}
"""Paths of the other server → ours."""


def install() -> None:
    """Runs before any test is imported."""
    for client in (httpx.Client, httpx.AsyncClient, httpx2.Client, httpx2.AsyncClient):  # used by openai and anthropic
        _patch_client(client)
    plain = requests.Session.request

    def request(session: requests.Session, method: str, url: str, **rest: Any) -> requests.Response:
        if url.startswith(URL):
            rest["json"] = _renamed(rest.get("json"))
            rest["headers"] = _with_key(rest.get("headers") or {})
            url = URL + paths.get(url.removeprefix(URL), url.removeprefix(URL))
        return plain(session, method, url, **rest)

    requests.Session.request = request  # type: ignore[method-assign,assignment]


def _patch_client(client: Any) -> None:
    plain = client.build_request

    def build_request(self: Any, method: str, url: Any, **rest: Any) -> Any:
        if isinstance(content := rest.get("content"), bytes):
            rest["content"] = json.dumps(_renamed(json.loads(content))).encode() if content.startswith(b"{") else content
        rest["json"] = _renamed(rest.get("json"))
        request = plain(self, method, url, **rest)
        if request.headers.get("authorization") in own_keys:
            request.headers["authorization"] = f"Bearer {KEY}"
        path = request.url.path
        if str(request.url).startswith(URL) and path in paths:
            request.url = request.url.copy_with(path=paths[path])
        return request

    client.build_request = build_request


def _with_key(headers: Mapping[str, str]) -> dict[str, str]:
    """A test that sends a key, even an empty one, tests keys: only the right key is replaced."""
    names_key = {"authorization", "x-api-key"} & {name.lower() for name in headers}
    if not names_key:
        return {**headers, "Authorization": f"Bearer {KEY}"}
    own = {f"Bearer {KEY}": own_keys, KEY: {key.removeprefix("Bearer ") for key in own_keys}}
    return {name: next((ours for ours, theirs in own.items() if value in theirs), value) for name, value in headers.items()}


def _renamed(body: Any) -> Any:
    is_own = isinstance(body, Mapping) and body.get("model") in own_names
    return {**body, "model": MODEL} if is_own else body


class Recorder:
    """Writes the result of each test as a line of JSON: its name, `passed`, `failed`, `skipped` or `in process`, and the cause."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Any:
        report: pytest.TestReport = yield
        if report.when == "call" or report.outcome != "passed":
            self._write(item.nodeid, report)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Any:
        report: pytest.CollectReport = yield
        if report.outcome != "passed":
            self._write(collector.nodeid, report)
        return report

    def _write(self, name: str, report: pytest.TestReport | pytest.CollectReport) -> None:
        why = str(getattr(report.longrepr, "reprcrash", None) or report.longrepr or "")
        outcome = "in process" if IN_PROCESS in why else "skipped" if report.outcome == "skipped" else report.outcome
        line = {"name": name, "outcome": outcome, "why": why[:500]}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Recorder(Path(os.environ["WHETSTONE_SUITE_RESULTS"])))
