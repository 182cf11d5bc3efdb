"""A sampling worker, from its command to a server: it is connected only while vLLM can sample."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from repository import STARTER
from server import KEY, PATIENCE, PlayedServer, play_server
from test_vllm_process import PLAYED, SOURCE, pid_of, wait_until_gone
from vllm_scenes import GENERATED, PREPARED, asked
from whetstone_worker.errors import WorkerError
from whetstone_worker.sampling import run_sampler as run_sampler_module
from whetstone_worker.sampling.options import SamplerOptions
from whetstone_worker.sampling.run_sampler import run_sampler
from whetstone_worker.worker_options import WorkerOptions

Scene = Callable[[PlayedServer, "asyncio.Task[None]"], Awaitable[None]]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_sampler_module, "RESTART_PAUSES", (0.0, 0.0))


def play(directory: Path, moods: str, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("PLAYED_DIRECTORY", str(directory)), ("PLAYED_MOODS", moods), ("PYTHONPATH", str(SOURCE))):
        monkeypatch.setenv(name, value)
    sampler = SamplerOptions(
        dtype="float32",
        sequences_max=4,
        adapters_max=2,
        adapters_in_batch_max=1,
        adapter_rank_max=8,
        ready_seconds=PATIENCE,
        vllm_command=(sys.executable, str(PLAYED)),
        vllm_arguments=(),
    )

    async def run() -> None:
        async with play_server() as server:
            options = WorkerOptions(
                url=server.url,
                key=KEY,
                model=str(STARTER),
                model_id="starter",
                name="test",
                device=None,
                memory_bytes=None,
                memory_share=None,
                row_length_max=None,
                cache_directory=directory / "cache",
                cache_bytes_max=1 << 20,
            )
            running = asyncio.create_task(run_sampler(options, sampler))
            try:
                await asyncio.wait_for(scene(server, running), 5 * PATIENCE)
            finally:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)

    asyncio.run(run())


async def answer_of(server: PlayedServer, number: int) -> tuple[list[Any], Any]:
    """Returns the events and the end of a call."""
    events: list[Any] = []
    while True:
        message = await server.next()
        if message["kind"] == "events":
            events += [event["payload"] for event in message["events"] if event["id"] == number]
        elif message.get("id") == number:
            return events, message


def test_a_worker_announces_its_capabilities_and_answers_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene(server: PlayedServer, running: "asyncio.Task[None]") -> None:
        await server.next_connection()
        (hello,) = server.hellos
        assert hello["roles"] == ["sample"]
        sampler = hello["sampler"]
        assert (sampler["contextLength"], sampler["vocabSize"], sampler["sequencesMax"]) == (1024, 1626, 4)
        assert sampler["capabilities"]["precision"] == "float32"
        assert sampler["capabilities"]["exactReplay"] is False
        assert await server.next() == {
            "kind": "notice",
            "name": "status",
            "payload": {"running": 0, "waiting": 0, "adapters": []},
        }
        server.call(1, "generate", GENERATED["greedy"])
        events, end = await answer_of(server, 1)
        assert end == {"kind": "return", "id": 1, "value": None}
        assert len(events) == 6
        server.call(2, "prepare", {"constraint": PREPARED["regex"], "payer": ""})
        assert (await answer_of(server, 2))[1]["kind"] == "return"
        server.call(3, "prepare", {"constraint": PREPARED["unclosed"], "payer": ""})
        error = (await answer_of(server, 3))[1]["error"]
        assert error["code"] == "invalid_constraint"
        assert "This constraint cannot be used: vLLM answered 400" in error["message"]
        server.call(4, "generate", asked({"maxTokens": 2000}))
        assert (await answer_of(server, 4))[1]["error"]["code"] == "context_length_exceeded"
        os.kill(os.getpid(), signal.SIGTERM)
        await running
        assert await server.next_close() == 1000

    play(tmp_path, "good", scene, monkeypatch)
    wait_until_gone(pid_of(tmp_path))


def test_its_status_reports_the_running_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene(server: PlayedServer, running: "asyncio.Task[None]") -> None:
        await server.next_connection()
        for number in (1, 2, 3):
            server.call(number, "generate", GENERATED["long"])
        statuses: list[Any] = []
        while not statuses or statuses[-1] != {"running": 4, "waiting": 2, "adapters": []}:
            message = await server.next()
            if message["kind"] == "notice":
                statuses.append(message["payload"])
        for number in (1, 2, 3):
            server.send({"kind": "abort", "id": number})
        while statuses[-1]["running"] > 0:
            message = await server.next()
            if message["kind"] == "notice":
                statuses.append(message["payload"])
        assert not running.done()

    play(tmp_path, "held", scene, monkeypatch)


def test_calls_end_when_vllm_dies_and_it_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def scene(server: PlayedServer, _: "asyncio.Task[None]") -> None:
        await server.next_connection()
        server.call(1, "generate", GENERATED["long"])
        while (await server.next())["kind"] != "events":
            pass
        os.kill(pid_of(tmp_path), signal.SIGKILL)
        order: list[Any] = []
        while not order or order[-1]["kind"] != "throw":
            order.append(await server.next())
        assert {"kind": "notice", "name": "draining", "payload": None} in order  # before, so that repeats go to another worker
        error = order[-1]["error"]
        assert error["code"] == "engine_unavailable"
        assert "is being restarted" in error["message"]
        assert await server.next_close() == 1000
        server.forget()
        await server.next_connection()  # of the next vLLM
        server.call(1, "generate", GENERATED["greedy"])
        assert (await answer_of(server, 1))[1]["kind"] == "return"

    with caplog.at_level(logging.INFO):
        play(tmp_path, "held,good", scene, monkeypatch)
    assert "vLLM stopped and is being restarted: it ended with code 137" in caplog.text
    assert "vLLM: INFO reading the model" in caplog.text


def test_a_vllm_that_dies_repeatedly_is_given_up_with_the_cause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene(server: PlayedServer, running: "asyncio.Task[None]") -> None:
        for start in range(3):
            await server.next_connection()
            os.kill(pid_of(tmp_path, start), signal.SIGKILL)
            await server.next_close()
            server.forget()
        with pytest.raises(WorkerError, match=r"stopped 3 times in a row and is not restarted: it ended with code 137"):
            await running

    play(tmp_path, "good", scene, monkeypatch)


def test_a_vllm_that_does_not_start_again_counts_as_dead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def scene(server: PlayedServer, _: "asyncio.Task[None]") -> None:
        await server.next_connection()
        os.kill(pid_of(tmp_path), signal.SIGKILL)
        server.forget()
        await server.next_connection()

    play(tmp_path, "good,broken,good", scene, monkeypatch)
    assert "being restarted: vLLM did not start: it ended with code 3" in caplog.text


def test_a_vllm_that_does_not_start_ends_the_worker_with_the_cause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene(server: PlayedServer, running: "asyncio.Task[None]") -> None:
        with pytest.raises(WorkerError, match="ValueError: no such model"):
            await running
        assert server.hellos == []

    play(tmp_path, "broken", scene, monkeypatch)


def test_a_worker_asked_to_leave_while_vllm_loads_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene(server: PlayedServer, running: "asyncio.Task[None]") -> None:
        while not (tmp_path / "ready-0").exists():
            await asyncio.sleep(0.02)
        os.kill(os.getpid(), signal.SIGTERM)
        await running
        assert server.hellos == []

    play(tmp_path, "slow", scene, monkeypatch)
    wait_until_gone(pid_of(tmp_path))
