"""A `generate` call against recorded responses of a real vLLM, over a real socket."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from played_vllm import PlayedVllm, play_vllm
from server import PATIENCE
from vllm_scenes import GENERATED, STARTER_END, STARTER_VOCAB, THINKING_END
from whetstone_worker.calls import Call
from whetstone_worker.errors import WorkerError
from whetstone_worker.sampling.generation import Generation
from whetstone_worker.sampling.request import read_generate_request
from whetstone_worker.sampling.structured_outputs import structured_outputs
from whetstone_worker.sampling.vllm_client import MODEL, open_vllm_client


class Listener:
    """The caller of the procedure."""

    def __init__(self, played: PlayedVllm) -> None:
        self.vllm = played
        self.events: list[Any] = []
        self.room = asyncio.Event()
        self.room.set()
        self._came = asyncio.Event()
        self.call = Call(self._take, self._has_room)

    async def until(self, count: int) -> None:
        """Waits for this number of events."""
        while len(self.events) < count:
            self._came.clear()
            await asyncio.wait_for(self._came.wait(), PATIENCE)

    def of(self, choice: int) -> list[Any]:
        return [event for event in self.events if event["choiceIndex"] == choice]

    def _take(self, event: object) -> None:
        self.events.append(event)
        self._came.set()

    async def _has_room(self) -> None:
        await self.room.wait()


Scene = Callable[[Listener, "asyncio.Task[None]"], Awaitable[None]]


def play(name: str, directory: Path, scene: Scene, prepare: Callable[[PlayedVllm], None] = lambda _: None) -> None:
    async def run() -> None:
        async with play_vllm(directory) as (played, socket), open_vllm_client(socket) as client:
            prepare(played)
            listener = Listener(played)
            request = read_generate_request(GENERATED[name])
            form = structured_outputs(request.constraint)[0] if request.constraint else None
            generation = Generation(client, request, MODEL, form, STARTER_VOCAB, listener.call)
            running = asyncio.create_task(generation.run())
            try:
                await asyncio.wait_for(scene(listener, running), 3 * PATIENCE)
            finally:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)

    asyncio.run(run())


def holding(pieces: int) -> Callable[[PlayedVllm], None]:
    def prepare(played: PlayedVllm) -> None:
        played.hold_after = pieces

    return prepare


def test_tokens_have_their_logprobs_and_the_best_alternatives(tmp_path: Path) -> None:
    async def scene(listener: Listener, running: "asyncio.Task[None]") -> None:
        await running
        events = listener.events
        assert len(events) == 6
        assert [event["finishReason"] for event in events] == [None] * 5 + ["length"]
        for event in events:
            top = event["topLogprobs"]
            assert len(top) == 3
            assert top[0] == {"tokenId": event["tokenId"], "logprob": event["logprob"]}  # greedy
            assert top[0]["logprob"] >= top[1]["logprob"] >= top[2]["logprob"]
            assert event["logprob"] <= 0

    play("greedy", tmp_path, scene)


def test_each_choice_is_a_request_with_its_own_seed(tmp_path: Path) -> None:
    async def scene(listener: Listener, running: "asyncio.Task[None]") -> None:
        await running
        assert sorted(body["seed"] for _, body in listener.vllm.asked) == [7, 8]
        assert [len(listener.of(choice)) for choice in (0, 1)] == [4, 4]
        assert [event["tokenId"] for event in listener.of(0)] != [event["tokenId"] for event in listener.of(1)]
        assert all(len(event["topLogprobs"]) == 2 for event in listener.events)

    play("two choices", tmp_path, scene)


def test_every_parameter_is_passed_on(tmp_path: Path) -> None:
    async def scene(listener: Listener, running: "asyncio.Task[None]") -> None:
        await running
        assert {event["tokenId"] for event in listener.events} <= set(range(20, 60))

    play("everything", tmp_path, scene)


def test_the_cached_count_of_the_prompt_is_reported_once(tmp_path: Path) -> None:
    async def scene(listener: Listener, running: "asyncio.Task[None]") -> None:
        await running
        (report,) = [event["prompt"] for event in listener.events if "prompt" in event]
        assert report["logprobs"] is None
        assert report["cachedTokenCount"] >= 0

    play("long", tmp_path, scene)


def test_logprobs_of_the_prompt_come_with_the_first_event(tmp_path: Path) -> None:
    async def scene(listener: Listener, running: "asyncio.Task[None]") -> None:
        await running
        first, *others = listener.events
        rows = first["prompt"]["logprobs"]
        prompt = GENERATED["prompt"]["promptTokens"]
        assert rows[0] is None
        assert [row[0]["tokenId"] for row in rows[1:]] == prompt[1:]
        assert all(2 <= len(row) <= 3 and row[0]["rank"] >= 1 for row in rows[1:])
        assert not any("prompt" in event for event in others)
        assert len(listener.events) == 2

    play("prompt", tmp_path, scene)


def test_a_constraint_holds_until_the_model_ends_the_answer(tmp_path: Path) -> None:
    async def scene(listener: Listener, running: "asyncio.Task[None]") -> None:
        await running
        assert listener.events[-1]["finishReason"] == "stop"
        assert listener.events[-1]["tokenId"] == STARTER_END

    play("schema", tmp_path, scene)


def test_a_constraint_after_reasoning_starts_when_the_reasoning_ends(tmp_path: Path) -> None:
    async def scene(listener: Listener, running: "asyncio.Task[None]") -> None:
        await running
        first, second = [body for _, body in listener.vllm.asked]
        assert "structured_outputs" not in first
        tokens = [event["tokenId"] for event in listener.events]
        thought = tokens[: tokens.index(THINKING_END) + 1]
        assert second["prompt"] == [*first["prompt"], *thought]
        assert second["structured_outputs"]
        reasons = [event["finishReason"] for event in listener.events]
        assert reasons == [None] * (len(reasons) - 1) + ["stop"]
        assert len(tokens) > len(thought)
        assert sum("prompt" in event for event in listener.events) == 1

    play("thinking", tmp_path, scene)


def test_a_cancelled_choice_ends_alone(tmp_path: Path) -> None:
    async def scene(listener: Listener, running: "asyncio.Task[None]") -> None:
        await listener.until(2)
        listener.call.tell(1)
        await asyncio.wait_for(listener.vllm.left.get(), PATIENCE)
        before = len(listener.of(1))
        listener.vllm.go.set()
        await running
        assert len(listener.of(0)) == 40
        assert len(listener.of(1)) == before
        assert listener.vllm.left.empty()

    play("long", tmp_path, scene, holding(3))


def test_a_cancelled_call_ends_all_its_choices(tmp_path: Path) -> None:
    async def scene(listener: Listener, running: "asyncio.Task[None]") -> None:
        await listener.until(2)
        listener.call.abort()
        with pytest.raises(WorkerError) as fault:
            await running
        assert fault.value.code == "cancelled"
        for _ in range(2):
            await asyncio.wait_for(listener.vllm.left.get(), PATIENCE)

    play("long", tmp_path, scene, holding(3))


def test_a_call_aborted_before_it_began_sends_no_request(tmp_path: Path) -> None:
    async def scene(listener: Listener, running: "asyncio.Task[None]") -> None:
        listener.call.abort()
        with pytest.raises(WorkerError) as fault:
            await running
        assert fault.value.code == "cancelled"
        assert listener.events == []

    play("long", tmp_path, scene)


def test_choices_end_with_their_session(tmp_path: Path) -> None:
    async def scene(listener: Listener, running: "asyncio.Task[None]") -> None:
        await listener.until(2)
        running.cancel()
        for _ in range(2):
            await asyncio.wait_for(listener.vllm.left.get(), PATIENCE)

    play("long", tmp_path, scene, holding(3))


@pytest.mark.parametrize("who", ["a reader who does not read", "a connection without room"])
def test_events_wait_for_their_reader(tmp_path: Path, who: str) -> None:
    is_reader = who.startswith("a reader")

    async def scene(listener: Listener, running: "asyncio.Task[None]") -> None:
        await listener.until(2)
        if is_reader:
            listener.call.tell({"isUnread": True})
        else:
            listener.room.clear()
        listener.vllm.go.set()
        before = len(listener.events)
        while listener.vllm.sent < 2 * 10:  # vLLM continues
            await asyncio.sleep(0.01)
        assert len(listener.events) <= before + 2  # one event that each choice had already taken
        assert not running.done()
        if is_reader:
            listener.call.tell({"isUnread": False})
        else:
            listener.room.set()
        await running
        assert [len(listener.of(choice)) for choice in (0, 1)] == [40, 40]

    play("long", tmp_path, scene, holding(3))


def test_a_vllm_that_breaks_off_is_reported_as_gone(tmp_path: Path) -> None:
    async def scene(_: Listener, running: "asyncio.Task[None]") -> None:
        with pytest.raises(WorkerError, match="stopped in the middle") as fault:
            await running
        assert fault.value.code == "engine_unavailable"

    def prepare(played: PlayedVllm) -> None:
        played.cut_after = 3

    play("long", tmp_path, scene, prepare)


def test_refusals_of_vllm_are_passed_on_with_its_message(tmp_path: Path) -> None:
    async def scene(_: Listener, running: "asyncio.Task[None]") -> None:
        with pytest.raises(WorkerError, match=r"vLLM answered 400: Grammar error: .*unclosed") as fault:
            await running
        assert fault.value.code == "invalid_request"

    play("refused", tmp_path, scene)
