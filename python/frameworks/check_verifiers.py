"""verifiers, unmodified, against a running server: base URL, key and model are arguments.

The environment of errands.py, through the train client (renderers, token ids) and the evaluation client (chat). Each rollout is an episode
of the server, and the model is trained from those. Prints "ok" at the end; a failed assertion is the exit status and message that
test/python/clients/python-frameworks.test.ts reports.
"""

import asyncio
import os
import sys
from itertools import chain, pairwise
from pathlib import Path

import verifiers.v1 as vf
from renderers import DefaultRendererConfig
from verifiers.v1.clients import ClientConfig, EvalClientConfig, TrainClientConfig
from verifiers.v1.runtimes import SubprocessConfig

from errands import ErrandsTaskset

root = Path(__file__).parents[2]
sys.path.insert(0, str(root / "python" / "whetstone-client" / "src"))
from whetstone_client import AsyncClient, AsyncEpisode, RlJob  # noqa: E402

base_url, api_key, base_model = sys.argv[1:]
os.environ["OWN_API_KEY"] = api_key
MODEL = "verifiers/errands"
STEPS = 5
ROLLOUTS = 8
RISE = 0.2
TASKS = list(ErrandsTaskset(vf.TasksetConfig(id="errands")))


def train_client(address: str) -> ClientConfig:
    renderer = DefaultRendererConfig(tool_parser="qwen3")
    tokenizer = str(root / "models" / "starter")
    return TrainClientConfig(base_url=address, api_key_var="OWN_API_KEY", renderer=renderer, renderer_model_name=tokenizer)


def eval_client(address: str) -> ClientConfig:
    return EvalClientConfig(base_url=address, api_key_var="OWN_API_KEY")


async def play(task: vf.Task, client: ClientConfig, seed: int) -> vf.Trace:
    seat = vf.AgentConfig(
        model=MODEL,
        client=client,
        harness={"id": "errands"},
        runtime=SubprocessConfig(),
        sampling={"temperature": 1, "max_tokens": 40, "seed": seed},
    )
    trace = await vf.Agent(seat).run(task)
    assert trace.ok, trace.errors
    return trace


async def rollout(server: AsyncClient, task: vf.Task, group: str, seed: int, client_at) -> tuple[AsyncEpisode, vf.Trace]:
    episode = await server.episode(MODEL, group=group)
    trace = await play(task, client_at(episode.base_url), seed)
    await episode.reward(trace.reward)
    return episode, trace


async def rollouts(server: AsyncClient, name: str, client_at) -> list[list[tuple[AsyncEpisode, vf.Trace]]]:
    """By task."""
    return await asyncio.gather(
        *(
            asyncio.gather(*(rollout(server, task, f"{name}-{task.data.city}", seed, client_at) for seed in range(ROLLOUTS)))
            for task in TASKS
        )
    )


def mean_reward(groups: list[list[tuple[AsyncEpisode, vf.Trace]]]) -> float:
    rewards = [trace.reward for _, trace in chain(*groups)]
    return sum(rewards) / len(rewards)


async def check_tokens(server: AsyncClient, episode: AsyncEpisode, trace: vf.Trace) -> None:
    """The server recorded what the renderer read, and nothing else; each call continues the one before it."""
    calls = [call async for call in server.list_episode_tokens(episode.id)]
    sampled = [node for node in trace.nodes if node.sampled]
    assert len(calls) == len(sampled) >= 3, (len(calls), len(sampled))
    for call, node in zip(calls, sampled, strict=True):
        read = [token for token, is_sampled in zip(node.token_ids, node.mask, strict=True) if is_sampled]
        assert call.choices[0].token_ids == read, (call, read)
        assert all(abs(a - b) < 1e-5 for a, b in zip(call.choices[0].logprobs, node.logprobs, strict=True)), call
        assert call.trained and call.policy_step == 0, call
    for before, call in pairwise(calls):
        earlier = before.prompt_token_ids + before.choices[0].token_ids
        assert call.prompt_token_ids[: len(earlier)] == earlier, (before, call)


async def main() -> None:
    async with AsyncClient(base_url.removesuffix("/v1"), api_key) as server:
        model = await server.register_model(project="verifiers", name="errands", base_model=base_model)
        means = []
        for step in range(STEPS):
            groups = await rollouts(server, f"step{step}", train_client)
            if step == 0:
                for episode, trace in chain(*groups):
                    await check_tokens(server, episode, trace)
            means.append(mean_reward(groups))
            named = [[episode.id for episode, _ in group] for group in groups]
            ratios = []
            await server.train(
                RlJob(model_id=model.id, episode_groups=named, experimental_config={"learning_rate": 0.005}),
                on_progress=lambda progress: ratios.append(progress.metrics["ratio_mean"]),
            )
            assert all(abs(ratio - 1) < 1e-3 for ratio in ratios[:1]), ratios
        means.append(mean_reward(await rollouts(server, "eval", eval_client)))
        print("mean reward by step:", *(f"{mean:.2f}" for mean in means))
        assert means[-1] > means[0] + RISE, means


asyncio.run(main())
print("ok")
