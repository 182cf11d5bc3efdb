"""openai-agents, unmodified, against a running server: base URL, key and model are arguments.

Prints "ok" at the end. A failed assertion is the exit status and message that test/python/clients/python-frameworks.test.ts reports.
"""

import asyncio
import sys
from typing import Literal

import agents
from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool
from openai import AsyncOpenAI
from pydantic import BaseModel

base_url, api_key, model_name = sys.argv[1:]
agents.set_tracing_disabled(True)  # otherwise traces are sent to OpenAI
greedy = ModelSettings(temperature=0, max_tokens=200)
cities = []


class Answer(BaseModel):
    answer: Literal["yes", "no"]


@function_tool
def get_weather(city: str) -> str:
    """Tells the weather"""
    cities.append(city)
    return '{"sky": "rainy", "degrees": 12}'


async def check(model) -> None:
    plain = Agent(name="Plain", model=model, model_settings=greedy)
    whole = await Runner.run(plain, "What is 2 + 3?")
    assert "5" in whole.final_output, whole
    streamed = Runner.run_streamed(plain, "What is 2 + 3?")
    async for _ in streamed.stream_events():
        pass
    assert streamed.final_output == whole.final_output

    cities.clear()
    informed = Agent(name="Informed", model=model, model_settings=greedy, tools=[get_weather])
    answer = await Runner.run(informed, "What is the weather in Paris?")
    assert cities == ["Paris"], cities
    assert "rainy" in answer.final_output, answer.final_output

    formed = await Runner.run(Agent(name="Formed", model=model, model_settings=greedy, output_type=Answer), "Is two more than one?")
    assert formed.final_output.answer in ("yes", "no"), formed

    # Another agent is called as a tool; its answer is the result.
    settings = ModelSettings(temperature=0, max_tokens=200, tool_choice="required")
    desk = Agent(name="Desk", model=model, model_settings=settings, handoffs=[plain])
    handed = await Runner.run(desk, "What is 2 + 3?")
    assert handed.last_agent is plain, handed.last_agent


async def main() -> None:
    client = AsyncOpenAI(base_url=base_url, api_key=api_key, max_retries=0)
    for kind in (OpenAIChatCompletionsModel, OpenAIResponsesModel):
        await check(kind(model=model_name, openai_client=client))


asyncio.run(main())
print("ok")
