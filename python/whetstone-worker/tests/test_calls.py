"""Streaming calls: events precede the end, in order, and messages of the caller reach the handler."""

import asyncio
from typing import Any

from whetstone_worker.calls import Call, CallServer
from whetstone_worker.errors import WorkerError


class Wire:
    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.calls: list[Call] = []
        self.go = asyncio.Event()
        self.server = CallServer({"count": self.count, "wait": self.wait}, self.sent.append, self.has_room)

    async def has_room(self) -> None:
        pass

    async def count(self, params: Any, call: Call) -> object:
        for number in range(params["to"]):
            call.emit(number)
            if number in params["pauses"]:
                await asyncio.sleep(0)
        if params["fails"]:
            raise WorkerError("too_many_requests", "no more", param="n", retry_after_seconds=5)
        return None

    async def wait(self, _: Any, call: Call) -> object:
        self.calls.append(call)
        await self.go.wait()
        return None

    def call(self, number: int, method: str, params: object = None) -> None:
        self.server.take({"kind": "call", "id": number, "method": method, "params": params})


def count(to: int, pauses: tuple[int, ...] = (), *, fails: bool = False) -> dict[str, object]:
    return {"to": to, "pauses": pauses, "fails": fails}


def test_events_of_one_turn_are_sent_in_one_message_before_the_end() -> None:
    async def scene() -> None:
        wire = Wire()
        wire.call(1, "count", count(3))
        wire.call(2, "count", count(2))
        await wire.server.until_idle()
        events = [event for message in wire.sent if message["kind"] == "events" for event in message["events"]]
        assert [event["payload"] for event in events if event["id"] == 1] == [0, 1, 2]
        for number in (1, 2):
            kinds = [message["kind"] for message in wire.sent if _is_of(message, number)]
            assert kinds[-1] == "return"
            assert set(kinds[:-1]) == {"events"}

    asyncio.run(scene())


def test_events_do_not_wait_for_the_end() -> None:
    async def scene() -> None:
        wire = Wire()
        wire.call(1, "count", count(2, pauses=(0,)))
        await wire.server.until_idle()
        assert [message["kind"] for message in wire.sent] == ["events", "events", "return"]

    asyncio.run(scene())


def test_a_failure_follows_its_events_and_names_the_field_and_when_to_retry() -> None:
    async def scene() -> None:
        wire = Wire()
        wire.call(1, "count", count(1, fails=True))
        await wire.server.until_idle()
        events, thrown = wire.sent
        assert events == {"kind": "events", "events": [{"id": 1, "payload": 0}]}
        error = thrown["error"]
        assert (error["code"], error["param"], error["retryAfterSeconds"]) == ("too_many_requests", "n", 5)

    asyncio.run(scene())


def test_messages_sent_before_the_handler_listens_are_not_lost() -> None:
    async def scene() -> None:
        wire = Wire()
        heard: list[Any] = []
        wire.call(1, "wait")
        await asyncio.sleep(0)
        wire.server.take({"kind": "tell", "id": 1, "payload": "first"})
        wire.server.take({"kind": "tell", "id": 99, "payload": "to nobody"})
        (call,) = wire.calls
        call.listen(lambda: heard.append("aborted"), heard.append)
        wire.server.take({"kind": "tell", "id": 1, "payload": "second"})
        wire.server.take({"kind": "abort", "id": 1})
        assert heard == ["first", "second", "aborted"]
        assert call.aborted
        late: list[Any] = []
        call.listen(lambda: late.append("aborted"), late.append)
        assert late[-1] == "aborted"
        wire.go.set()
        await wire.server.until_idle()

    asyncio.run(scene())


def test_an_abandoned_call_sends_nothing_more() -> None:
    async def scene() -> None:
        wire = Wire()
        wire.call(1, "wait")
        await asyncio.sleep(0)
        (call,) = wire.calls
        call.emit("before")
        wire.server.abandon()
        call.emit("after")
        await asyncio.sleep(0.01)
        assert wire.sent == []

    asyncio.run(scene())


def _is_of(message: Any, number: int) -> bool:
    return bool(message.get("id") == number or any(event["id"] == number for event in message.get("events", [])))
