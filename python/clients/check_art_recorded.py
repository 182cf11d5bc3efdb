"""ART's own recorder, unmodified: rollouts over each protocol that it records are trained, and kept by log.

python check_art_recorded.py BASE_URL KEY BASE_MODEL; prints "ok". Needs ART 0.5.23. Called by test/python/clients/art.test.ts.
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

os.environ.setdefault("WANDB_MODE", "disabled")
os.environ.setdefault("WEAVE_DISABLED", "true")

import anthropic  # noqa: E402
import art  # noqa: E402
import httpx  # noqa: E402
from art.serverless.backend import ServerlessBackend  # noqa: E402
from art_model import trainable_model  # noqa: E402
from openai import AsyncOpenAI  # noqa: E402

ROLLOUTS = 4
TURNS = 2


class Clients:
    """Of one model, over each protocol; `name` is the model's name in requests."""

    def __init__(self, base_url: str, key: str, name: str) -> None:
        self.name = name
        self.openai = AsyncOpenAI(base_url=base_url, api_key=key)
        self.anthropic = anthropic.AsyncAnthropic(base_url=base_url.removesuffix("/v1"), api_key=key)
        # Anthropic's SDK sends by a library (httpx2) from 2.0 that ART 0.5.23 does not record.
        self.http = httpx.AsyncClient(base_url=base_url, headers={"x-api-key": key}, timeout=60)


async def chat(to: Clients) -> str:
    """Two turns, the second of which is asked twice: a fork."""
    messages: list[Any] = [{"role": "user", "content": "What is 2 + 3?"}]
    first = await to.openai.chat.completions.create(model=to.name, messages=messages, max_tokens=8)
    said = first.choices[0].message.content or ""
    for more in ("Are you sure?", "And 4 + 5?"):
        then = [*messages, {"role": "assistant", "content": said}, {"role": "user", "content": more}]
        await to.openai.chat.completions.create(model=to.name, messages=then, max_tokens=8)
    return said


async def chat_stream(to: Clients) -> str:
    stream = await to.openai.chat.completions.create(
        model=to.name, messages=[{"role": "user", "content": "What is 7 + 1?"}], max_tokens=8, stream=True
    )
    return "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])


async def completions(to: Clients) -> str:
    text = "2 + 3 ="
    for _ in range(TURNS):
        text += (await to.openai.completions.create(model=to.name, prompt=text, max_tokens=6)).choices[0].text
    return text


async def completions_stream(to: Clients) -> str:
    stream = await to.openai.completions.create(model=to.name, prompt="4 + 3 =", max_tokens=6, stream=True)
    return "".join([chunk.choices[0].text async for chunk in stream if chunk.choices])


async def responses(to: Clients) -> str:
    first = await to.openai.responses.create(model=to.name, input="What is 2 + 6?", instructions="Be brief.", max_output_tokens=8)
    second = await to.openai.responses.create(
        model=to.name, input="Are you sure?", instructions="Be brief.", previous_response_id=first.id, max_output_tokens=8
    )
    return first.output_text + second.output_text


async def responses_stream(to: Clients) -> str:
    async with to.openai.responses.stream(model=to.name, input="What is 2 + 6?", max_output_tokens=8) as stream:
        return (await stream.get_final_response()).output_text


async def messages(to: Clients) -> str:
    asked: list[Any] = [{"role": "user", "content": "What is 5 + 6?"}]
    for more in ("Are you sure?", None):
        body = {"model": to.name, "system": "Be brief.", "messages": asked, "max_tokens": 8}
        answer = (await to.http.post("/messages", json=body)).raise_for_status().json()
        asked.append({"role": "assistant", "content": answer["content"]})
        if more:
            asked.append({"role": "user", "content": more})
    return str(asked)


async def messages_tool(to: Clients) -> str:
    """A forced call: what the model wrote as arguments comes back as an object."""
    schema = {"type": "object", "properties": {"city": {"enum": ["Rome", "Paris"]}}, "required": ["city"]}
    tools = [{"name": "get_weather", "description": "Weather of a city", "input_schema": schema}]
    asked = [{"role": "user", "content": "Weather in Rome?"}]
    body = {"model": to.name, "messages": asked, "tools": tools, "tool_choice": {"type": "any"}, "max_tokens": 48}
    return (await to.http.post("/messages", json=body)).raise_for_status().text


async def messages_sdk(to: Clients) -> str:
    asked: list[Any] = [{"role": "user", "content": "What is 5 + 6?"}]
    first = await to.anthropic.messages.create(model=to.name, messages=asked, max_tokens=8)
    asked += [{"role": "assistant", "content": first.content}, {"role": "user", "content": "Are you sure?"}]
    return str(await to.anthropic.messages.create(model=to.name, messages=asked, max_tokens=8))


async def messages_stream(to: Clients) -> str:
    asked: list[Any] = [{"role": "user", "content": "What is 4 + 9?"}]
    async with to.anthropic.messages.stream(model=to.name, messages=asked, max_tokens=8) as stream:
        return str(await stream.get_final_message())


Speak = Callable[[Clients], Awaitable[str]]
#: What is spoken, and how many token sequences each trajectory trains: a fork begins another, and so does each completion.
SPOKEN: list[tuple[Speak, range]] = [
    (chat, range(2, 4)),
    (chat_stream, range(1, 2)),
    (completions, range(1, 3)),
    (completions_stream, range(1, 2)),
    (responses, range(1, 3)),
    (responses_stream, range(1, 2)),
    (messages, range(1, 3)),
    (messages_tool, range(1, 2)),
]
if int(anthropic.__version__.split(".")[0]) < 2:
    SPOKEN = [(messages_sdk, range(1, 3)), (messages_stream, range(1, 2))]


async def record(speak: Speak, to: Clients, number: int) -> art.Trajectory:
    with art.Trajectory() as trajectory:
        await speak(to)
    trajectory.reward = float(number)
    assert not trajectory.messages_and_choices
    return trajectory


async def check_protocols(base_url: str, key: str, base_model: str, backend: ServerlessBackend) -> None:
    model = trainable_model(name=f"recorded-{os.getpid()}", project="art", base_model=base_model)
    await model.register(backend)
    assert model.id
    for step, (speak, sequences) in enumerate(SPOKEN):
        to = Clients(base_url, key, model.get_inference_name())
        group = await art.gather_trajectory_groups([art.TrajectoryGroup([record(speak, to, n) for n in range(ROLLOUTS)])])
        await backend._client.models.log(model_id=model.id, trajectory_groups=group, split="val")
        metrics = (await backend.train(model, group, learning_rate=1e-5)).metrics
        name = getattr(speak, "__name__", "")
        assert await model.get_step() == step + 1, name
        assert metrics["data/step_num_groups_trainable"] == 1, (name, metrics)
        assert metrics["data/step_num_datums"] / ROLLOUTS in sequences, (name, metrics)
        assert metrics["num_rendered_prompts"] == 0, (name, metrics)
        assert abs(metrics["ratio_mean"] - 1) < 1e-3 or name == "messages_tool", (name, metrics)
    await refuses_nothing_recorded(base_url, key, model.id)
    await backend.delete(model)


async def refuses_nothing_recorded(base_url: str, key: str, model_id: str) -> None:
    body = {"model_id": model_id, "trajectory_groups": [{"trajectories": [{"exchanges": {"responses": []}, "reward": 1}]}]}
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as http:
        answer = await http.post(f"{base_url}/preview/training-jobs", json=body)
    assert answer.status_code == 422 and "messages_and_choices, or exchanges" in answer.text, answer.text


async def check(base_url: str, key: str, base_model: str) -> None:
    backend = ServerlessBackend(api_key=key, base_url=base_url)
    await check_protocols(base_url, key, base_model, backend)
    await backend.close()


asyncio.run(check(*sys.argv[1:4]))
print("ok")
