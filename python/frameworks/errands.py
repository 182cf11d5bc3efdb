"""An environment of verifiers in three turns: an agent asks a tool for the weather, tells it, and says whether that is cold.

The agent's loop runs in this process. The harnesses that come with verifiers (`null`, `bash`) install their program from a package index
when they start.
"""

import json

import verifiers.v1 as vf
from openai import AsyncOpenAI
from verifiers.v1.runtimes import ProgramResult

__all__ = ["ErrandsHarness", "ErrandsTaskset"]

DEGREES = {"Paris": 12, "Oslo": 3}
ANSWERS_MAX = 6
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Tells the weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


class ErrandsData(vf.TaskData):
    city: str


class ErrandsTask(vf.Task[ErrandsData]):
    @vf.reward
    async def knows_that_it_is_cold(self, trace: vf.Trace) -> float:
        return float((trace.last_reply or "").strip().lower().startswith("yes"))


class ErrandsTaskset(vf.Taskset[ErrandsTask]):
    def load(self):
        for city in DEGREES:
            yield ErrandsTask(ErrandsData(prompt=f"What is the weather in {city}?", city=city), self.config.task)


class ErrandsHarness(vf.Harness[vf.HarnessConfig]):
    NEEDS_CONTAINER = False
    EXECUTES_CODE = False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data):
        messages = []
        questions = [data.prompt, "Is it cold?"]
        async with AsyncOpenAI(base_url=endpoint, api_key=secret, max_retries=0) as client:
            for _ in range(ANSWERS_MAX):
                if not messages or messages[-1]["role"] == "assistant":
                    if not questions:
                        break
                    messages.append({"role": "user", "content": questions.pop(0)})
                answer = await client.chat.completions.create(model=ctx.model, messages=messages, tools=[WEATHER])
                message = answer.choices[0].message
                messages.append(message.model_dump(exclude_none=True))
                messages += [called(each) for each in message.tool_calls or []]
        return ProgramResult(exit_code=0, stdout="", stderr="")


def called(call) -> dict:
    try:
        content = json.dumps({"sky": "rainy", "degrees": DEGREES[json.loads(call.function.arguments)["city"]]})
    except (ValueError, KeyError, TypeError):
        content = "There is no weather for that."
    return {"role": "tool", "tool_call_id": call.id, "content": content}
