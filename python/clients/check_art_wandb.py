"""ART's use of wandb, both unmodified: fine-tuning from a list, a generator and a file, metrics, provenance, pull, fork, delete.

python check_art_wandb.py SERVER_URL KEY BASE_MODEL; prints "ok". Called by test/python/clients/art.test.ts.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path

server, key, base_model = sys.argv[1:4]
directory = Path(tempfile.mkdtemp())
for name in ("WANDB_CACHE_DIR", "WANDB_DATA_DIR", "WANDB_CONFIG_DIR", "WANDB_DIR"):
    os.environ[name] = str(directory)
os.environ.update(
    TMPDIR=str(directory),
    NETRC=str(directory / "netrc"),
    WANDB_BASE_URL=server,
    WANDB_API_KEY=key,
    WANDB_SILENT="true",
)
os.chdir(directory)  # ART writes its own log

import art  # noqa: E402
import wandb  # noqa: E402
from art.serverless.backend import ServerlessBackend  # noqa: E402
from art_model import trainable_model  # noqa: E402
from art.utils.sft import train_sft_from_file  # noqa: E402

PROJECT = f"art-wandb-{os.getpid()}"  # unique, because the server may have earlier projects


def taught(number: int) -> art.Trajectory:
    messages = [{"role": "user", "content": f"Say {number}."}, {"role": "assistant", "content": str(number)}]
    return art.Trajectory(messages_and_choices=messages, reward=0.0)


async def check() -> None:
    backend = ServerlessBackend(base_url=f"{server}/v1")  # reads the key from the environment
    model = trainable_model(name="agent", project=PROJECT, base_model=base_model)
    await model.register(backend)

    config = art.TrainSFTConfig(learning_rate=1e-3, batch_size=2)
    await model.train_sft([taught(number) for number in range(4)], config)
    await model.train_sft((taught(number) for number in range(4)), config)
    file = directory / "train.jsonl"
    lines = [json.dumps({"messages": taught(number).messages()}) for number in range(4)]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    await train_sft_from_file(model, str(file), batch_size=2)
    assert await model.get_step() == 3, await model.get_step()
    await model.log(metrics={"accuracy": 0.75}, split="val", step=3)

    api = wandb.Api()
    run = api.run(f"{model.entity}/{PROJECT}/agent")
    until = time.monotonic() + 120  # the library sends every 15 s
    rows = list(run.scan_history())
    while not any(row.get("val/accuracy") == 0.75 for row in rows):
        assert time.monotonic() < until, rows
        await asyncio.sleep(1)
        run = wandb.Api().run(f"{model.entity}/{PROJECT}/agent")
        rows = list(run.scan_history())
    assert sum("loss/grad_norm" in row for row in rows) == 3, rows
    logged = [artifact for artifact in run.logged_artifacts() if artifact.type == "dataset"]
    assert len(logged) == 3 and all(artifact.metadata["num_trajectories"] == 4 for artifact in logged), logged
    newest = api.artifact(f"{model.entity}/{PROJECT}/agent:latest", type="lora")
    assert (newest.version, newest.metadata["wandb.provenance"]) == ("v3", ["serverless-sft"]), newest.metadata

    pulled = directory / "pulled"
    await backend._experimental_pull_model_checkpoint(model, step="latest", local_path=str(pulled))
    weights = (pulled / "adapter_model.safetensors").read_bytes()
    assert json.loads((pulled / "adapter_config.json").read_text())["base_model_name_or_path"] == base_model

    fork = trainable_model(name="fork", project=PROJECT, base_model=base_model)
    await fork.register(backend)
    await backend._experimental_fork_checkpoint(fork, from_model="agent", not_after_step=3)
    assert await fork.get_step() == 3
    copy = directory / "fork"
    await backend._experimental_pull_model_checkpoint(fork, local_path=str(copy))
    assert (copy / "adapter_model.safetensors").read_bytes() == weights
    await fork.train_sft([taught(number) for number in range(4)], config)
    assert await fork.get_step() == 4

    await backend._delete_checkpoint_files(model, [3])
    steps = [each.step async for each in backend._client.models.checkpoints.list(model_id=model.id)]
    assert steps == [3], steps
    assert [each.version for each in api.artifacts("lora", f"{model.entity}/{PROJECT}/agent")] == ["v3"]
    await backend.delete(fork)
    await backend.close()
    wandb.finish()


asyncio.run(check())
print("ok")
