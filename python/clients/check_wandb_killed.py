"""A plain script of the wandb library. Its server is killed twice while it logs; the script does not notice, and no data is lost.

python check_wandb_killed.py SERVER_URL KEY MEGABYTES; prints "ok". Called by test/python/clients/wandb-process.test.ts, which kills.
"""

import hashlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

server, key, megabytes = sys.argv[1], sys.argv[2], int(sys.argv[3])
directory = Path(tempfile.mkdtemp())
for name in ("WANDB_CACHE_DIR", "WANDB_DATA_DIR", "WANDB_CONFIG_DIR", "WANDB_DIR"):
    os.environ[name] = str(directory)
os.environ.update(
    NETRC=str(directory / "netrc"), WANDB_BASE_URL=server, WANDB_API_KEY=key, WANDB_SILENT="true"
)

import wandb  # noqa: E402

POINTS = 2_000


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def made() -> wandb.Artifact:
    artifact = wandb.Artifact("large", type="dataset")
    artifact.add_dir(str(source))
    return artifact


def small() -> wandb.Artifact:
    path = directory / "small.txt"
    path.write_text("small", encoding="utf-8")
    artifact = wandb.Artifact("small", type="dataset")
    artifact.add_file(str(path))
    return artifact


try:
    source = directory / "source"
    source.mkdir()
    for number in range(megabytes):
        (source / f"{number}.bin").write_bytes(os.urandom(1_000_000))

    run = wandb.init(project="killed", id="run")
    run.log_artifact(small()).wait()  # the library requests the key when it logs the first artifact, and waits at most 19 s
    for step in range(POINTS):
        run.log({"loss": step})
    try:
        logged = run.log_artifact(made()).wait()
    except ValueError as error:  # the library gave up and reports it; logging the same again succeeds
        print("repeated after:", error)
        logged = run.log_artifact(made()).wait()
    for step in range(POINTS):
        run.log({"loss": POINTS + step})
    run.finish()

    api = wandb.Api()
    read = api.run("default/killed/run")
    assert read.state == "finished", read.state
    losses = [row["loss"] for row in read.scan_history(keys=["loss"])]
    assert losses == list(range(2 * POINTS)), (len(losses), losses[:3], losses[-3:])
    assert [each.version for each in api.artifacts("dataset", "default/killed/large")] == ["v0"]
    assert [each.name for each in read.logged_artifacts()] == ["small:v0", "large:v0"]
    shutil.rmtree(directory / "artifacts", ignore_errors=True)  # the cache has the files that were sent
    root = Path(api.artifact("default/killed/large:v0").download(root=str(directory / "read")))
    names = sorted(path.name for path in source.iterdir())
    assert sorted(path.name for path in root.iterdir()) == names
    for name in names:
        assert digest(root / name) == digest(source / name), name
    print("ok")
finally:
    shutil.rmtree(directory, ignore_errors=True)
