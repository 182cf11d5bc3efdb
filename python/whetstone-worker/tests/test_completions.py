"""Requests in vLLM's format, and its responses as tokens."""

import math
from typing import Any

import pytest

from vllm_scenes import PROMPT, STARTER_END, asked, constrained
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
from whetstone_worker.sampling.request import read_generate_request

VOCAB = 1626


def body(params: Any, choice: int = 0, form: Any = None) -> dict[str, object]:
    return completion_body(read_generate_request(params), choice, "base", form, VOCAB)


def chunk(
    ids: list[int], logprobs: list[float], top: list[dict[str, float]] | None = None, reason: str | None = None
) -> dict[str, Any]:
    listed = top or [{f"token_id:{token}": logprob} for token, logprob in zip(ids, logprobs, strict=True)]
    return {
        "choices": [
            {"token_ids": ids, "logprobs": {"token_logprobs": logprobs, "top_logprobs": listed}, "finish_reason": reason}
        ]
    }


def test_neutral_settings_are_sent_so_that_the_model_s_defaults_do_not_apply() -> None:
    plain = body(asked())
    assert plain["temperature"] == 0.0
    assert (plain["top_p"], plain["top_k"], plain["min_p"], plain["repetition_penalty"]) == (1.0, 0, 0.0, 1.0)
    assert plain["ignore_eos"] is True
    assert plain["stop_token_ids"] == ()
    assert not {"seed", "logit_bias", "allowed_token_ids", "cache_salt", "structured_outputs"} & plain.keys()


def test_each_choice_has_its_own_seed() -> None:
    assert [body(asked({"seed": 7}), choice)["seed"] for choice in (0, 1, 2)] == [7, 8, 9]


def test_cache_scopes_become_salts_that_reveal_nothing() -> None:
    salts = {scope: body(asked(cacheScope=scope)).get("cache_salt") for scope in ("", "a", "b")}
    assert salts[""] is None
    assert salts["a"] != salts["b"]
    assert len(str(salts["a"])) == 64


def test_the_whole_vocabulary_is_requested_by_its_size() -> None:
    assert body(asked({"topLogprobs": -1}))["logprobs"] == VOCAB
    request = read_generate_request(asked({"promptLogprobs": -1}))
    assert prompt_body(request, "base", VOCAB)["prompt_logprobs"] == VOCAB


def test_a_constrained_answer_ends_where_the_model_ends_it_even_if_end_tokens_are_ignored() -> None:
    given = asked({"stopTokenIds": [50], "endTokenIds": [50, STARTER_END]})
    assert body(given)["stop_token_ids"] == (50,)
    assert body(given, form={"regex": "a"})["stop_token_ids"] == (50, STARTER_END)


def test_a_constraint_after_reasoning_makes_two_requests() -> None:
    given = asked({"maxTokens": 10, "stopTokenIds": [50]}, constraint=constrained("regex", "a", after=9))
    request = read_generate_request(given)
    assert thinking_part(request).sampling.stop_token_ids == (50, 9)
    answering = answering_part(request, [3, 4, 9])
    assert answering.prompt == (*PROMPT, 3, 4, 9)
    assert answering.sampling.max_tokens == 7
    assert answering.sampling.stop_token_ids == (50,)


def test_the_tokens_of_a_message_are_read_in_order_and_the_last_has_the_finish_reason() -> None:
    tokens = read_tokens(chunk([5, 6], [-0.5, -1.5], reason="length"), 0)
    assert tokens == [Token(5, -0.5, (), None), Token(6, -1.5, (), "length")]


def test_alternatives_are_the_best_in_order_without_a_sampled_token_that_is_not_among_them() -> None:
    sampled_last = {"token_id:9": -5.0, "token_id:1": -0.1, "token_id:2": -3.0}
    (token,) = read_tokens(chunk([9], [-5.0], [sampled_last]), 2)
    assert token.top == ((1, -0.1), (2, -3.0))
    sampled_second = {"token_id:2": -3.0, "token_id:1": -0.1}
    (token,) = read_tokens(chunk([2], [-3.0], [sampled_second]), 2)
    assert token.top == ((1, -0.1), (2, -3.0))
    (token,) = read_tokens(chunk([2], [-3.0], [sampled_second]), -1)
    assert token.top == ((1, -0.1), (2, -3.0))


def test_a_probability_does_not_exceed_one() -> None:
    (token,) = read_tokens(chunk([5], [1e-6]), 0)
    assert token.logprob == 0.0


def test_messages_without_tokens_may_report_the_cached_count() -> None:
    assert read_tokens({"choices": []}, 0) == []
    assert read_tokens({"choices": [{"token_ids": [], "logprobs": None, "finish_reason": None}]}, 0) == []
    assert read_cached_count({"usage": {"prompt_tokens_details": {"cached_tokens": 16}}}) == 16
    assert read_cached_count({"usage": {"prompt_tokens": 3}}) is None
    assert read_cached_count({"choices": []}) is None


@pytest.mark.parametrize("reason", ["abort", "error", "stop"])
def test_an_end_without_a_token_or_of_an_unknown_kind_is_a_failure(reason: str) -> None:
    ids = [] if reason == "stop" else [5]
    with pytest.raises(WorkerError, match=f"vLLM ended a choice with '{reason}'"):
        read_tokens(chunk(ids, [-1.0] * len(ids), reason=reason), 0)


def test_prompt_logprobs_start_with_the_prompt_s_own_token() -> None:
    own = {"logprob": -4.0, "rank": 7, "decoded_token": "x"}
    best = {"logprob": -0.1, "rank": 1, "decoded_token": "y"}
    second = {"logprob": -2.0, "rank": 2, "decoded_token": "z"}
    rows = [None, {"300": own, "4": best, "8": second}, {"4": best, "8": second}]
    answer = {"choices": [{"prompt_logprobs": rows}]}
    read = read_prompt_logprobs(answer, [1, 300, 8], 2)
    assert read[0] is None
    assert [[(entry["tokenId"], entry["rank"]) for entry in row or []] for row in read[1:]] == [
        [(300, 7), (4, 1), (8, 2)],
        [(8, 2), (4, 1)],
    ]
    assert math.isclose(float(str((read[1] or [])[0]["logprob"])), -4.0)
