"""Reads a server's workers and queue from `GET /v1/workers` and `/metrics`. Knows nothing else of the server."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import httpx

from whetstone_worker.cluster.scaling import Load

ANSWER_SECONDS = 10.0
METRICS = "/metrics"

_SAMPLE = re.compile(r'^(vllm:num_requests_(?:running|waiting))\{(?:[^}]*,)?model_name="((?:[^"\\]|\\.)*)"[^}]*\} (\S+)$', re.M)


class ServerError(Exception):
    """The server did not answer as expected. The message is for the operator of the cluster."""


class KeyRefusedError(ServerError):
    """The server refuses the key: waiting would not help."""


@dataclass(frozen=True)
class ServerWorker:
    name: str
    state: str
    """`connected`, `away` or `draining`."""
    model: str
    running: int
    waiting: int
    sequences_max: int | None


@dataclass(frozen=True)
class ServerView:
    workers: tuple[ServerWorker, ...]
    running: Mapping[str, int]
    """Numbers of choices by model."""
    waiting: Mapping[str, int]

    def state_of(self, name: str) -> str | None:
        """Returns None if the server does not know it. A restarted worker may be listed twice for a moment."""
        states = [worker.state for worker in self.workers if worker.name == name]
        return "connected" if "connected" in states else next(iter(states), None)

    def load_of(self, names: Iterable[str]) -> Load:
        """Returns the load of the model that these samplers serve: its whole queue, even if others serve the model too."""
        wanted = set(names)
        ours = [worker for worker in self.workers if worker.name in wanted and worker.sequences_max]
        if not ours:
            return Load(sum(self.running.values()), sum(self.waiting.values()), capacity=None)
        model = ours[0].model
        capacity = min(worker.sequences_max for worker in ours if worker.sequences_max)
        return Load(self.running.get(model, 0), self.waiting.get(model, 0), capacity)


def server_client(address: str, key: str) -> httpx.Client:
    return httpx.Client(base_url=address.rstrip("/"), headers={"authorization": f"Bearer {key}"})


def read_server(client: httpx.Client) -> ServerView:
    """`client`: has the server's address and a key. Raises ServerError."""
    workers = _get(client, "/v1/workers").json()["data"]
    running, waiting = parse_queue(_get(client, METRICS).text)
    return ServerView(tuple(_read_worker(each) for each in workers), running, waiting)


def parse_queue(metrics: str) -> tuple[dict[str, int], dict[str, int]]:
    """Returns the numbers of running and of waiting choices, by model."""
    running: dict[str, int] = {}
    waiting: dict[str, int] = {}
    for name, model, value in _SAMPLE.findall(metrics):
        (running if name.endswith("running") else waiting)[model] = int(float(value))
    return running, waiting


def _read_worker(worker: Mapping[str, object]) -> ServerWorker:
    most = worker.get("sequences_max")
    return ServerWorker(
        name=str(worker["name"]),
        state=str(worker["state"]),
        model=str(worker["base_model"]),
        running=int(str(worker["running"])),
        waiting=int(str(worker["waiting"])),
        sequences_max=most if isinstance(most, int) else None,
    )


def _get(client: httpx.Client, path: str) -> httpx.Response:
    try:
        response = client.get(path, timeout=ANSWER_SECONDS)
    except httpx.HTTPError as fault:
        raise ServerError(f"cannot reach {client.base_url}: {fault or type(fault).__name__}") from fault
    if response.status_code == httpx.codes.OK:
        return response
    # Metrics may be for the server's own machine only (--metrics-access loopback), whatever the key.
    refused = path != METRICS and response.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN)
    kind = KeyRefusedError if refused else ServerError
    raise kind(f"{client.base_url} answered {path} with {response.status_code}: {_message_of(response)}")


def _message_of(response: httpx.Response) -> str:
    """A response that is not from Whetstone, such as a proxy's, is returned unchanged."""
    try:
        return str(response.json()["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return response.text[:200]
