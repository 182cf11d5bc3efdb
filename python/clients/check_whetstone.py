"""The features of whetstone-client outside of its README's loop: coroutines, streams, artifacts, evaluation, checkpoints.

Usage: check_whetstone.py BASE_URL KEY MODEL; prints "ok".
"""

import asyncio
import json
import sys
import tarfile
import tempfile
from pathlib import Path

from whetstone_client import (
    ApiError,
    AsyncClient,
    Client,
    EarlyStopping,
    Evaluated,
    RlJob,
    SftConfig,
    SftJob,
    TrainingProgress,
    Trajectory,
    gather_async,
)


async def check_async(url: str, key: str, base: str) -> None:
    async with AsyncClient(url, key) as client:
        model = await client.register_model("python", "words", base)
        question = {"role": "user", "content": "Say yes, no or maybe."}

        async def play(scenario, place):
            answer = await client.chat([scenario], model=model.path, n=4, temperature=1, max_tokens=4, seed=place.group)
            return [Trajectory(messages_and_choices=[scenario, choice], reward=choice.index) for choice in answer.choices]

        gathered = await gather_async([question, question], play)
        assert (gathered.trajectories, gathered.failures) == (8, [])
        prompts = [{"messages": [question], "metadata": {"wanted": "maybe"}}]
        job = RlJob(
            model_id=model.id, trajectory_groups=gathered.groups, evaluation={"prompts": prompts, "samples": 2, "max_tokens": 4}
        )
        heard: list[TrainingProgress] = []
        done = await client.train(job, on_progress=heard.append)
        assert (done.status, done.step) == ("succeeded", 1)
        assert heard[-1].done == heard[-1].total > 0, heard
        assert "loss" in heard[-1].metrics, heard
        assert await client.reward_answers(done.id, lambda _, prompt: len(prompt.metadata["wanted"])) == 5
        steps = [step async for step in client.list_history(model.id)]
        assert steps[-1].metrics["val/reward"] == 5, steps

        await check_async_episode(client, key, model.path)

        stopping = EarlyStopping(patience=2)
        rewards = {2: 9.0, 3: 9.0, 4: 1.0, 5: 20.0}
        for step, reward in rewards.items():
            again = await client.train(job)
            assert again.step == step, again
            mean = await client.reward_answers(again.id, lambda _answer, _prompt, reward=reward: reward)
            if stopping.report(step, mean):
                break
        best = await client.best_checkpoint(model.id, "val/reward")
        assert (step, best) == (4, stopping.best), (step, best, stopping)
        assert best == Evaluated(2, 9.0), best


async def check_async_episode(client: AsyncClient, key: str, model: str) -> None:
    episode = await client.episode(model, group="sums", name="judged")
    assert episode.headers == {"X-Whetstone-Episode": "judged", "X-Whetstone-Group": "sums"}, episode.headers
    async with AsyncClient(episode.base_url, key) as agent:
        answer = await agent.chat([{"role": "user", "content": "What is 2 + 3?"}], model=model, max_tokens=4)
    rewarded = await episode.reward(0.5, turn_rewards={answer.id: 1})
    assert (rewarded.status, rewarded.reward, rewarded.call_count) == ("rewarded", 0.5, 1), rewarded
    calls = [call async for call in episode.calls()]
    assert [call.answer_id for call in calls] == [answer.id], calls
    listed = [each.name async for each in client.list_episodes(group="sums", status="rewarded", order="asc")]
    assert listed == ["judged"], listed
    await episode.delete()


def check_episode(client: Client, url: str, key: str, model: str) -> None:
    episode = client.episode(model, metadata={"seed": 7})
    assert episode.anthropic_base_url == f"{url.removesuffix('/v1')}/e/{episode.name}", episode.anthropic_base_url
    with Client(episode.base_url, key) as agent:
        agent.chat([{"role": "user", "content": "What is 2 + 3?"}], model=model, max_tokens=4)
    assert episode.reward(1, metrics={"right": 1}).metrics == {"right": 1}
    assert [each.choices[0].completion_tokens > 0 for each in episode.calls()] == [True]
    (call,) = client.list_episode_tokens(episode.name)
    (choice,) = call.choices
    assert len(choice.token_ids) == len(choice.logprobs) > 0, choice
    episode.delete()
    try:
        episode.read()
    except ApiError as error:
        assert (error.status, error.code) == (404, "episode_not_found"), error
    else:
        raise AssertionError("a deleted episode was read")


def check_plain(url: str, key: str, base: str, directory: Path) -> None:
    with Client(url, key) as client:
        said = "".join(
            client.chat_stream([{"role": "user", "content": "What is 2 + 3?"}], model=base, temperature=0, max_tokens=6)
        )
        assert said, said

        examples = directory / "examples.jsonl"
        turns = [{"role": "user", "content": "Say so."}, {"role": "assistant", "content": "so"}]
        examples.write_text(json.dumps({"messages": turns}) + "\n")
        pushed = client.push_artifact("python/examples", examples)
        assert client.push_artifact("python/examples", examples).files == pushed.files
        client.pull_artifact("python/examples:v0", directory / "pulled")
        assert (directory / "pulled" / "examples.jsonl").read_bytes() == examples.read_bytes()

        model = client.register_model("python", "echo", base)
        check_episode(client, url, key, model.path)
        config = SftConfig(batch_size=1, epochs=2, lr_scheduler_type="cosine")
        job = client.train(SftJob(model_id=model.id, training_data_url=pushed.uri, config=config))
        assert client.follow(job.id).status == "succeeded"
        assert [event.type for event in client.list_events(job.id)][-1] == "training_ended"
        client.download_checkpoint(model.id, None, directory / "adapter.tar")
        with tarfile.open(directory / "adapter.tar") as tar:
            assert "adapter_model.safetensors" in [Path(name).name for name in tar.getnames()]
        assert [checkpoint.step for checkpoint in client.list_checkpoints(model.id)] == [0, 1]

        try:
            client.get_model("00000000-0000-0000-0000-000000000000")
        except ApiError as error:
            assert (error.status, bool(error.request_id)) == (404, True), error
        else:
            raise AssertionError("a missing model was found")


if __name__ == "__main__":
    url, key, model = sys.argv[1:]
    asyncio.run(check_async(url, key, model))
    with tempfile.TemporaryDirectory() as directory:
        check_plain(url, key, model, Path(directory))
    print("ok")
