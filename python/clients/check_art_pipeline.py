"""ART's PipelineTrainer, unmodified: rollouts and evaluations go on while a step trains, each pinned to a step of the model.

python check_art_pipeline.py BASE_URL KEY BASE_MODEL; prints "ok". Needs ART 0.5.23. Called by test/python/clients/art.test.ts.
"""

import asyncio
import os
import re
import sys
import types
from pathlib import Path

os.environ.setdefault("WANDB_MODE", "disabled")
os.environ.setdefault("WEAVE_DISABLED", "true")

import art  # noqa: E402
import httpx  # noqa: E402
from art.pipeline_trainer import PipelineTrainer  # noqa: E402
from art.serverless.backend import ServerlessBackend  # noqa: E402
from art_model import trainable_model  # noqa: E402

ROLLOUTS = 4
STEPS = 3
MAX_STEPS_OFF_POLICY = 2


class LocalBackend:
    """ART asks of each backend whether it is this one, which it can import only where torch and its CUDA libraries are installed."""


local = types.ModuleType("art.local.backend")
local.LocalBackend = LocalBackend  # type: ignore[attr-defined]
sys.modules["art.local.backend"] = local


def step_in(name: str) -> int:
    found = re.search(r":step(\d+)$", name)
    assert found, f"the rollout is not pinned to a step: {name}"
    return int(found[1])


async def ask(model: art.TrainableModel, name: str, number: int) -> art.Trajectory:
    """Two turns with the client of the model; the step that answered is the one that was asked for. Short answers are better."""
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": f"What is {number} + 7?"}], reward=0.0)
    client = model.openai_client()
    for follow_up in ("Are you sure?", None):
        answer = await client.chat.completions.create(
            model=name, messages=trajectory.messages(), max_tokens=12, temperature=1.0, logprobs=True
        )
        choice = answer.choices[0]
        assert (choice.model_extra or {})["policy_step"] == step_in(name), choice
        trajectory.messages_and_choices.append(choice)
        trajectory.reward -= 0.1 * len(choice.message.content or "")
        if follow_up:
            trajectory.messages_and_choices.append({"role": "user", "content": follow_up})
    return trajectory


async def recorded(model: art.TrainableModel, name: str, number: int) -> art.Trajectory:
    """The same, kept by ART's recorder."""
    with art.Trajectory() as trajectory:
        said = await ask(model, name, number)
    trajectory.reward = said.reward
    assert trajectory.exchanges.chat_completions and not trajectory.messages_and_choices
    return trajectory


async def check(base_url: str, key: str, base_model: str) -> None:
    backend = ServerlessBackend(api_key=key, base_url=base_url)
    name = f"pipeline-{os.getpid()}"
    model = trainable_model(name=name, project="art", base_model=base_model)
    await model.register(backend)
    trained_behind: list[int] = []
    asked: set[int] = set()
    evaluated: set[int] = set()

    async def rollout(model: art.TrainableModel, scenario: dict[str, int], _config: None) -> art.TrajectoryGroup:
        pinned = model.get_inference_name()
        asked.add(step_in(pinned))
        behind = await model.get_step() - step_in(pinned)
        trained_behind.append(behind)
        speak = recorded if scenario["number"] % 2 else ask
        return art.TrajectoryGroup([await speak(model, pinned, scenario["number"]) for _ in range(ROLLOUTS)])

    async def evaluate(model: art.TrainableModel, step: int, _config: None) -> list[art.Trajectory]:
        assert step_in(model.get_inference_name()) == step
        evaluated.add(step)
        return [await ask(model, model.get_inference_name(step), number) for number in range(2)]

    trainer = PipelineTrainer(
        model=model,
        backend=backend,
        rollout_fn=rollout,
        eval_fn=evaluate,
        scenarios=[{"number": number} for number in range(60)],
        config=None,
        num_rollout_workers=3,
        min_batch_size=1,
        max_batch_size=2,
        max_steps=STEPS,
        max_steps_off_policy=MAX_STEPS_OFF_POLICY,
        eval_every_n_steps=1,
        eval_at_start=True,
    )
    await trainer.train()
    assert await model.get_step() == STEPS
    assert len(asked) > 1, asked
    # ART swallows the failure of an evaluation; it notes those that it accepted.
    assert trainer.state.completed_eval_steps >= {0, 1}, (trainer.state.completed_eval_steps, evaluated)
    await staleness_is_known(base_url, key, str(model.id))
    await backend.delete(model)
    await backend.close()


async def staleness_is_known(base_url: str, key: str, model_id: str) -> None:
    """Every job knows the step of its tokens; none is further behind than the trainer allows, and some are behind."""
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {key}"}, base_url=base_url) as http:
        jobs = (await http.get("/preview/training-jobs", params={"model_id": model_id})).raise_for_status().json()["data"]
        metrics = []
        for job in jobs:
            events = (await http.get(f"/preview/training-jobs/{job['id']}/events")).raise_for_status().json()["data"]
            metrics.append(next(event["data"] for event in events if event["type"] == "gradient_step"))
    assert len(metrics) == STEPS, metrics
    assert all(0 <= each["staleness_max"] <= MAX_STEPS_OFF_POLICY for each in metrics), metrics
    assert any(each["staleness_max"] > 0 for each in metrics), metrics
    assert all(each["num_rendered_prompts"] == 0 for each in metrics), metrics


os.chdir(Path(sys.argv[4]))
asyncio.run(check(*sys.argv[1:4]))
print("ok")
