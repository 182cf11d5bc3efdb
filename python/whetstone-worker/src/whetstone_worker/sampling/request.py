"""Parses a server's requests to a sampler: `GenerateRequest` of inference-engine.ts. A field that cannot be read, or that this
model does not support, is refused by name. The counterpart of check-request.ts.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from whetstone_worker.errors import WorkerError
from whetstone_worker.files import WireFile, read_wire_files


@dataclass(frozen=True)
class WireAdapter:
    id: str
    files: tuple[WireFile, ...]


@dataclass(frozen=True)
class Constraint:
    """`source` and the options of a schema are defined in src/domain/constraint.ts."""

    kind: str
    source: str
    any_whitespace: bool = True
    whitespace_pattern: str | None = None
    strict: bool = False


@dataclass(frozen=True)
class Sampling:
    temperature: float
    top_p: float
    top_k: int
    min_p: float
    repetition_penalty: float
    frequency_penalty: float
    presence_penalty: float
    logit_bias: tuple[tuple[int, float], ...]
    allowed_token_ids: tuple[int, ...] | None
    bad_words: tuple[tuple[int, ...], ...]
    seed: int | None
    max_tokens: int
    min_tokens: int
    stop_token_ids: tuple[int, ...]
    end_token_ids: tuple[int, ...]
    top_logprobs: int
    """-1: the whole vocabulary."""
    prompt_logprobs: int | None


@dataclass(frozen=True)
class GenerateRequest:
    prompt: tuple[int, ...]
    adapter: WireAdapter | None
    sampling: Sampling
    n: int
    constraint: Constraint | None
    after_token_id: int | None
    """The constraint applies after the first of these tokens. None: from the start."""
    priority: int
    cache_scope: str


@dataclass(frozen=True)
class ModelShape:
    context_length: int
    vocab_size: int


def read_generate_request(params: Any) -> GenerateRequest:
    try:
        _refuse_unknown(params, _REQUEST)
        _refuse_unknown(params["sampling"], _SAMPLING)
        constraint = params["constraint"]
        return GenerateRequest(
            prompt=tuple(params["promptTokens"]),
            adapter=None if params["adapter"] is None else read_adapter(params["adapter"]),
            sampling=_read_sampling(params["sampling"]),
            n=int(params["n"]),
            constraint=None if constraint is None else read_constraint(constraint["constraint"]),
            after_token_id=None if constraint is None else constraint["afterTokenId"],
            priority=int(params["priority"]),
            cache_scope=str(params["cacheScope"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as fault:
        raise _unreadable("generate", fault) from fault


_REQUEST = frozenset({"requestId", "promptTokens", "adapter", "sampling", "n", "constraint", "priority", "payer", "cacheScope"})
_SAMPLING = frozenset(re.sub("_[a-z]", lambda part: part[0][1].upper(), field.name) for field in fields(Sampling))
_CLIENTS_NAMES = {"thinkingBudget": "thinking_token_budget"}


def _refuse_unknown(given: Mapping[str, Any], known: frozenset[str]) -> None:
    """Refuses what is set and not read here: the server asks for it before it knows which workers there are, or is newer."""
    for name, value in given.items():
        if name not in known and value not in (None, False, 0, "", [], ()):
            param = _CLIENTS_NAMES.get(name) or re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name)
            raise WorkerError("invalid_request", f"{param} is not supported by the engine of this model.", param=param)


def read_adapter(params: Any) -> WireAdapter:
    try:
        return WireAdapter(str(params["id"]), tuple(read_wire_files(params["files"], "files")))
    except (KeyError, TypeError) as fault:
        raise _unreadable("an adapter", fault) from fault


def read_constraint(params: Any) -> Constraint:
    try:
        return Constraint(
            kind=params["kind"],
            source=params["source"],
            any_whitespace=params.get("anyWhitespace", True),
            whitespace_pattern=params.get("whitespacePattern"),
            strict=params.get("strict", False),
        )
    except (KeyError, TypeError, AttributeError) as fault:
        raise _unreadable("a constraint", fault) from fault


def check_request(request: GenerateRequest, model: ModelShape) -> None:
    """Raises WorkerError invalid_request or context_length_exceeded, with the embedded engine's messages."""
    sampling, size = request.sampling, model.vocab_size
    if not request.prompt:
        raise WorkerError("invalid_request", "The prompt is empty.", param="messages")
    if (foreign := _foreign(request.prompt, size)) is not None:
        words = f"Token {foreign} is not in the vocabulary of {size} tokens."
        raise WorkerError("invalid_request", words, param="messages")
    if len(request.prompt) + sampling.max_tokens > model.context_length:
        asked = f"{len(request.prompt)} prompt tokens and up to {sampling.max_tokens} new ones"
        words = f"This model's maximum context length is {model.context_length} tokens; the request has {asked}."
        raise WorkerError("context_length_exceeded", words, param="max_tokens")
    named: Mapping[str, Sequence[int]] = {
        "logit_bias": [token for token, _ in sampling.logit_bias],
        "allowed_token_ids": sampling.allowed_token_ids or (),
        "stop_token_ids": sampling.stop_token_ids,
    }
    for param, ids in named.items():
        if (foreign := _foreign(ids, size)) is not None:
            words = f"{param} has token {foreign}, which is not in the vocabulary of {size} tokens."
            raise WorkerError("invalid_request", words, param=param)
    if request.n < 1:
        raise WorkerError("invalid_request", f"n must be at least 1, got {request.n}.", param="n")
    if sampling.bad_words:
        raise WorkerError("invalid_request", "bad_words is not supported by the engine of this model.", param="bad_words")
    _check_behind_thinking(request)


def _check_behind_thinking(request: GenerateRequest) -> None:
    """The part after the reasoning is a separate request to vLLM, which counts from its own start."""
    if request.constraint is None or request.after_token_id is None:
        return
    sampling = request.sampling
    counted = {
        "min_tokens": sampling.min_tokens,
        "frequency_penalty": sampling.frequency_penalty,
        "presence_penalty": sampling.presence_penalty,
    }
    for param, value in counted.items():
        if value != 0:
            words = f"The engine of this model does not support {param} if the answer has a constraint after its reasoning."
            raise WorkerError("invalid_request", words, param=param)


def _read_sampling(params: Any) -> Sampling:
    allowed = params["allowedTokenIds"]
    return Sampling(
        temperature=float(params["temperature"]),
        top_p=float(params["topP"]),
        top_k=int(params["topK"]),
        min_p=float(params["minP"]),
        repetition_penalty=float(params["repetitionPenalty"]),
        frequency_penalty=float(params["frequencyPenalty"]),
        presence_penalty=float(params["presencePenalty"]),
        logit_bias=tuple((token, float(bias)) for token, bias in params["logitBias"]),
        allowed_token_ids=None if allowed is None else tuple(allowed),
        bad_words=tuple(tuple(word) for word in params["badWords"]),
        seed=None if params["seed"] is None else int(params["seed"]),
        max_tokens=int(params["maxTokens"]),
        min_tokens=int(params["minTokens"]),
        stop_token_ids=tuple(params["stopTokenIds"]),
        end_token_ids=tuple(params["endTokenIds"]),
        top_logprobs=int(params["topLogprobs"]),
        prompt_logprobs=None if params["promptLogprobs"] is None else int(params["promptLogprobs"]),
    )


def _foreign(ids: Sequence[Any], vocab_size: int) -> Any:
    """Returns the first that is not a token id, None if all are."""
    return next((token for token in ids if not (isinstance(token, int) and 0 <= token < vocab_size)), None)


def _unreadable(what: str, fault: Exception) -> WorkerError:
    return WorkerError("invalid_request", f"A call from the server cannot be read: {what}: {type(fault).__name__} {fault}.")
