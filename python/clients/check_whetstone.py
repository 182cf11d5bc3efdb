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
