"""Converts a generate request into bodies of vLLM's `POST /v1/completions`, and vLLM's responses into tokens. Pure: does not
know HTTP or calls.

Each choice is a request of its own, because vLLM can only end a whole request, and a choice must be able to end alone. vLLM's
prefix cache still computes the prompt once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from whetstone_worker.errors import WorkerError
from whetstone_worker.sampling.request import GenerateRequest

_FINISH_REASONS = ("stop", "length")
_ID_PREFIX = "token_id:"


@dataclass(frozen=True)
class Token:
    id: int
    logprob: float
    top: tuple[tuple[int, float], ...]
    finish_reason: str | None

    def to_event(self, choice_index: int) -> dict[str, object]:
        return {
            "choiceIndex": choice_index,
            "tokenId": self.id,
            "logprob": self.logprob,
            "topLogprobs": [{"tokenId": token, "logprob": logprob} for token, logprob in self.top],
            "finishReason": self.finish_reason,
        }


def completion_body(
    request: GenerateRequest, choice_index: int, model: str, structured_outputs: Mapping[str, object] | None, vocab_size: int
) -> dict[str, object]:
    """`model`: vLLM's name of the base model or the adapter."""
    sampling = request.sampling
    body: dict[str, object] = {
        "model": model,
        "prompt": request.prompt,
        "stream": True,
        "stream_options": {"include_usage": True},
        "return_token_ids": True,
        "return_tokens_as_token_ids": True,
        "logprobs": _count(sampling.top_logprobs, vocab_size),
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": sampling.top_k,
        "min_p": sampling.min_p,
        "repetition_penalty": sampling.repetition_penalty,
        "frequency_penalty": sampling.frequency_penalty,
        "presence_penalty": sampling.presence_penalty,
        "max_tokens": sampling.max_tokens,
        "min_tokens": sampling.min_tokens,
        "ignore_eos": True,  # the server's stop tokens end an answer
        "stop_token_ids": sampling.stop_token_ids,
        "skip_special_tokens": False,
        "priority": request.priority,
    }
    if sampling.seed is not None:
        body["seed"] = sampling.seed + choice_index
    if sampling.logit_bias:
        body["logit_bias"] = {str(token): bias for token, bias in sampling.logit_bias}
    if sampling.allowed_token_ids is not None:
        body["allowed_token_ids"] = sampling.allowed_token_ids
    if request.cache_scope:
        body["cache_salt"] = sha256(request.cache_scope.encode()).hexdigest()
    if structured_outputs is not None:
        body["structured_outputs"] = structured_outputs
        # When the constrained text is complete, only an end token can follow, even if end tokens are ignored otherwise.
        body["stop_token_ids"] = tuple(dict.fromkeys((*sampling.stop_token_ids, *sampling.end_token_ids)))
    return body


def prompt_body(request: GenerateRequest, model: str, vocab_size: int) -> dict[str, object]:
    """The request for the prompt's log-probabilities, which vLLM does not stream. Its one generated token is discarded."""
    plain = replace(request.sampling, max_tokens=1, min_tokens=0, top_logprobs=0)
    body = completion_body(replace(request, sampling=plain), 0, model, None, vocab_size)
    del body["stream"], body["stream_options"]
    return {**body, "prompt_logprobs": _count(request.sampling.prompt_logprobs or 0, vocab_size)}


def thinking_part(request: GenerateRequest) -> GenerateRequest:
    """The part up to and including the token after which the constraint applies."""
    assert request.after_token_id is not None
    stops = (*request.sampling.stop_token_ids, request.after_token_id)
    return replace(request, sampling=replace(request.sampling, stop_token_ids=stops))


def answering_part(request: GenerateRequest, thought: Sequence[int]) -> GenerateRequest:
    """The part after `thought`. Leaves room for at least one token."""
    sampling = replace(request.sampling, max_tokens=request.sampling.max_tokens - len(thought))
    return replace(request, prompt=(*request.prompt, *thought), sampling=sampling)


def read_tokens(chunk: Mapping[str, Any], top_count: int) -> list[Token]:
    """Reads the tokens of a streamed response with one choice. `top_count`: the number that was requested."""
    if not chunk["choices"]:  # only the usage
        return []
    (choice,) = chunk["choices"]
    ids, reason = choice["token_ids"] or [], choice.get("finish_reason")
    if reason is not None and (reason not in _FINISH_REASONS or not ids):
        raise WorkerError("engine_failed", f"vLLM ended a choice with {reason!r} after {len(ids)} tokens in its last message.")
    if not ids:
        return []
    logprobs = choice["logprobs"]
    tokens = []
    for token, logprob, alternatives in zip(ids, logprobs["token_logprobs"], logprobs["top_logprobs"], strict=True):
        tokens.append(Token(token, min(logprob, 0.0), _best(alternatives or {}, token, top_count), None))
    tokens[-1] = replace(tokens[-1], finish_reason=reason)
    return tokens


def read_cached_count(chunk: Mapping[str, Any]) -> int | None:
    """The number of prompt tokens from the cache, which the last message of a response has. None for any other message."""
    details = (chunk.get("usage") or {}).get("prompt_tokens_details")
    return None if details is None else details.get("cached_tokens", 0)


def read_prompt_logprobs(answer: Mapping[str, Any], prompt: Sequence[int], count: int) -> list[list[dict[str, object]] | None]:
    """For each prompt token, its own log-probability and the `count` best alternatives, in the format of PromptReport."""
    rows = answer["choices"][0]["prompt_logprobs"]
    return [None if row is None else _ranked(row, token, count) for token, row in zip(prompt, rows, strict=True)]


def _ranked(row: Mapping[str, Any], own: int, count: int) -> list[dict[str, object]]:
    ranked = sorted((entry["rank"], int(token), entry["logprob"]) for token, entry in row.items())
    best = [each for each in ranked if each[1] != own and (count < 0 or each[0] <= count)]
    first = [each for each in ranked if each[1] == own]
    return [{"tokenId": token, "logprob": logprob, "rank": rank} for rank, token, logprob in (*first, *best)]


def _best(alternatives: Mapping[str, float], sampled: int, count: int) -> tuple[tuple[int, float], ...]:
    """The sampled token comes first in vLLM's list, in addition to the best `count`."""
    if count == 0:
        return ()
    listed = [(int(name.removeprefix(_ID_PREFIX)), logprob) for name, logprob in alternatives.items()]
    if 0 < count < len(listed):
        listed = [each for each in listed if each[0] != sampled]
    return tuple(sorted(listed, key=lambda each: -each[1]))


def _count(asked: int, vocab_size: int) -> int:
    """vLLM does not list anything for -1 when it streams."""
    return vocab_size if asked < 0 else min(asked, vocab_size)
