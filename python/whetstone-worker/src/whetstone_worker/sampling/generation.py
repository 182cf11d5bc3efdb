"""One `generate` call: its choices as concurrent requests to vLLM, their tokens as events in order of arrival. Ends choices
that are no longer wanted, and reads no faster than the caller takes events. Does not know adapters or the connection.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from whetstone_worker.calls import Call
from whetstone_worker.errors import WorkerError
from whetstone_worker.sampling.completions import (
    Token,
    answering_part,
    completion_body,
    prompt_body,
    read_cached_count,
    read_prompt_logprobs,
    read_tokens,
    thinking_part,
)
from whetstone_worker.sampling.request import GenerateRequest
from whetstone_worker.sampling.vllm_client import VllmClient

Form = Mapping[str, object] | None
"""A constraint in vLLM's format."""


class Generation:
    """`model`: vLLM's name of the base model or the adapter."""

    def __init__(
        self, client: VllmClient, request: GenerateRequest, model: str, form: Form, vocab_size: int, call: Call
    ) -> None:
        self._client = client
        self._request = request
        self._model = model
        self._form = form
        self._vocab_size = vocab_size
        self._call = call
        self._is_read = asyncio.Event()
        self._is_read.set()
        self._report: dict[str, object] | None = None
        """The report on the prompt, which is sent with the next event."""
        self._has_reported = False

    async def run(self) -> None:
        about_prompt = asyncio.create_task(self._ask_about_prompt())
        choices = [asyncio.create_task(self._choice(index, about_prompt)) for index in range(self._request.n)]

        def end_all() -> None:
            for task in (about_prompt, *choices):
                task.cancel()

        def take(control: Any) -> None:
            match control:
                case {"isUnread": True}:
                    self._is_read.clear()
                case {"isUnread": False}:
                    self._is_read.set()
                case int(index) if 0 <= index < len(choices):
                    choices[index].cancel()

        self._call.listen(end_all, take)
        try:
            done, _ = await asyncio.wait(choices, return_when=asyncio.FIRST_EXCEPTION)
            for choice in done:
                if not choice.cancelled():
                    choice.result()
        finally:
            end_all()
            await asyncio.gather(about_prompt, *choices, return_exceptions=True)
        if self._call.aborted:
            raise WorkerError("cancelled", "The request was cancelled.")

    async def _choice(self, index: int, about_prompt: asyncio.Task[None]) -> None:
        await asyncio.shield(about_prompt)  # the other choices need it too
        async with aclosing(self._tokens(index)) as tokens:
            async for token in tokens:
                await self._is_read.wait()  # vLLM continues meanwhile, at most to the end of the answer
                await self._call.wait_for_room()
                event = token.to_event(index)
                if self._report is not None:
                    event["prompt"], self._report = self._report, None
                self._call.emit(event)

    async def _tokens(self, index: int) -> AsyncGenerator[Token, None]:
        request = self._request
        if self._form is not None and request.after_token_id is not None:
            thought: list[int] = []
            goes_on = False
            async with aclosing(self._part(thinking_part(request), index, None)) as tokens:
                async for token in tokens:
                    thought.append(token.id)
                    if self._ends_thinking(token):
                        goes_on = len(thought) < request.sampling.max_tokens
                        yield replace(token, finish_reason=None if goes_on else "length")
                    else:
                        yield token
            if not goes_on:
                return
            request = answering_part(request, thought)
        async with aclosing(self._part(request, index, self._form)) as tokens:
            async for token in tokens:
                yield token

    def _ends_thinking(self, token: Token) -> bool:
        """Whether the token ends the reasoning but not the answer."""
        request = self._request
        return token.id == request.after_token_id and token.id not in request.sampling.stop_token_ids

    async def _part(self, request: GenerateRequest, index: int, form: Form) -> AsyncGenerator[Token, None]:
        """Holds back the last token until vLLM has reported how much of the prompt came from its cache."""
        body = completion_body(request, index, self._model, form, self._vocab_size)
        last: Token | None = None
        async with aclosing(self._client.stream(body)) as messages:
            async for message in messages:
                self._note_cached(read_cached_count(message))
                for token in read_tokens(message, request.sampling.top_logprobs):
                    if token.finish_reason is None:
                        yield token
                    else:
                        last = token
        if last is None:
            raise WorkerError("engine_failed", "vLLM ended an answer before it was complete.")
        yield last

    async def _ask_about_prompt(self) -> None:
        """Requests the prompt's log-probabilities if they are wanted. vLLM then computes the whole prompt, cached or not."""
        count = self._request.sampling.prompt_logprobs
        if count is None:
            return
        self._has_reported = True
        answer = await self._client.complete(prompt_body(self._request, self._model, self._vocab_size))
        logprobs = read_prompt_logprobs(answer, self._request.prompt, count)
        self._report = {"cachedTokenCount": 0, "logprobs": logprobs}

    def _note_cached(self, count: int | None) -> None:
        if count is not None and not self._has_reported:
            self._has_reported = True
            self._report = {"cachedTokenCount": count, "logprobs": None}
