"""How much a server's memory grows while the wandb library sends a large artifact and reads it back, and how long both take.

python measure_wandb_artifact.py SERVER_URL KEY SERVER_PID [MEGABYTES]; prints one line of JSON. Linux. Called by
test/python/clients/wandb-process.test.ts with few megabytes.
"""

import hashlib
import json
import os
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

server, key, pid = sys.argv[1:4]
megabytes = int(sys.argv[4]) if len(sys.argv) > 4 else 500
WARM_MEGABYTES = 8
directory = Path(tempfile.mkdtemp())
for name in ("WANDB_CACHE_DIR", "WANDB_DATA_DIR", "WANDB_CONFIG_DIR", "WANDB_DIR"):
    os.environ[name] = str(directory)
os.environ.update(
    NETRC=str(directory / "netrc"), WANDB_BASE_URL=server, WANDB_API_KEY=key, WANDB_SILENT="true"
)

import wandb  # noqa: E402


def resident() -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


class Peak(threading.Thread):
    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.before = self.most = resident()

    def run(self) -> None:
        while True:
            self.most = max(self.most, resident())
            time.sleep(0.05)


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def made(name: str, megabytes: int) -> tuple[Path, wandb.Artifact]:
    source = directory / f"{name}.bin"
    with source.open("wb") as file:
        for _ in range(megabytes):
            file.write(os.urandom(1_000_000))
    artifact = wandb.Artifact(name, type="dataset")
    artifact.add_file(str(source))
    return source, artifact


def download(logged: wandb.Artifact) -> Path:
    shutil.rmtree(directory / "artifacts", ignore_errors=True)  # the cache has the files that were sent
    name = logged.name.split(":")[0]
    artifact = wandb.Api().artifact(f"default/large/{name}:{logged.version}")
    return Path(artifact.download(root=str(directory / "read"))) / f"{name}.bin"


try:
    run = wandb.init(project="large", id=f"large-{os.getpid()}")
    download(run.log_artifact(made("small", WARM_MEGABYTES)[1]).wait())  # memory that a server allocates only once is not growth
    source, artifact = made("large", megabytes)
    peak = Peak()
    peak.start()
    begun = time.monotonic()
    logged = run.log_artifact(artifact).wait()
    sent = time.monotonic()
    read = download(logged)
    ended = time.monotonic()
    run.finish()
    assert digest(read) == digest(source)
    seconds = {"up_s": round(sent - begun, 1), "down_s": round(ended - sent, 1)}
    growth = {"before_mb": round(peak.before), "growth_mb": round(peak.most - peak.before)}
    print(json.dumps({"megabytes": megabytes, **seconds, **growth}))
finally:
    shutil.rmtree(directory, ignore_errors=True)
