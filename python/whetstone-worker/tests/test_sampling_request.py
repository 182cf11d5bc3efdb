"""A server's request to a sampler is parsed field by field, and an unsupported field is refused by name."""

from typing import Any

import pytest

from vllm_scenes import PROMPT, asked, constrained
from whetstone_worker.errors import WorkerError
from whetstone_worker.sampling.request import ModelShape, check_request, read_adapter, read_generate_request

MODEL = ModelShape(context_length=64, vocab_size=1626)


def refusal(params: Any) -> WorkerError:
    with pytest.raises(WorkerError) as caught:
        check_request(read_generate_request(params), MODEL)
    return caught.value


@pytest.mark.parametrize(
    ("params", "code", "param", "words"),
    [
        (asked(promptTokens=[]), "invalid_request", "messages", "The prompt is empty"),
        (asked(promptTokens=[1626]), "invalid_request", "messages", "Token 1626 is not in the vocabulary of 1626 tokens"),
        (asked({"maxTokens": 55}), "context_length_exceeded", "max_tokens", "maximum context length is 64 tokens"),
        (asked({"logitBias": [[1626, 1]]}), "invalid_request", "logit_bias", "logit_bias has token 1626"),
        (asked({"allowedTokenIds": [1, -1]}), "invalid_request", "allowed_token_ids", "token -1"),
        (asked({"stopTokenIds": [10**9]}), "invalid_request", "stop_token_ids", "token 1000000000"),
        (asked({"badWords": [[1]]}), "invalid_request", "bad_words", "bad_words is not supported"),
        (asked({"logprobTokenIds": [1]}), "invalid_request", "logprob_token_ids", "logprob_token_ids is not supported"),
        (
            asked({"thinkingBudget": {"tokens": 4, "start": [1], "end": 2, "isOpen": False}}),
            "invalid_request",
            "thinking_token_budget",
            "thinking_token_budget is not supported",
        ),
        (asked({"optionOfNextYear": 0.5}), "invalid_request", "option_of_next_year", "option_of_next_year is not supported"),
        (asked(embed=True), "invalid_request", "embed", "embed is not supported"),
        (asked(n=0), "invalid_request", "n", "n must be at least 1"),
        (
            asked({"minTokens": 1}, constraint=constrained("regex", "a", after=5)),
            "invalid_request",
            "min_tokens",
            "does not support min_tokens if the answer has a constraint after its reasoning",
        ),
        (
            asked({"presencePenalty": 0.1}, constraint=constrained("regex", "a", after=5)),
            "invalid_request",
            "presence_penalty",
            "presence_penalty",
        ),
    ],
)
def test_unsupported_fields_are_refused_by_name(params: Any, code: str, param: str, words: str) -> None:
    fault = refusal(params)
    assert (fault.code, fault.param) == (code, param)
    assert words in fault.message


def test_a_request_may_fill_the_context_to_the_last_token() -> None:
    check_request(read_generate_request(asked({"maxTokens": 64 - len(PROMPT)})), MODEL)


@pytest.mark.parametrize("params", [None, {}, asked(promptTokens=None), asked({"temperature": "hot"}), asked(constraint=[])])
def test_an_invalid_request_is_refused_as_a_call_that_cannot_be_read(params: Any) -> None:
    with pytest.raises(WorkerError, match="cannot be read") as caught:
        read_generate_request(params)
    assert caught.value.code == "invalid_request"


@pytest.mark.parametrize("params", [None, {"id": "a"}, {"id": "a", "files": 3}, {"id": "a", "files": [{"name": "x"}]}])
def test_an_adapter_has_an_id_and_files(params: Any) -> None:
    with pytest.raises(WorkerError, match="cannot be read"):
        read_adapter(params)


def test_an_unknown_option_that_is_off_is_no_reason_to_refuse() -> None:
    off = {"logprobTokenIds": None, "thinkingBudget": None, "optionOfNextYear": 0}
    check_request(read_generate_request(asked(off, embed=False)), MODEL)
