"""Whatever happens to a connection, a call gets exactly one answer or is abandoned."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from server import KEY, PATIENCE, PlayedServer, play_server
from whetstone_worker.calls import Call
from whetstone_worker.compute import ComputeThread
from whetstone_worker.connection import ConnectionOptions, ServerConnection
from whetstone_worker.connection_socket import RefusedError
from whetstone_worker.errors import WorkerError


class Engine:
    """Computes when the test permits it."""

    def __init__(self) -> None:
        self.compute = ComputeThread()
        self.go = threading.Event()
        self.began = threading.Semaphore(0)
        self.forgotten = 0
        self.calls: list[Call] = []

    async def work(self, params: Any, call: Call) -> object:
        self.calls.append(call)
        return await self.compute.run(lambda: self._work(params))

    async def fail(self, params: Any, _call: Call) -> object:
        raise WorkerError("invalid_request", "no") if params == "ours" else ValueError("oops")

    async def until_it_began(self) -> None:
        assert await asyncio.to_thread(self.began.acquire, timeout=PATIENCE)

    def forget(self) -> None:
        self.forgotten += 1

    def _work(self, params: Any) -> object:
        self.began.release()
        assert self.go.wait(PATIENCE)
        return params


@asynccontextmanager
async def connected(server: PlayedServer, engine: Engine) -> AsyncIterator[tuple[ServerConnection, asyncio.Task[None]]]:
    connection = ServerConnection(options(server, engine))
    running = asyncio.create_task(connection.run())
    try:
        yield connection, running
    finally:
        running.cancel()
        engine.go.set()
        await asyncio.gather(running, return_exceptions=True)


def options(server: PlayedServer, engine: Engine) -> ConnectionOptions:
    return ConnectionOptions(
        url=server.url,
        key=KEY,
        name="test",
        version="0",
        hello={"roles": ["train"]},
        handlers={"work": engine.work, "fail": engine.fail},
        forget=engine.forget,
        pauses=(0.0,),
    )


def play(scene: Callable[[PlayedServer, Engine], Awaitable[None]]) -> None:
    async def run() -> None:
        async with play_server() as server:
            await asyncio.wait_for(scene(server, Engine()), 3 * PATIENCE)

    asyncio.run(run())


def test_a_call_is_answered_and_so_are_pings_while_it_computes() -> None:
    async def scene(server: PlayedServer, engine: Engine) -> None:
        async with connected(server, engine):
            socket = await server.next_connection()
            assert server.hellos[0]["worker"]["name"] == "test"
            assert server.hellos[0]["session"] is None
            server.call(1, "work", {"x": 1})
            await engine.until_it_began()
            await asyncio.wait_for(await socket.ping(), PATIENCE)
            engine.go.set()
            assert await server.next() == {"kind": "return", "id": 1, "value": {"x": 1}}

    play(scene)


def test_a_failed_call_reports_its_cause() -> None:
    async def scene(server: PlayedServer, engine: Engine) -> None:
        async with connected(server, engine):
            await server.next_connection()
            server.call(1, "fail", "ours")
            server.call(2, "fail", "bug")
            server.call(3, "sing")
            answers = [await server.next() for _ in range(3)]
            answers.sort(key=lambda answer: int(answer["id"]))
            assert [answer["error"]["code"] for answer in answers] == ["invalid_request", None, "invalid_request"]
            assert answers[0]["error"]["message"] == "no"
            assert "Traceback" in answers[1]["error"]["detail"]
            assert "no procedure 'sing'" in answers[2]["error"]["message"]

    play(scene)


def test_a_call_survives_a_lost_connection() -> None:
    async def scene(server: PlayedServer, engine: Engine) -> None:
        async with connected(server, engine):
            first = await server.next_connection()
            server.call(1, "work", "a")
            await engine.until_it_began()
            first.transport.abort()
            await server.next_connection()
            assert server.hellos[1]["worker"] == server.hellos[0]["worker"]
            assert server.hellos[1]["session"] == {"id": "session-1", "received": 1}
            engine.go.set()
            assert await server.next() == {"kind": "return", "id": 1, "value": "a"}
            assert engine.forgotten == 0

    play(scene)


def test_a_server_that_forgot_the_session_gets_nothing_from_it() -> None:
    async def scene(server: PlayedServer, engine: Engine) -> None:
        async with connected(server, engine):
            first = await server.next_connection()
            server.call(1, "work", "lost")
            server.call(2, "work", "lost too")
            await engine.until_it_began()
            server.forget()
            first.transport.abort()
            await server.next_connection()
            engine.go.set()
            server.call(1, "work", "new")
            assert await server.next() == {"kind": "return", "id": 1, "value": "new"}
            assert engine.forgotten == 1
            assert [call.aborted for call in engine.calls] == [True, True, False]

    play(scene)


def test_a_silent_server_is_dialled_again() -> None:
    async def scene(server: PlayedServer, engine: Engine) -> None:
        server.heartbeat_ms = 20
        async with connected(server, engine):
            first = await server.next_connection()
            first.transport.pause_reading()
            await server.next_connection()
            assert server.hellos[1]["session"]["id"] == "session-1"
            first.transport.abort()

    play(scene)


def test_a_worker_asked_to_leave_finishes_its_calls_and_closes() -> None:
    async def scene(server: PlayedServer, engine: Engine) -> None:
        async with connected(server, engine) as (connection, running):
            await server.next_connection()
            server.call(1, "work", "last")
            await engine.until_it_began()
            connection.leave()
            assert await server.next() == {"kind": "notice", "name": "draining", "payload": None}
            engine.go.set()
            assert await server.next() == {"kind": "return", "id": 1, "value": "last"}
            await asyncio.wait_for(running, PATIENCE)
            assert await server.next_close() == 1000

    play(scene)


def test_a_worker_asked_to_leave_without_a_connection_leaves() -> None:
    async def scene(server: PlayedServer, engine: Engine) -> None:
        connection = ServerConnection(replace(options(server, engine), url="http://127.0.0.1:1", pauses=(3600.0,)))
        running = asyncio.create_task(connection.run())
        await asyncio.sleep(0)
        connection.leave()
        await asyncio.wait_for(running, PATIENCE)

    play(scene)


def test_a_refusal_ends_the_worker_with_the_server_s_message() -> None:
    async def scene(server: PlayedServer, engine: Engine) -> None:
        server.refuse = lambda: {"code": "unknown_model", "message": "It has: starter."}
        with pytest.raises(RefusedError, match=r"refuses this worker \(unknown_model\): It has: starter\."):
            await ServerConnection(options(server, engine)).run()

    play(scene)


def test_a_server_with_too_many_workers_is_dialled_again() -> None:
    async def scene(server: PlayedServer, engine: Engine) -> None:
        answers = iter([{"code": "too_many_workers", "message": "Later."}, None])
        server.refuse = lambda: next(answers)
        async with connected(server, engine):
            await server.next_connection()
            assert len(server.hellos) == 2

    play(scene)


def test_a_fault_before_the_upgrade_ends_the_worker() -> None:
    async def scene(server: PlayedServer, engine: Engine) -> None:
        good = options(server, engine)
        elsewhere = server.url.replace("base", "elsewhere")
        with pytest.raises(RefusedError, match="401: the key"):
            await ServerConnection(replace(good, key="wrong")).run()
        with pytest.raises(RefusedError, match="404: this is no"):
            await ServerConnection(replace(good, url=elsewhere)).run()

    play(scene)


def test_a_worker_that_still_computes_for_a_forgotten_session_begins_no_other() -> None:
    async def scene(server: PlayedServer, engine: Engine) -> None:
        asked = 0

        def busy() -> str | None:
            nonlocal asked
            asked += len(engine.calls)
            return "a row is still being computed" if engine.calls and not engine.go.is_set() else None

        connection = ServerConnection(replace(options(server, engine), busy=busy))
        running = asyncio.create_task(connection.run())
        first = await server.next_connection()
        server.call(1, "work", "lost")
        await engine.until_it_began()
        server.forget()
        first.transport.abort()
        await server.next_connection()  # it learns that it was forgotten, and leaves
        assert [await server.next_close() for _ in range(2)][1] == 1000
        while asked < 5:
            await asyncio.sleep(0)
        assert len(server.hellos) == 2
        engine.go.set()
        await server.next_connection()
        server.call(1, "work", "new")
        assert await server.next() == {"kind": "return", "id": 1, "value": "new"}
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    play(scene)
