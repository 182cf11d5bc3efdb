"""Reading a server's workers and the queues of its models."""

import httpx
import pytest

from whetstone_worker.cluster.scaling import Load
from whetstone_worker.cluster.server_view import KeyRefusedError, ServerError, parse_queue, read_server

METRICS = """# HELP vllm:num_requests_running Sequences in the batch of the inference engine.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{model_name="Qwen/Qwen3-0.6B"} 12
vllm:num_requests_running{model_name="other"} 1
vllm:num_requests_waiting{model_name="Qwen/Qwen3-0.6B"} 30
whetstone_adapters_loaded{model_name="other"} 3
"""


def worker(name: str, **changes: object) -> dict[str, object]:
    known = {
        "name": name,
        "state": "connected",
        "base_model": "Qwen/Qwen3-0.6B",
        "running": 6,
        "waiting": 0,
        "sequences_max": 64,
    }
    return {**known, **changes}


def client(workers: list[dict[str, object]], status: int = 200) -> httpx.Client:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/base/metrics":
            return httpx.Response(200, text=METRICS)
        return httpx.Response(status, json={"object": "list", "data": workers})

    return httpx.Client(transport=httpx.MockTransport(answer), base_url="http://server/base")


def test_the_queue_is_read_per_model() -> None:
    assert parse_queue(METRICS) == ({"Qwen/Qwen3-0.6B": 12, "other": 1}, {"Qwen/Qwen3-0.6B": 30})


def test_the_load_is_that_of_the_samplers_model() -> None:
    trainer = worker("c-trainer-0", sequences_max=None)
    view = read_server(
        client([worker("c-sampler-0"), worker("c-sampler-1", sequences_max=32), worker("else", base_model="other"), trainer])
    )
    assert view.load_of(["c-sampler-0", "c-sampler-1"]) == Load(running=12, waiting=30, capacity=32)
    assert view.load_of(["c-trainer-0"]).capacity is None


def test_a_restarted_worker_is_connected_even_if_its_old_connection_is_still_away() -> None:
    view = read_server(client([worker("a", state="away"), worker("a"), worker("b", state="away")]))
    assert [view.state_of(name) for name in ("a", "b", "c")] == ["connected", "away", None]


def test_a_server_that_refuses_is_a_fault_with_its_message() -> None:
    with pytest.raises(ServerError, match="answered /v1/workers with 503"):
        read_server(client([], status=503))
    with pytest.raises(KeyRefusedError, match="answered /v1/workers with 403"):
        read_server(client([], status=403))


def test_an_unreachable_server_is_a_fault() -> None:
    with httpx.Client(base_url="http://127.0.0.1:1") as nobody, pytest.raises(ServerError, match="cannot reach"):
        read_server(nobody)


def test_metrics_that_only_the_server_s_machine_may_read_are_no_fault_of_the_key() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/metrics":
            return httpx.Response(403, json={"error": {"message": "Metrics are for this machine only"}})
        return httpx.Response(200, json={"object": "list", "data": []})

    with pytest.raises(ServerError, match="answered /metrics with 403: Metrics are for this machine only") as caught:
        read_server(httpx.Client(transport=httpx.MockTransport(answer), base_url="http://server"))
    assert not isinstance(caught.value, KeyRefusedError)
