"""The client against a simulated server: lost connections, pages, refusals. test_files.py has its files."""

import asyncio
import json
import logging
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from simulated_server import client_of
from whetstone_client import ApiError, AsyncClient, Client, Lora, RlJob, TrainingFailedError
from whetstone_client.sse import read_events


def event(number: int, kind: str, **data: object) -> str:
    return f"id: {number}\ndata: {json.dumps({'id': str(number), 'type': kind, 'data': data})}\n\n"


JOB = {"id": "job", "type": "rl", "model_id": "m", "status": "succeeded", "progress": 1}


EPISODE: dict[str, object] = {
    "id": "e",
    "name": "run-1",
    "group": "g",
    "model_id": "m",
    "status": "open",
    "outcome": None,
    "reward": None,
    "metrics": {},
    "turn_rewards": {},
    "metadata": {},
    "trained_by": None,
    "call_count": 2,
    "token_count": 9,
    "trained_token_count": 4,
    "stored_bytes": 100,
    "created_at": "now",
    "last_call_at": "now",
    "rewarded_at": None,
    "expired_at": None,
    "base_url": "http://server/e/g/run-1/v1",
    "anthropic_base_url": "http://server/e/g/run-1",
}


def call_of(number: int) -> dict[str, object]:
    return {
        "id": str(number),
        "answer_id": f"chatcmpl-{number}",
        "model": "p/agent",
        "policy_step": 0,
        "trained": True,
        "cut": False,
        "reshaped_by": [],
        "created_at": "now",
        "parent_id": None,
        "parent_choice": None,
        "shared_tokens": 0,
        "prompt_tokens": 3,
        "shared_messages": 0,
        "messages": [],
        "tools": None,
        "shares_tools": False,
        "sampling": {},
        "template": {},
        "choices": [],
    }


def test_an_episode_lists_its_calls_and_lists_of_episodes_have_an_order() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url.copy_with(scheme="http", host="server")).removeprefix("http://server"))
        if request.method == "POST":
            return httpx.Response(200, json=EPISODE)
        if request.url.path.endswith("/episodes"):
            return httpx.Response(200, json={"data": [EPISODE], "has_more": False, "last_id": "e"})
        is_first = "after" not in request.url.params
        return httpx.Response(200, json={**EPISODE, "calls": [call_of(1 if is_first else 2)], "has_more": is_first})

    async def look() -> tuple[list[str], list[str]]:
        client = client_of(answer)
        episode = await client.episode("m")
        calls = [call.answer_id async for call in episode.calls()]
        return calls, [each.name async for each in client.list_episodes(order="asc")]

    assert asyncio.run(look()) == (["chatcmpl-1", "chatcmpl-2"], ["run-1"])
    assert "after=1" in asked[2], asked
    assert "order=asc" in asked[3], asked


def test_a_job_is_followed_across_a_lost_connection_and_a_server_restart() -> None:
    seen: list[str | None] = []
    streams = iter(
        [
            httpx.Response(200, text=": ping\n\n" + event(1, "training_started", num_sequences=2) + "id: 2\ndata: {"),
            httpx.Response(503, json={"error": {"message": "Restarting."}}, headers={"retry-after": "0"}),
            httpx.Response(200, text=event(2, "gradient_step", gradient_step=1, loss=0.5) + event(3, "training_ended")),
        ]
    )

    def answer(request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith("/events"):
            return httpx.Response(200, json=JOB)
        seen.append(request.headers.get("last-event-id"))
        return next(streams)

    progress: list[tuple[int, int, dict[str, float]]] = []
    connection: list[Exception | None] = []
    following = client_of(answer).follow(
        "job", on_progress=lambda at: progress.append((at.done, at.total, at.metrics)), on_connection=connection.append
    )
    job = asyncio.run(following)
    assert job.status == "succeeded"
    assert seen == [None, "1", "1"]
    assert progress == [(1, 2, {"loss": 0.5})]
    assert [each and str(each) for each in connection] == ["the stream of events ended before the job did", "Restarting.", None]


def test_a_job_that_waits_says_behind_what(caplog: pytest.LogCaptureFixture) -> None:
    message = "It waits for its turn behind the training job first."
    waits = event(1, "training_waiting", waiting_for={"type": "job", "id": "first", "message": message})

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/events"):
            return httpx.Response(200, text=waits + event(2, "training_ended"))
        return httpx.Response(200, json={**JOB, "waiting_for": {"type": "job", "id": "first", "message": message}})

    with caplog.at_level(logging.INFO, logger="whetstone_client"):
        job = asyncio.run(client_of(answer).follow("job"))
    assert f"job job: {message}" in caplog.messages
    assert job.waiting_for is not None
    assert job.waiting_for.message == message


def test_a_report_of_the_connection_that_raises_ends_following() -> None:
    def enough(lost: Exception | None) -> None:
        raise RuntimeError(f"enough: {lost}")

    away = httpx.Response(503, json={"error": {"message": "Away."}})
    with pytest.raises(RuntimeError, match="enough: Away"):
        asyncio.run(client_of(lambda _: away).follow("job", on_connection=enough))


def test_train_reports_that_the_server_is_away_while_it_submits_and_while_it_follows() -> None:
    away = httpx.Response(503, json={"error": {"message": "Restarting."}}, headers={"retry-after": "0"})
    events = httpx.Response(200, text=event(1, "training_ended"))
    answers = iter([away, httpx.Response(200, json={"id": "job"}), away, events, away, httpx.Response(200, json=JOB)])
    connection: list[Exception | None] = []
    job = RlJob(model_id="m", trajectory_groups=[])
    asyncio.run(client_of(lambda _: next(answers)).train(job, on_connection=connection.append))
    assert [each and str(each) for each in connection] == ["Restarting.", None] * 3


def test_synchronous_code_hears_of_a_lost_connection_too() -> None:
    streams = iter([(event(1, "training_started", num_sequences=2), False), (event(2, "training_ended"), True)])

    class Server(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_events = self.path.endswith("/events")
            content, is_whole = next(streams) if is_events else (json.dumps(JOB), True)
            self.send_response(200)
            self.send_header("content-length", str(len(content) + (0 if is_whole else 1)))
            self.end_headers()
            self.wfile.write(content.encode())
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    connection: list[Exception | None] = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever).start()
        with Client(f"http://127.0.0.1:{server.server_port}", "k") as client:
            assert client.follow("job", on_connection=connection.append).status == "succeeded"
        server.shutdown()
    assert [type(each) for each in connection] == [httpx.RemoteProtocolError, type(None)]
    assert str(connection[0])


def test_a_job_that_fails_raises_its_cause() -> None:
    failed = httpx.Response(200, text=event(1, "training_failed", error_message="No memory."))
    with pytest.raises(TrainingFailedError, match="No memory"):
        asyncio.run(client_of(lambda _: failed).follow("job"))


def test_waiting_ends_at_the_deadline() -> None:
    away = httpx.Response(503, json={"error": {"message": "Away."}})
    with pytest.raises(TimeoutError, match="it continues on the server"):
        asyncio.run(client_of(lambda _: away).follow("job", deadline_s=0.05))


def test_a_refusal_is_raised_at_once_with_the_server_s_message() -> None:
    asked = 0

    def answer(_: httpx.Request) -> httpx.Response:
        nonlocal asked
        asked += 1
        return httpx.Response(404, json={"error": {"message": "No training job.", "code": "x"}}, headers={"x-request-id": "r"})

    with pytest.raises(ApiError, match="No training job") as refused:
        asyncio.run(client_of(answer).follow("job"))
    assert (refused.value.status, refused.value.code, refused.value.request_id, asked) == (404, "x", "r", 1)


def test_a_model_is_registered_with_exactly_the_requested_adapter() -> None:
    sent: list[dict[str, object]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(json.loads(request.content))
        return httpx.Response(200, json={"id": "m", "entity": "e", "project": "p", "name": "n", "base_model": "b"})

    client = client_of(answer)
    asyncio.run(client.register_model("p", "n", "b", lora=Lora(r=16, use_rslora=True)))
    assert sent[0]["lora"] == {"r": 16, "use_rslora": True}
    asyncio.run(client_of(answer).register_model("p", "n", "b"))
    assert "lora" not in sent[1]


def test_all_pages_of_a_list_are_read() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        first = int(request.url.params.get("after", "0")) + 1
        rows = [{**JOB, "id": str(number)} for number in range(first, min(first + 100, 251))]
        return httpx.Response(200, json={"data": rows, "last_id": rows[-1]["id"], "has_more": first + 100 < 251})

    async def read() -> list[str]:
        return [job.id async for job in client_of(answer).list_training_jobs()]

    assert asyncio.run(read()) == [str(number) for number in range(1, 251)]


def test_events_are_parsed_wherever_the_network_splits_them() -> None:
    body = ': ping\n\nid: 1\r\ndata: {"a":"ä\u2028😀"}\r\n\r\ndata: x\ndata: y\n\ndata: never finished'.encode()

    async def read(size: int) -> list[tuple[str | None, str]]:
        async def pieces() -> object:
            for at in range(0, len(body), size):
                yield body[at : at + size]

        return [each async for each in read_events(pieces())]  # type: ignore[arg-type]

    for size in range(1, len(body) + 1):
        assert asyncio.run(read(size)) == [("1", '{"a":"ä\u2028😀"}'), (None, "x\ny")]


def test_a_server_that_does_not_answer_is_named() -> None:
    async def ask() -> None:
        async with AsyncClient("http://127.0.0.1:9", "k") as client:
            await client.get_training_job("job")

    with pytest.raises(httpx.ConnectError, match=r"No server answers at http://127\.0\.0\.1:9"):
        asyncio.run(ask())


def test_an_address_without_a_scheme_is_refused_when_the_client_is_created() -> None:
    with pytest.raises(ValueError, match="must be a URL such as"):
        AsyncClient("localhost:8484", "k")


def test_an_episode_is_begun_and_rewarded_once_although_the_server_restarts_meanwhile() -> None:
    asked: list[dict[str, object]] = []
    away = httpx.Response(503, json={"error": {"message": "stopping"}}, headers={"retry-after": "0"})
    answers = [away, httpx.Response(200, json=EPISODE), away, httpx.Response(200, json=EPISODE), away]

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(json.loads(request.content))
        return answers.pop(0)

    class Scalar:  # as of NumPy or PyTorch
        def __float__(self) -> float:
            return 0.5

    async def play() -> None:
        client = client_of(answer)
        episode = await client.episode("m")
        await episode.reward(True, metrics={"right": True, "score": Scalar()})
        with pytest.raises(ValueError, match=r"metrics\['loss'\] is nan: send a finite number"):
            await episode.reward(1, metrics={"loss": float("nan")})

    asyncio.run(play())
    assert asked[0] == asked[1]
    assert str(asked[0]["name"]).startswith("episode-")
    assert [each["reward"] for each in asked[2:]] == [1.0, 1.0]
    assert asked[2]["metrics"] == {"right": 1.0, "score": 0.5}


def test_a_refusal_has_the_server_s_list_of_errors() -> None:
    items = [{"loc": ["body", "n"], "msg": "Input should be a valid integer"}]
    body = {"detail": items, "error": {"message": "n: Input should be a valid integer", "code": None}}
    with pytest.raises(ApiError) as caught:
        asyncio.run(client_of(lambda _: httpx.Response(422, json=body)).chat([], n="x"))
    assert caught.value.detail == items
