"""The official packages openai and anthropic, unmodified, on the endpoints other than chat. Arguments: base URL, key, model. Prints ok."""

import json
import sys
import time

import anthropic
import openai

base_url, key, model = sys.argv[1:]
client = openai.OpenAI(base_url=base_url, api_key=key, max_retries=0)
claude = anthropic.Anthropic(base_url=base_url.removesuffix("/v1"), api_key=key, max_retries=0)

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}
QUESTION = "What is the weather in Paris?"

# Completions: lists of prompts, the older log-probabilities, streams.
completion = client.completions.create(model=model, prompt=["One", "Two"], max_tokens=6, logprobs=1, temperature=0)
assert [choice.index for choice in completion.choices] == [0, 1]
assert all(choice.logprobs.tokens for choice in completion.choices)
ask = {"model": model, "prompt": "One", "max_tokens": 6, "temperature": 0, "echo": True}
streamed = "".join(chunk.choices[0].text for chunk in client.completions.create(**ask, stream=True))
assert streamed == client.completions.create(**ask).choices[0].text

# Responses: calls and their results, structured output, streams.
function = {"type": "function", "name": "get_weather", "description": "Tells the weather", "parameters": SCHEMA}
first = client.responses.create(model=model, input=QUESTION, tools=[function], temperature=0)
call = next(item for item in first.output if item.type == "function_call")
assert json.loads(call.arguments) == {"city": "Paris"}
result = {"type": "function_call_output", "call_id": call.call_id, "output": '{"sky": "rainy", "degrees": 12}'}
conversation = [{"role": "user", "content": QUESTION}, *first.output, result]
second = client.responses.create(model=model, input=conversation, tools=[function], temperature=0)
assert "rainy" in second.output_text, second.output_text
with client.responses.stream(model=model, input="Hello!", temperature=0) as stream:
    text = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
    assert text == stream.get_final_response().output_text != ""

# Stored responses: retrieved, continued, listed, deleted; in the background.
assert client.responses.retrieve(first.id) == first
second = client.responses.create(
    model=model, input=[result], previous_response_id=first.id, tools=[function], temperature=0
)
assert "rainy" in second.output_text, second.output_text
assert [item.type for item in client.responses.input_items.list(second.id, order="asc")] == [
    "message",
    "function_call",
    "function_call_output",
]
client.responses.delete(first.id)
try:
    client.responses.retrieve(first.id)
    raise AssertionError("a deleted response was found")
except openai.NotFoundError:
    pass
queued = client.responses.create(model=model, input="Hello!", temperature=0, background=True)
deadline = time.monotonic() + 120
while (answered := client.responses.retrieve(queued.id)).status in ("queued", "in_progress"):
    assert time.monotonic() < deadline, answered
    time.sleep(0.1)
assert (answered.status, answered.output_text) == ("completed", text)
assert client.responses.cancel(queued.id).status == "completed"
with client.responses.create(model=model, input="Hello!", background=True, stream=True) as stream:
    events = list(stream)
with client.responses.retrieve(events[0].response.id, stream=True, starting_after=2) as stream:
    assert list(stream) == events[3:]

# Embeddings: in base64, unless told otherwise.
vectors = client.embeddings.create(model=model, input=["One", "Two"])
assert [len(each.embedding) for each in vectors.data] == [len(vectors.data[0].embedding)] * 2
assert abs(sum(value * value for value in vectors.data[0].embedding) - 1) < 1e-5
assert len(client.embeddings.create(model=model, input="One", dimensions=4).data[0].embedding) == 4

# Messages: streams, calls and their results, counting, errors.
# The package no longer has an argument of that name.
greedy = {"extra_body": {"temperature": 0}}
hello = {"model": model, "max_tokens": 100, "messages": [{"role": "user", "content": "Hello!"}], **greedy}
with claude.messages.stream(**hello) as stream:
    text = "".join(stream.text_stream)
    assert text == stream.get_final_text() != ""
assert claude.messages.count_tokens(model=model, messages=hello["messages"]).input_tokens > 0
tool = {"name": "get_weather", "description": "Tells the weather", "input_schema": SCHEMA}
question = {"role": "user", "content": QUESTION}
about = {"model": model, "max_tokens": 100, "tools": [tool], **greedy}
first = claude.messages.create(**about, messages=[question])
use = next(block for block in first.content if block.type == "tool_use")
assert (first.stop_reason, use.input) == ("tool_use", {"city": "Paris"})
result = {"type": "tool_result", "tool_use_id": use.id, "content": '{"sky": "rainy", "degrees": 12}'}
turns = [question, {"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}]
second = claude.messages.create(**about, messages=turns)
assert "rainy" in "".join(block.text for block in second.content if block.type == "text")
try:
    claude.messages.create(**{**hello, "model": "nope"})
    raise AssertionError("a model that no server hosts answered")
except anthropic.NotFoundError:
    pass

# The tool runner would have the server keep a thread; refused, it goes on with the whole conversation.
cities = []


@anthropic.beta_tool
def get_weather(city: str) -> str:
    """Tells the weather"""
    cities.append(city)
    return '{"sky": "rainy", "degrees": 12}'


asked = [{"role": "user", "content": QUESTION}]
runner = claude.beta.messages.tool_runner(model=model, max_tokens=100, tools=[get_weather], messages=asked, **greedy)
last = runner.until_done()
assert cities == ["Paris"], cities
assert "rainy" in last.content[0].text, last

print("ok")
