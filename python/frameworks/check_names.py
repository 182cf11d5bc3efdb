"""How libraries write a model's name where they take a vendor before it: base URL, key and model are arguments.

Each is given the name as one text, as in docs/guides/clients.md, and must reach that model. Prints "ok" at the end. A failed assertion is
the exit status and message that test/python/clients/python-frameworks.test.ts reports.
"""

import asyncio
import os
import sys

import agents
import instructor
import litellm
from langchain_openai import ChatOpenAI
from pydantic import BaseModel
from pydantic_ai import Agent

base_url, api_key, model = sys.argv[1:]
os.environ |= {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": api_key}
litellm.suppress_debug_info = True
agents.set_tracing_disabled(True)
ask = [{"role": "user", "content": "What is 2 + 3?"}]
short = {"temperature": 0, "max_tokens": 20}


class Answer(BaseModel):
    sure: bool


async def main() -> None:
    for name in (f"openai-chat:{model}", f"openai-responses:{model}"):
        ran = await Agent(name, model_settings=short).run("What is 2 + 3?")
        assert ran.new_messages()[-1].model_name == model, (name, ran)

    for name in (model.replace("/", "--"), f"openai/{model}"):
        settings = agents.ModelSettings(**short)
        ran = await agents.Runner.run(agents.Agent(name="Named", model=name, model_settings=settings), "What is 2 + 3?")
        assert "5" in ran.final_output, (name, ran)

    formed = instructor.from_provider(f"openai/{model}")
    _, answer = formed.create_with_completion(messages=ask, response_model=Answer, temperature=0, max_tokens=200)
    assert answer.model == model, answer

    for vendor, address in (("hosted_vllm", base_url), ("openai", base_url), ("anthropic", base_url.removesuffix("/v1"))):
        called = litellm.completion(model=f"{vendor}/{model}", messages=ask, api_base=address, api_key=api_key, **short)
        assert "5" in called.choices[0].message.content, (vendor, called)

    told = ChatOpenAI(model=model, **short).invoke("What is 2 + 3?")
    assert told.response_metadata["model_name"] == model, told


asyncio.run(main())
print("ok")
