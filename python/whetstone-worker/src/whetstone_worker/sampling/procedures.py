"""The procedures of a sampler (docs/worker-protocol.md, section 4) on one vLLM. Counts running choices, refuses excess ones,
and remembers which constraints vLLM has accepted. Does not know the connection.
"""

import asyncio
from collections import OrderedDict
from contextlib import suppress
from functools import partial
from typing import Any

from whetstone_worker.calls import Call, Handler
from whetstone_worker.errors import WorkerError
from whetstone_worker.sampling.adapters import Adapters
from whetstone_worker.sampling.base_model import BaseModel
from whetstone_worker.sampling.generation import Form, Generation
from whetstone_worker.sampling.request import (
    Constraint,
    GenerateRequest,
    ModelShape,
    check_request,
    read_adapter,
    read_constraint,
    read_generate_request,
)
from whetstone_worker.sampling.structured_outputs import CONSTRAINT_KINDS, structured_outputs
from whetstone_worker.sampling.vllm_client import MODEL, VllmClient, VllmGoneError
from whetstone_worker.waiting import result_within

WAITING_MAX = 4_096
"""Choices accepted beyond those computed at once. The server sends more only for a single request with many choices."""
NOTICE_SECONDS = 40.0
"""Time to notice that vLLM is gone: longer than its health check takes."""
FORMS_MAX = 256
"""Number of constraints remembered; each costs the memory of its text."""


class SamplerProcedures:
    def __init__(
        self, client: VllmClient, adapters: Adapters, model: ModelShape, sequences_max: int, base_name: str = MODEL
    ) -> None:
        """`base_name`: vLLM's model name for requests without an adapter."""
        self._client = client
        self._adapters = adapters
        self._model = model
        self._sequences_max = sequences_max
        self._base_name = base_name
        self._choices = 0
        """The number of choices of all running calls."""
        self._forms: OrderedDict[Constraint, Form] = OrderedDict()

        self.takes_no_calls = asyncio.Event()
        """Set once the server knows that this worker takes no calls."""

    def handlers(self) -> dict[str, Handler]:
        handlers: dict[str, Handler] = {
            "generate": self.generate,
            "prepare": self.prepare,
            "loadAdapter": self.load_adapter,
            "unloadAdapter": self.unload_adapter,
        }
        return {name: partial(self._in_order, handler) for name, handler in handlers.items()}

    async def _in_order(self, handler: Handler, params: Any, call: Call) -> object:
        """If vLLM is gone, calls fail only after the server knows, so that it sends repeats to another worker."""
        try:
            return await handler(params, call)
        except WorkerError as fault:
            is_gone = isinstance(fault, VllmGoneError) or (
                fault.code == "engine_failed" and not await self._client.is_healthy()
            )
            if not is_gone:
                raise
            with suppress(asyncio.TimeoutError):
                await result_within(self.takes_no_calls.wait(), NOTICE_SECONDS)
            raise VllmGoneError from fault

    def status(self) -> dict[str, object]:
        running = min(self._choices, self._sequences_max)
        return {"running": running, "waiting": self._choices - running, "adapters": self._adapters.ids}

    async def generate(self, params: Any, call: Call) -> None:
        request = read_generate_request(params)
        check_request(request, self._model)
        if self._choices + request.n > self._sequences_max + WAITING_MAX:
            words = f"{self._choices} choices are already running or waiting on this worker. Try again later."
            raise WorkerError("too_many_requests", words, retry_after_seconds=5)
        self._choices += request.n
        try:
            form = None if request.constraint is None else await self._form(request.constraint)
            if request.adapter is None:
                await self._run(request, self._base_name, form, call)
            else:
                async with self._adapters.in_use(request.adapter) as name:
                    await self._run(request, name, form, call)
        finally:
            self._choices -= request.n

    async def _run(self, request: GenerateRequest, model: str, form: Form, call: Call) -> None:
        await Generation(self._client, request, model, form, self._model.vocab_size, call).run()

    async def prepare(self, params: Any, _call: Call) -> None:
        await self._form(read_constraint(params["constraint"]))

    async def load_adapter(self, params: Any, _call: Call) -> None:
        await self._adapters.load(read_adapter(params))

    async def unload_adapter(self, params: Any, _call: Call) -> None:
        await self._adapters.unload(str(params))

    async def _form(self, constraint: Constraint) -> Form:
        """Returns the first form that vLLM accepts. vLLM compiles it with the request, so this requests one token with it."""
        if constraint in self._forms:
            self._forms.move_to_end(constraint)
            return self._forms[constraint]
        refusal: WorkerError | None = None
        for form in structured_outputs(constraint):
            body = {"model": self._base_name, "prompt": [0], "max_tokens": 1, "temperature": 0, "structured_outputs": form}
            try:
                await self._client.complete(body)
            except WorkerError as fault:
                if fault.code == "engine_unavailable":
                    raise
                refusal = refusal or fault
                continue
            self._forms[constraint] = form
            if len(self._forms) > FORMS_MAX:
                self._forms.popitem(last=False)
            return form
        raise WorkerError("invalid_constraint", f"This constraint cannot be used: {refusal}") from refusal


def sampler_hello(
    model: BaseModel, shape: ModelShape, sequences_max: int, adapters_max: int, *, takes_head_adapters: bool
) -> dict[str, object]:
    """The capabilities that a worker on vLLM announces."""
    return {
        "contextLength": shape.context_length,
        "vocabSize": shape.vocab_size,
        "sequencesMax": sequences_max,
        "adaptersMax": adapters_max,
        "capabilities": {
            "exactReplay": False,  # a different batch shape rounds differently
            "exactLogprobs": False,  # they are exact in float32 on a CPU; untested on a GPU
            "constraints": list(CONSTRAINT_KINDS),
            "promptLogprobs": True,
            "headAdapters": takes_head_adapters,
            "precision": model.precision,
            # vLLM takes bad words as text and would tokenise them differently; the others are untested.
            "unsupportedSampling": ["badWords", "logprobTokenIds", "thinkingBudget"],
        },
    }
