"""Validates every answer of the server strictly against the models of the installed openai and anthropic packages, streams event by event.

Strictly: pydantic converts nothing, and no field that a model requires may be missing. The packages themselves are lenient, so programs
that validate (OpenAI Agents, LiteLLM, instructor) meet faults that a plain client does not. Arguments: base URL, key, model. Prints the
versions and the number of objects."""

import json
import sys
import time
import urllib.error
import urllib.request

import anthropic
import openai
from anthropic.types import ErrorResponse, Message, MessageTokensCount, ModelInfo, RawMessageStreamEvent
from anthropic.types.beta import BetaMessage, BetaMessageTokensCount, BetaModelInfo, BetaRawMessageStreamEvent
from openai.types import Completion, CreateEmbeddingResponse, ErrorObject, Model
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from openai.types.responses.input_token_count_response import InputTokenCountResponse
from openai.types.responses.response_item_list import ResponseItemList
from pydantic import TypeAdapter, model_validator

base_url, key, model = sys.argv[1:]
checked = 0


def check(kind, text):
    global checked
    try:
        TypeAdapter(kind).validate_json(text, strict=True)
    except Exception as error:
        raise AssertionError(f"{kind} does not accept {text[:2000]}: {error}") from error
    checked += 1


class Unfinished(Completion):
    """A piece of a streamed completion. OpenAI's own have `finish_reason: null` until the last, which its model forbids."""

    @model_validator(mode="before")
    @classmethod
    def end(cls, value):
        for choice in value["choices"]:
            choice["finish_reason"] = choice["finish_reason"] or "stop"
        return value


def call(method, path, body=None, bearer=key, **headers):
    headers = {"Authorization": f"Bearer {bearer}", "Content-Type": "application/json", **headers}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(base_url + path, data, headers, method=method)
    with urllib.request.urlopen(request) as answer:
        return answer.read().decode()


def refused(status, *request, **headers):
    try:
        raise AssertionError(f"{request} was accepted: {call(*request, **headers)[:2000]}")
    except urllib.error.HTTPError as error:
        text = error.read().decode()
        assert error.code == status, (request, error.code, text)
        return text


def openai_error(*request, **headers):
    check(ErrorObject, json.dumps(json.loads(refused(*request, **headers))["error"]))


def anthropic_error(*request, **headers):
    check(ErrorResponse, refused(*request, **headers))


def whole(kind, path, body):
    text = call("POST", path, {"model": model, **body})
    check(kind, text)
    return json.loads(text)


def streamed(kind, path, body):
    return events_of(kind, call("POST", path, {"model": model, "stream": True, **body}))


def events_of(kind, text):
    frames = text.strip().split("\n\n")
    events = [line.removeprefix("data: ") for frame in frames for line in frame.split("\n") if line.startswith("data: ")]
    for event in events:
        if event != "[DONE]":
            check(kind, event)
    return events


def both(kind, event, path, body):
    answer = whole(kind, path, body)
    streamed(event, path, body)
    return answer


SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
QUESTION = "What is the weather in Paris?"
hello = [{"role": "user", "content": "Hello!"}]
question = [{"role": "user", "content": QUESTION}]
function = {"name": "get_weather", "description": "Tells the weather", "parameters": SCHEMA}
greedy = {"temperature": 0}
yes_or_no = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"enum": ["yes", "no"]}}}

chat = "/chat/completions"
for fields in (
    {"messages": hello, **greedy},
    {"messages": hello, "n": 2, "logprobs": True, "top_logprobs": 2, "max_tokens": 3},
    {"messages": question, "tools": [{"type": "function", "function": function}], **greedy},
    {"messages": question, "tools": [{"type": "function", "function": function}], "tool_choice": "required"},
    {"messages": hello, "response_format": yes_or_no},
    {"messages": hello, "return_token_ids": True, "max_tokens": 2},
):
    both(ChatCompletion, ChatCompletionChunk, chat, fields)
streamed(
    ChatCompletionChunk,
    chat,
    {"messages": hello, "stream_options": {"include_usage": True, "continuous_usage_stats": True}},
)

# With echo, the first token has no log-probability: null, as in OpenAI's own answers, which the model forbids.
for fields in ({"prompt": "One", "echo": True}, {"prompt": ["One", "Two"], "n": 2, "logprobs": 2, "max_tokens": 4}):
    both(Completion, Unfinished, "/completions", fields)

whole(CreateEmbeddingResponse, "/embeddings", {"input": ["One", "Two"]})
for each in json.loads(call("GET", "/models"))["data"]:
    check(Model, json.dumps(each))
check(Model, call("GET", f"/models/{model}"))

tool = {"type": "function", **function}
namespace = {"type": "namespace", "name": "crm", "description": "Customers", "tools": [tool]}
grouped = [namespace] if hasattr(openai.types.responses, "NamespaceTool") else [tool]  # newer than the earlier packages
for fields in (
    {"input": "Hello!", **greedy},
    {"input": "Hello!", "max_output_tokens": 2, "include": ["message.output_text.logprobs"], "top_logprobs": 1},
    {"input": QUESTION, "tools": [tool], **greedy},
    {"input": QUESTION, "tools": [tool], "tool_choice": {"type": "function", "name": "get_weather"}},
    {"input": QUESTION, "tools": [*grouped, {"type": "web_search"}], "tool_choice": "required"},
    {"input": "Hello!", "text": {"format": {"type": "json_schema", "name": "x", "schema": {"enum": ["yes"]}}}},
    {"input": "Hello!", "instructions": "Be brief.", "metadata": {"a": "b"}, "reasoning": {"effort": "low"}},
    {"input": "Hello!", "truncation": "auto", "store": False, "user": "u", "service_tier": "auto"},
):
    both(Response, ResponseStreamEvent, "/responses", fields)

first = whole(Response, "/responses", {"input": QUESTION, "tools": [tool], **greedy})
result = [{"type": "function_call_output", "call_id": item["call_id"], "output": "rainy"} for item in first["output"]]
second = whole(Response, "/responses", {"input": result, "previous_response_id": first["id"], "tools": [tool]})
check(Response, call("GET", f"/responses/{second['id']}"))
check(ResponseItemList, call("GET", f"/responses/{second['id']}/input_items"))
page = call("GET", f"/responses/{second['id']}/input_items?limit=1&order=asc")
check(ResponseItemList, page)
after = json.loads(page)["last_id"]
check(ResponseItemList, call("GET", f"/responses/{second['id']}/input_items?order=asc&after={after}"))
queued = whole(Response, "/responses", {"input": "Hello!", "background": True})
deadline = time.monotonic() + 120
while json.loads(text := call("GET", f"/responses/{queued['id']}"))["status"] in ("queued", "in_progress"):
    check(Response, text)
    assert time.monotonic() < deadline, text
    time.sleep(0.05)
check(Response, text)
check(Response, call("POST", f"/responses/{queued['id']}/cancel"))
events = streamed(ResponseStreamEvent, "/responses", {"input": "Hello!", "background": True})
stored = json.loads(events[0])["response"]["id"]
again = events_of(ResponseStreamEvent, call("GET", f"/responses/{stored}?stream=true"))
assert again == events, (again, events)
rest = events_of(ResponseStreamEvent, call("GET", f"/responses/{stored}?stream=true&starting_after=1"))
assert rest == events[2:], (rest, events)
with openai.OpenAI(base_url=base_url, api_key=key) as client:
    assert client.responses.delete(stored) is None
openai_error(404, "GET", f"/responses/{stored}")
openai_error(404, "GET", f"/responses/{stored}?stream=true")

named = {"name": "get_weather", "description": "Tells the weather", "input_schema": SCHEMA}
for fields in (
    {"messages": hello, "max_tokens": 40, **greedy},
    {"messages": hello, "max_tokens": 2},
    {"messages": hello, "max_tokens": 40, "stop_sequences": ["e"], **greedy},
    {"messages": question, "max_tokens": 100, "tools": [named], **greedy},
    {"messages": question, "max_tokens": 100, "tools": [named], "tool_choice": {"type": "any"}},
    {"messages": hello, "max_tokens": 40, "thinking": {"type": "enabled", "budget_tokens": 1024}},
):
    for kind, event in ((Message, RawMessageStreamEvent), (BetaMessage, BetaRawMessageStreamEvent)):
        both(kind, event, "/messages", fields)
for kind in (MessageTokensCount, BetaMessageTokensCount):
    whole(kind, "/messages/count_tokens", {"messages": hello})

with anthropic.Anthropic(base_url=base_url.removesuffix("/v1"), api_key=key) as client:
    for models, kind in ((client.models, ModelInfo), (client.beta.models, BetaModelInfo)):
        listed = list(models.list(limit=100))
        one = models.retrieve(model)
        assert one.id in [each.id for each in listed], (one, listed)
        for each in (*listed, one):
            assert isinstance(each, kind) and each.created_at.year > 2000 and each.display_name == each.id, each
    for each in json.loads(call("GET", "/models", **{"anthropic-version": "2023-06-01"}))["data"]:
        check(ModelInfo, json.dumps(each))
        check(BetaModelInfo, json.dumps(each))

whole(InputTokenCountResponse, "/responses/input_tokens", {"input": "One"})

for path, body in (("/chat/completions", {"messages": hello}), ("/completions", {"prompt": "One"}), ("/responses", {"input": "One"})):
    openai_error(404, "POST", path, {"model": "absent", **body})
    openai_error(422, "POST", path, {"model": model, **body, "temperature": -1})
    openai_error(401, "POST", path, {"model": model, **body}, bearer="wrong")
openai_error(400, "POST", "/chat/completions", {"model": model, "messages": hello, "max_tokens": 10**6})
openai_error(404, "GET", "/models/absent")
openai_error(404, "GET", "/absent")
openai_error(405, "PUT", "/chat/completions", {})
for path in ("/batches", "/responses/compact"):
    openai_error(404, "POST", path, {"model": model, "input": "One"})
said = {"messages": hello, "max_tokens": 4}
anthropic_error(404, "POST", "/messages", {"model": "absent", **said})
anthropic_error(400, "POST", "/messages", {"model": model, **said, "temperature": -1})
anthropic_error(400, "POST", "/messages", {"model": model, **said, "thread": {"type": "continue", "previous_message_id": "msg_1"}})
anthropic_error(401, "POST", "/messages", {"model": model, **said}, bearer="wrong")
anthropic_error(404, "GET", "/models/absent", **{"anthropic-version": "2023-06-01"})
anthropic_error(400, "GET", "/models?limit=0", **{"anthropic-version": "2023-06-01"})

print(f"openai {openai.__version__}, anthropic {anthropic.__version__}: {checked} objects")
