"""ART, unmodified, against a running server: register, roll out, train, evaluate old and new steps, clean up.

python check_art.py BASE_URL KEY BASE_MODEL; prints "ok". Called by test/clients/art.test.ts.
"""

import asyncio
import os
import sys

os.environ.setdefault("WANDB_MODE", "disabled")
os.environ.setdefault("WEAVE_DISABLED", "true")

import art  # noqa: E402
from art.serverless.backend import ServerlessBackend  # noqa: E402

GROUPS, ROLLOUTS, STEPS = 6, 6, 2
NAME = f"agent-{os.getpid()}"  # the server may be an old one


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


async def train(model: art.TrainableModel, backend: ServerlessBackend) -> dict[str, float]:
    groups = await art.gather_trajectory_groups(
        (art.TrajectoryGroup([*[rollout(model, number) for _ in range(ROLLOUTS)], fail()]) for number in range(GROUPS)),
        max_exceptions=GROUPS,
    )
    result = await backend.train(model, groups, learning_rate=1e-4, importance_sampling_level="sequence", kimi_k2_tau=0.1)
    return result.metrics


async def check(base_url: str, key: str, base_model: str) -> None:
    backend = ServerlessBackend(api_key=key, base_url=base_url)
    model = art.TrainableModel(name=NAME, project="art", base_model=base_model)
    await model.register(backend)
    assert model.id and model.entity, model
    assert await model.get_step() == 0

    for step in range(STEPS):
        metrics = await train(model, backend)
        assert await model.get_step() == step + 1
        assert metrics["loss/grad_norm"] > 0, metrics
        assert metrics["data/step_num_groups_trainable"] > 0, metrics

    # Another script of the same model finds it where it is.
    again = art.TrainableModel(name=NAME, project="art", base_model=base_model)
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
