"""pydantic-ai, unmodified, against a running server: base URL, key and model are arguments.

Prints "ok" at the end. A failed assertion is the exit status and message that test/python/clients/python-frameworks.test.ts reports.
"""

import asyncio
import sys
from typing import Literal

from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput, ToolOutput
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

base_url, api_key, model_name = sys.argv[1:]
settings = {"temperature": 0, "max_tokens": 200}
cities = []


class Answer(BaseModel):
    answer: Literal["yes", "no"]


def get_weather(city: str) -> dict:
    """Tells the weather"""
    cities.append(city)
    return {"sky": "rainy", "degrees": 12}


async def check(model) -> None:
    agent = Agent(model, model_settings=settings)
    whole = await agent.run("What is 2 + 3?")
    assert "5" in whole.output, whole
    async with agent.run_stream("What is 2 + 3?") as stream:
        assert await stream.get_output() == whole.output
    assert whole.usage.output_tokens > 0

    cities.clear()
    answer = await Agent(model, tools=[get_weather], model_settings=settings).run("What is the weather in Paris?")
    assert cities == ["Paris"], cities
    assert "rainy" in answer.output, answer

    for output_type in (ToolOutput(Answer), NativeOutput(Answer)):
        formed = await Agent(model, output_type=output_type, model_settings=settings).run("Is two more than one?")
        assert formed.output.answer in ("yes", "no"), formed


for kind in (OpenAIChatModel, OpenAIResponsesModel):
    asyncio.run(check(kind(model_name, provider=OpenAIProvider(base_url=base_url, api_key=api_key))))
print("ok")
