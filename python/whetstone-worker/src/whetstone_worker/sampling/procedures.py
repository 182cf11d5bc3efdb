"""The procedures of a sampler (docs/worker-protocol.md, section 4) over one vLLM. Counts what runs, refuses what is too much,
and keeps in mind which constraints vLLM has taken. Knows no connection.
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
"""Choices beyond those that are computed at once. A server sends none, but for a request that has more by itself."""
NOTICE_SECONDS = 40.0
"""To notice that vLLM is gone: longer than it takes to find it unwell."""
FORMS_MAX = 256
"""Constraints in mind; what a schema costs is its text."""


class SamplerProcedures:
    def __init__(
        self, client: VllmClient, adapters: Adapters, model: ModelShape, sequences_max: int, base_name: str = MODEL
    ) -> None:
        """`base_name`: under which vLLM is asked for no adapter."""
        self._client = client
        self._adapters = adapters
        self._model = model
        self._sequences_max = sequences_max
        self._base_name = base_name
        self._choices = 0
        """Of all calls that run."""
        self._forms: OrderedDict[Constraint, Form] = OrderedDict()

        self.takes_no_calls = asyncio.Event()
        """To be set when the server knows it."""

    def handlers(self) -> dict[str, Handler]:
        handlers: dict[str, Handler] = {
            "generate": self.generate,
            "prepare": self.prepare,
            "loadAdapter": self.load_adapter,
            "unloadAdapter": self.unload_adapter,
        }
        return {name: partial(self._in_order, handler) for name, handler in handlers.items()}

    async def _in_order(self, handler: Handler, params: Any, call: Call) -> object:
        """What fails with vLLM fails once the server knows that this worker takes no calls: it sends repeats elsewhere."""
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
            words = f"{self._choices} choices run or wait on this worker already. Try again later."
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
        """The first that vLLM takes: it compiles what a request brings, so one token is asked for with it."""
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
    """What a worker on vLLM says it can do."""
    return {
        "contextLength": shape.context_length,
        "vocabSize": shape.vocab_size,
        "sequencesMax": sequences_max,
        "adaptersMax": adapters_max,
        "capabilities": {
            "exactReplay": False,  # batches of other shapes round otherwise
            "exactLogprobs": False,  # in float32 on a processor they are; nobody has looked at a GPU
            "constraints": list(CONSTRAINT_KINDS),
            "promptLogprobs": True,
            "headAdapters": takes_head_adapters,
            "precision": model.precision,
            # vLLM takes words, and would split them its own way; the others nobody has tried.
            "unsupportedSampling": ["badWords", "logprobTokenIds", "thinkingBudget"],
        },
    }
