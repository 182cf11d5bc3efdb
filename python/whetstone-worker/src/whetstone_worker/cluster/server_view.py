"""What a server says of its workers and of its queue: `GET /v1/workers` and `/metrics`. Nothing else of it is known here."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import httpx

from whetstone_worker.cluster.scaling import Load

ANSWER_SECONDS = 10.0

_SAMPLE = re.compile(r'^(vllm:num_requests_(?:running|waiting))\{(?:[^}]*,)?model_name="((?:[^"\\]|\\.)*)"[^}]*\} (\S+)$', re.M)


class ServerError(Exception):
    """It does not answer as it should. The message is for whoever looks at the cluster."""


class KeyRefusedError(ServerError):
    """It answers, and does not take the key: to wait would not help."""


@dataclass(frozen=True)
class ServerWorker:
    name: str
    state: str
    """`connected`, `away`, `draining`."""
    model: str
    running: int
    waiting: int
    sequences_max: int | None


@dataclass(frozen=True)
class ServerView:
    workers: tuple[ServerWorker, ...]
    running: Mapping[str, int]
    """Choices, by model."""
    waiting: Mapping[str, int]

    def state_of(self, name: str) -> str | None:
        """None: the server does not know it. A worker that was started again may be there twice for a moment."""
        states = [worker.state for worker in self.workers if worker.name == name]
        return "connected" if "connected" in states else next(iter(states), None)

    def load_of(self, names: Iterable[str]) -> Load:
        """Of the model that these samplers serve: all of its queue, whoever else serves it too."""
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
    """`client`: with the server's address and a key. Raises ServerError."""
    workers = _get(client, "/v1/workers").json()["data"]
    running, waiting = parse_queue(_get(client, "/metrics").text)
    return ServerView(tuple(_read_worker(each) for each in workers), running, waiting)


def parse_queue(metrics: str) -> tuple[dict[str, int], dict[str, int]]:
    """Choices that run and that wait, by model."""
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
        raise ServerError(f"{client.base_url} is not reached: {fault or type(fault).__name__}") from fault
    if response.status_code == httpx.codes.OK:
        return response
    refused = response.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN)
    kind = KeyRefusedError if refused else ServerError
    raise kind(f"{client.base_url} answered {path} with {response.status_code}: {_message_of(response)}")


def _message_of(response: httpx.Response) -> str:
    """What is not Whetstone's, a proxy in between for instance, is shown as it is."""
    try:
        return str(response.json()["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return response.text[:200]
