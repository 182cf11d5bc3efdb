"""Two ends of a channel whose connections break at any message: every message arrives once, in order."""

import asyncio
import random
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

from whetstone_worker.channel import ACK_AFTER_BYTES, ACK_AFTER_SECONDS, NumberedChannel
from whetstone_worker.messages import decode_message, encode_message


class Timer:
    def __init__(self, seconds: float, ring: Callable[[], None]) -> None:
        self.seconds = seconds
        self.ring = ring
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class Line:
    """The messages in transit to the other end."""

    def __init__(self) -> None:
        self.waiting: deque[bytes] = deque()
        self.closed: list[tuple[int, str]] = []

    def send(self, data: bytes) -> None:
        self.waiting.append(data)

    def close(self, code: int, reason: str) -> None:
        self.closed.append((code, reason))


class Lab:
    """Two connected ends. Breaking the connection loses the messages in transit."""

    def __init__(self) -> None:
        self.came: tuple[list[int], list[int]] = ([], [])
        self.timers: list[Timer] = []
        self.ends = [NumberedChannel(1_000_000, came.append, self.call_later) for came in self.came]
        self.connect()

    def call_later(self, seconds: float, ring: Callable[[], None]) -> Timer:
        self.timers.append(Timer(seconds, ring))
        return self.timers[-1]

    def connect(self) -> None:
        self.lines = [Line(), Line()]
        known = [end.received for end in self.ends]
        for at, end in enumerate(self.ends):
            end.attach(self.lines[at], known[1 - at])

    def break_off(self) -> None:
        for end in self.ends:
            end.detach()

    def let_through(self, source: int) -> None:
        if self.lines[source].waiting:
            self.ends[1 - source].take(self.lines[source].waiting.popleft())

    def ring(self) -> None:
        timers, self.timers = self.timers, []
        for timer in timers:
            if not timer.cancelled:
                timer.ring()

    def settle(self) -> None:
        while any(line.waiting for line in self.lines):
            self.let_through(0)
            self.let_through(1)


@pytest.mark.parametrize("seed", range(100))
def test_every_message_arrives_once_and_in_order_whenever_connections_break(seed: int) -> None:
    chance = random.Random(seed)
    lab = Lab()
    sent = [0, 0]
    for _ in range(chance.randrange(200)):
        step, end = chance.choices(["send", "pass", "ring", "break"], [5, 5, 1, 1])[0], chance.randrange(2)
        if step == "send":
            sent[end] += 1
            lab.ends[end].send(sent[end])
        elif step == "pass":
            lab.let_through(end)
        elif step == "ring":
            lab.ring()
        else:
            lab.break_off()
            lab.connect()
    lab.break_off()
    lab.connect()
    lab.settle()
    assert not any(line.closed for line in lab.lines)
    assert lab.came == (list(range(1, sent[1] + 1)), list(range(1, sent[0] + 1)))


def test_messages_are_acknowledged_a_second_after_the_first_of_them() -> None:
    lab = Lab()
    lab.ends[0].send("a")
    lab.ends[0].send("b")
    lab.settle()
    assert [timer.seconds for timer in lab.timers] == [ACK_AFTER_SECONDS]
    lab.ring()
    assert [decode_message(data) for data in lab.lines[1].waiting] == [[0, 2, None]]


def test_a_mebibyte_is_acknowledged_at_once_and_a_message_acknowledges_too() -> None:
    lab = Lab()
    lab.ends[0].send(bytes(ACK_AFTER_BYTES))
    lab.let_through(0)
    assert [decode_message(data) for data in lab.lines[1].waiting] == [[0, 1, None]]
    lab.ends[0].send("short")
    lab.let_through(0)
    lab.ends[1].send("answer")
    assert decode_message(lab.lines[1].waiting[-1]) == [1, 2, "answer"]
    assert all(timer.cancelled for timer in lab.timers)


def test_a_channel_has_no_room_until_the_other_end_acknowledges() -> None:
    async def run() -> None:
        channel = NumberedChannel(100, lambda _: None, asyncio.get_running_loop().call_later)
        channel.attach(Line(), 0)
        await channel.wait_for_room()
        for number in range(50):
            channel.send(number)
        waiting = asyncio.create_task(channel.wait_for_room())
        await asyncio.sleep(0)
        assert not waiting.done()
        channel.take(encode_message([0, 50, None]))
        await asyncio.wait_for(waiting, 10)

    asyncio.run(run())


def test_a_message_that_cannot_be_encoded_takes_no_number() -> None:
    lab = Lab()
    with pytest.raises(TypeError):
        lab.ends[0].send(object())
    lab.ends[0].send(1)
    lab.settle()
    assert lab.came[1] == [1]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xc1", "invalid frame"),
        (encode_message([1, 0, "abcdef"])[:5], "invalid frame"),
        (encode_message({"seq": 1}), "a frame must be [seq, ack, message]"),
        (encode_message([2, 0, "x"]), "message 2 arrived after message 0"),
        (encode_message([0, 1, None]), "message 1 was acknowledged, but only 0 were sent"),
        (encode_message([-1, 0, "x"]), "a frame must be"),
        (encode_message([True, 0, "x"]), "a frame must be"),
    ],
)
def test_invalid_frames_close_the_connection_with_the_cause(data: bytes, reason: str) -> None:
    came: list[Any] = []
    channel = NumberedChannel(100, came.append, Timer)
    line = Line()
    channel.attach(line, 0)
    channel.take(data)
    assert [code for code, _ in line.closed] == [4002]
    assert reason in line.closed[0][1]
    assert came == []
