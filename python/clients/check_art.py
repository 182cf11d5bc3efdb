"""ART, unmodified, against a running server: register, roll out, train, evaluate old and new steps, clean up.

python check_art.py BASE_URL KEY BASE_MODEL; prints "ok". Called by test/python/clients/art.test.ts.
"""

import asyncio
import os
import sys

os.environ.setdefault("WANDB_MODE", "disabled")
os.environ.setdefault("WEAVE_DISABLED", "true")

import art  # noqa: E402
from art.serverless.backend import ServerlessBackend  # noqa: E402
from art_model import trainable_model  # noqa: E402

HISTORY = art.Trajectory.model_fields["additional_histories"].annotation.__args__[0]  # its name differs between releases
GROUPS, ROLLOUTS, STEPS = 6, 6, 2
NAME = f"agent-{os.getpid()}"  # unique, because the server may have earlier models


async def rollout(model: art.TrainableModel, number: int, step: int | None = None) -> art.Trajectory:
    """One question, then a second turn; the reward prefers short answers, so that siblings differ."""
    trajectory = art.Trajectory(
        messages_and_choices=[{"role": "user", "content": f"What is {10 + number} + {20 + number}?"}],
        reward=0.0,
        metadata={"number": number},
        metrics={"answered": True},
    )
    client = model.openai_client()
    for follow_up in ("Are you sure?", None):
        completion = await client.chat.completions.create(
            model=model.get_inference_name(step), messages=trajectory.messages(), max_tokens=24, temperature=1.0
        )
        trajectory.messages_and_choices.append(completion.choices[0])
        trajectory.reward -= 0.1 * len(completion.choices[0].message.content or "")
        if follow_up:
            trajectory.messages_and_choices.append({"role": "user", "content": follow_up})
    return trajectory


async def fail() -> art.Trajectory:
    raise RuntimeError("this rollout fails")


WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Weather of a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


async def ask_tool(model: art.TrainableModel, city: str) -> art.Trajectory:
    """A tool call with its result, and the same question alone as a second history; the reward is that of the call."""
    trajectory = art.Trajectory(
        messages_and_choices=[{"role": "user", "content": f"What is the weather in {city}?"}], tools=[WEATHER], reward=0.0
    )
    client, name = model.openai_client(), model.get_inference_name()
    answer = await client.chat.completions.create(
        model=name, messages=trajectory.messages(), tools=[WEATHER], tool_choice="required", max_tokens=48
    )
    trajectory.messages_and_choices.append(answer.choices[0])
    for call in answer.choices[0].message.tool_calls or ():
        trajectory.messages_and_choices.append({"role": "tool", "tool_call_id": call.id, "content": "sunny"})
        trajectory.reward += len(call.function.arguments) / 100
    alone = [{"role": "user", "content": city}]
    second = await client.chat.completions.create(model=name, messages=alone, max_tokens=8)
    trajectory.additional_histories.append(HISTORY(messages_and_choices=[*alone, second.choices[0]]))
    return trajectory


async def train(model: art.TrainableModel, backend: ServerlessBackend) -> dict[str, float]:
    groups = await art.gather_trajectory_groups(
        [
            *(art.TrajectoryGroup([*[rollout(model, number) for _ in range(ROLLOUTS)], fail()]) for number in range(GROUPS)),
            art.TrajectoryGroup([ask_tool(model, "Paris") for _ in range(ROLLOUTS)]),
        ],
        max_exceptions=GROUPS,
    )
    await backend._client.models.log(model_id=model.id, trajectory_groups=groups, split="val")
    result = await backend.train(model, groups, learning_rate=1e-4, importance_sampling_level="sequence", kimi_k2_tau=0.1)
    return result.metrics


async def check(base_url: str, key: str, base_model: str) -> None:
    backend = ServerlessBackend(api_key=key, base_url=base_url)
    model = trainable_model(name=NAME, project="art", base_model=base_model)
    await model.register(backend)
    assert model.id and model.entity, model
    assert await model.get_step() == 0

    for step in range(STEPS):
        metrics = await train(model, backend)
        assert await model.get_step() == step + 1
        assert metrics["loss/grad_norm"] > 0, metrics
        assert metrics["data/step_num_groups_trainable"] > 0, metrics

    # Another script with the same model finds it in the same state.
    again = trainable_model(name=NAME, project="art", base_model=base_model)
    await again.register(backend)
    assert (again.id, await again.get_step()) == (model.id, STEPS)

    old, new = await asyncio.gather(rollout(model, 1, step=0), rollout(model, 1, step=STEPS))
    assert len(old.messages_and_choices) == len(new.messages_and_choices) == 4

    await backend._delete_checkpoint_files(model, [STEPS])
    assert await model.get_step() == STEPS
    await backend.delete(model)
    await backend.close()


asyncio.run(check(*sys.argv[1:4]))
print("ok")
