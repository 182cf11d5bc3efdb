"""LiteLLM, unmodified, against a running server: base URL, key and model are arguments.

Prints "ok" at the end. A failed assertion is the exit status and message that test/python/clients/python-frameworks.test.ts reports.
"""

import asyncio
import gc
import json
import sys
from typing import Literal

import litellm
from pydantic import BaseModel

base_url, api_key, model = sys.argv[1:]
litellm.suppress_debug_info = True
# LiteLLM drops streams that it has not closed. Where the collector closes one while httpcore holds its lock, which is not reentrant,
# the program waits for ever.
gc.disable()
server = {"model": f"hosted_vllm/{model}", "api_base": base_url, "api_key": api_key, "max_retries": 0, "temperature": 0}
tool = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Tells the weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def asking(content: str) -> list[dict]:
    return [{"role": "user", "content": content}]


class Answer(BaseModel):
    answer: Literal["yes", "no"]


whole = litellm.completion(**server, messages=asking("What is 2 + 3?"))
assert "5" in whole.choices[0].message.content, whole
chunks = list(litellm.completion(**server, messages=asking("What is 2 + 3?"), stream=True, stream_options={"include_usage": True}))
assert litellm.stream_chunk_builder(chunks).choices[0].message.content == whole.choices[0].message.content
assert chunks[-1].usage.completion_tokens == whole.usage.completion_tokens, chunks[-1]

later = asyncio.run(litellm.acompletion(**server, messages=asking("What is 2 + 3?")))
assert later.choices[0].message.content == whole.choices[0].message.content

question = asking("What is the weather in Paris?")
called = litellm.completion(**server, messages=question, tools=[tool]).choices[0]
assert called.finish_reason == "tool_calls", called
call = called.message.tool_calls[0]
assert json.loads(call.function.arguments) == {"city": "Paris"}
result = {"role": "tool", "tool_call_id": call.id, "content": '{"sky": "rainy", "degrees": 12}'}
answer = litellm.completion(**server, messages=[*question, called.message.model_dump(), result], tools=[tool])
assert "rainy" in answer.choices[0].message.content, answer
chunks = list(litellm.completion(**server, messages=asking("Hello!"), tools=[tool], tool_choice="required", stream=True))
forced = litellm.stream_chunk_builder(chunks).choices[0].message.tool_calls[0].function
assert forced.name == "get_weather" and "city" in json.loads(forced.arguments), forced

formed = litellm.completion(**server, messages=asking("Is two more than one?"), response_format=Answer)
Answer.model_validate_json(formed.choices[0].message.content)

# The same model through LiteLLM's other providers for compatible servers.
elsewhere = {**server, "model": f"text-completion-openai/{model}"}
assert litellm.text_completion(**elsewhere, prompt="Once upon a time", max_tokens=6).choices[0].text != ""
claude = {**server, "model": f"anthropic/{model}", "api_base": base_url.removesuffix("/v1")}
assert litellm.completion(**claude, messages=asking("Hello!"), max_tokens=60).choices[0].message.content
respond = {**server, "model": f"openai/{model}"}
assert litellm.responses(**respond, input="Hello!").output[-1].content[0].text

for fields, error in [
    ({"model": "hosted_vllm/nope"}, litellm.NotFoundError),
    ({"max_tokens": 10**6}, litellm.ContextWindowExceededError),
    ({"api_key": "wk-nobody"}, litellm.AuthenticationError),
]:
    try:
        litellm.completion(**{**server, **fields}, messages=asking("Hi"))
        raise SystemExit(f"{fields} was accepted")
    except error:
        pass

print("ok")
