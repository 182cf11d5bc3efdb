"""ART's own recorder, unmodified: rollouts over each protocol that it records are trained, and kept by log; its pipeline trains.

python check_art_recorded.py recorder|pipeline BASE_URL KEY BASE_MODEL; prints "ok". Needs ART 0.5.23, for the pipeline also torch,
which ART imports for it whatever the backend is. Called by test/python/clients/art.test.ts.
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

os.environ.setdefault("WANDB_MODE", "disabled")
os.environ.setdefault("WEAVE_DISABLED", "true")

import art  # noqa: E402
import httpx  # noqa: E402
from art.serverless.backend import ServerlessBackend  # noqa: E402
from art_model import trainable_model  # noqa: E402
from openai import AsyncOpenAI  # noqa: E402

ROLLOUTS = 4
TURNS = 2
STEPS = 3
MAX_STEPS_OFF_POLICY = 2


class Clients:
    """Of one model, over each protocol; `name` is the model's name in requests."""

    def __init__(self, base_url: str, key: str, name: str) -> None:
        self.name = name
        self.openai = AsyncOpenAI(base_url=base_url, api_key=key)
        # Not Anthropic's SDK: 2.14 sends by a library (httpx2) that ART 0.5.23 does not record.
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


# Streams of messages are not here: ART 0.5.23 cannot read one with this release of Anthropic's SDK, and records nothing.


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


async def check_pipeline(base_url: str, key: str, base_model: str, backend: ServerlessBackend) -> None:
    """Rollouts go on while a step trains; their steps are at most MAX_STEPS_OFF_POLICY behind."""
    from art.pipeline_trainer import PipelineTrainer

    model = trainable_model(name=f"pipeline-{os.getpid()}", project="art", base_model=base_model)
    await model.register(backend)
    asked: set[str] = set()

    async def rollout(model: art.TrainableModel, scenario: dict[str, int], _config: None) -> art.TrajectoryGroup:
        name = model.get_inference_name()
        asked.add(name)
        to = Clients(base_url, key, name)
        return art.TrajectoryGroup([await record(chat_stream, to, n + scenario["number"]) for n in range(ROLLOUTS)])

    trainer = PipelineTrainer(
        model=model,
        backend=backend,
        rollout_fn=rollout,
        scenarios=[{"number": number} for number in range(40)],
        config=None,
        num_rollout_workers=2,
        min_batch_size=1,
        max_batch_size=2,
        max_steps=STEPS,
        max_steps_off_policy=MAX_STEPS_OFF_POLICY,
        eval_every_n_steps=0,
        eval_at_start=False,
    )
    await trainer.train()
    assert await model.get_step() == STEPS
    assert len(asked) > 1, asked
    await backend.delete(model)


CHECKS = {"recorder": check_protocols, "pipeline": check_pipeline}


async def check(name: str, base_url: str, key: str, base_model: str) -> None:
    backend = ServerlessBackend(api_key=key, base_url=base_url)
    await CHECKS[name](base_url, key, base_model, backend)
    await backend.close()


asyncio.run(check(*sys.argv[1:5]))
print("ok")
