"""The official openai package for Python, unmodified, against a running server: base URL, key and model are arguments.

Prints "ok" at the end. A failed assertion is the exit status and message that test/python/clients/openai-python.test.ts reports.
"""

import json
import sys
from typing import Literal

import openai
from pydantic import BaseModel

base_url, api_key, model = sys.argv[1:]
client = openai.OpenAI(base_url=base_url, api_key=api_key, max_retries=0)
weather = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Tells the weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def ask(content: str, **fields):
    return {"model": model, "messages": [{"role": "user", "content": content}], "temperature": 0, **fields}


class Answer(BaseModel):
    answer: Literal["yes", "no"]


whole = client.chat.completions.create(**ask("What is 2 + 3?", logprobs=True, top_logprobs=2))
assert "5" in whole.choices[0].message.content, whole
assert len(whole.choices[0].logprobs.content) == whole.usage.completion_tokens

chunks = list(client.chat.completions.create(**ask("What is 2 + 3?", stream=True, stream_options={"include_usage": True})))
assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == whole.choices[0].message.content
assert chunks[-1].usage.total_tokens == whole.usage.total_tokens

with client.chat.completions.stream(**ask("Hello!", temperature=1, n=2)) as stream:
    for _ in stream:
        pass
    final = stream.get_final_completion()
assert [choice.message.role for choice in final.choices] == ["assistant", "assistant"], final

call = client.chat.completions.create(**ask("What is the weather in Paris?", tools=[weather])).choices[0]
assert call.finish_reason == "tool_calls", call
assert json.loads(call.message.tool_calls[0].function.arguments) == {"city": "Paris"}

with client.chat.completions.stream(**ask("Hello!", tools=[weather], tool_choice="required")) as stream:
    for _ in stream:
        pass
    forced = stream.get_final_completion().choices[0]
assert "city" in json.loads(forced.message.tool_calls[0].function.arguments), forced

parsed = client.chat.completions.parse(**ask("Is two more than one?"), response_format=Answer).choices[0].message.parsed
assert parsed.answer in ("yes", "no"), parsed

choice = client.chat.completions.create(**ask("Is two more than one?", extra_body={"structured_outputs": {"choice": ["yes", "no"]}}))
assert choice.choices[0].message.content in ("yes", "no"), choice

for fields, error in [
    ({"model": "nope"}, openai.NotFoundError),
    ({"temperature": -1}, openai.UnprocessableEntityError),
    ({"max_tokens": 10**6}, openai.BadRequestError),
]:
    try:
        client.chat.completions.create(**{**ask("Hi"), **fields})
        raise AssertionError(f"{fields} was accepted")
    except error as raised:
        assert raised.request_id, raised
        assert error is not openai.BadRequestError or "context_length_exceeded" in str(raised), raised

assert model in [each.id for each in client.models.list()]
print("ok")
