"""Artifacts through the wandb library, unmodified: logged, used, read back byte by byte, changed, deleted; an adapter becomes a checkpoint.

python check_wandb_artifacts.py SERVER_URL KEY BASE_MODEL; prints "ok". Called by test/python/clients/wandb.test.ts.
"""

import json
import os
import shutil
import struct
import sys
import tempfile
import urllib.request
from pathlib import Path

server, key, base_model = sys.argv[1:4]
directory = Path(tempfile.mkdtemp())
cache = directory / "cache"
for name in ("WANDB_DATA_DIR", "WANDB_CONFIG_DIR", "WANDB_DIR"):
    os.environ[name] = str(directory)
os.environ.update(
    WANDB_CACHE_DIR=str(cache),
    NETRC=str(directory / "netrc"),
    WANDB_BASE_URL=server,
    WANDB_API_KEY=key,
    WANDB_SILENT="true",
)

import wandb  # noqa: E402

PROJECT = f"artifacts-{os.getpid()}"  # unique, because the server may have earlier projects
NAME = f"default/{PROJECT}/corpus"
api = wandb.Api()


def post(path: str, body: dict) -> dict:
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    request = urllib.request.Request(f"{server}/v1{path}", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def get(path: str) -> dict:
    request = urllib.request.Request(f"{server}/v1{path}", headers={"authorization": f"Bearer {key}"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def write(files: dict[str, bytes]) -> Path:
    root = Path(tempfile.mkdtemp(dir=directory))
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    return root


def log(run, name: str, type: str, files: dict[str, bytes], aliases: list[str] | None = None, **about) -> wandb.Artifact:
    artifact = wandb.Artifact(name, type=type, **about)
    artifact.add_dir(str(write(files)))
    return run.log_artifact(artifact, aliases=aliases).wait()


def download(artifact: wandb.Artifact) -> dict[str, bytes]:
    shutil.rmtree(cache, ignore_errors=True)  # it has every file that was sent from here
    root = Path(artifact.download(root=tempfile.mkdtemp(dir=directory)))
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def refused(what, *words: str) -> None:
    try:
        what()
    except Exception as error:  # noqa: BLE001
        assert all(word in str(error) for word in words), error
        return
    raise AssertionError(f"not refused: {words}")


first = {"train.jsonl": b'{"a": 1}\n' * 1000, "more/with space.txt": os.urandom(100_000)}
second = {**first, "more/new.bin": os.urandom(1_000)}

run = wandb.init(project=PROJECT, id="writer")
logged = log(run, "corpus", "dataset", first, ["first"], metadata={"rows": 1000})
assert (logged.version, logged.state, logged.type) == ("v0", "COMMITTED", "dataset"), logged.version
assert sorted(logged.aliases) == ["first", "latest"], logged.aliases
assert log(run, "corpus", "dataset", first).version == "v0"  # equal files are the same version
assert log(run, "corpus", "dataset", second, ["best"]).version == "v1"
linked = wandb.Artifact("linked", type="dataset")
linked.add_reference("https://example.com/train.jsonl", checksum=False)
refused(lambda: run.log_artifact(linked).wait(), "not references")
run.finish()

listed = {file.name: file.size for file in api.artifact(f"{NAME}:v1").files()}
assert listed == {path: len(content) for path, content in second.items()}, listed
(one,) = api.artifact(f"{NAME}:v1").files(names=[next(iter(second))])
assert one.name in second, one
for version, files in (("v0", first), ("first", first), ("v1", second), ("best", second), ("latest", second)):
    assert download(api.artifact(f"{NAME}:{version}", type="dataset")) == files, version
assert api.artifact(NAME).version == "v1"
stored = get(f"/artifacts/default/{PROJECT}/corpus:best")
assert (stored["version"], stored["metadata"], len(stored["files"])) == ("v1", {}, 3), stored
assert get(f"/artifacts/default/{PROJECT}/corpus:v0")["metadata"] == {"rows": 1000}

run = wandb.init(project=PROJECT, id="reader")
assert run.use_artifact(f"{NAME}:best", type="dataset").version == "v1"
run.finish()
assert [each.name for each in api.run(f"default/{PROJECT}/writer").logged_artifacts()] == ["corpus:v0", "corpus:v1"]
assert [each.name for each in api.run(f"default/{PROJECT}/reader").used_artifacts()] == ["corpus:v1"]
used = api.artifact(f"{NAME}:best")
assert used.logged_by().id == "writer"
assert [each.id for each in used.used_by()] == ["reader"]

used.aliases = ["kept"]
used.metadata["note"] = "read"
used.save()
changed = api.artifact(f"{NAME}:kept")
assert (changed.version, changed.metadata) == ("v1", {"note": "read"}), changed.metadata
refused(lambda: api.artifact(f"{NAME}:best"), "not found")
assert [each.version for each in api.artifacts("dataset", NAME)] == ["v1", "v0"]
assert api.artifact_exists(f"{NAME}:v0") and not api.artifact_exists(f"{NAME}:v7")
api.artifact(f"{NAME}:v0").delete(delete_aliases=True)
assert [each.version for each in api.artifacts("dataset", NAME)] == ["v1"]
assert list(api.artifacts("dataset", f"default/{PROJECT}/nothing")) == []

project = f"default/{PROJECT}"
assert [each.name for each in api.artifact_types(project)] == ["dataset"]
assert api.artifact_type("dataset", project).name == "dataset"
refused(lambda: api.artifact_type("nothing", project), "Could not find")
collections = api.artifact_collections(project, "dataset")
assert ([each.name for each in collections], len(collections)) == (["corpus"], 1)
assert list(api.artifact_collections(project, "nothing")) == []
corpus = api.artifact_collection("dataset", NAME)
assert (corpus.name, corpus.type, sorted(corpus.aliases)) == ("corpus", "dataset", ["kept", "latest"]), corpus.aliases
assert [each.version for each in corpus.artifacts()] == ["v1"]
assert [each.name for each in api.artifact_type("dataset", project).collections()] == ["corpus"]
assert api.artifact_collection_exists(NAME, "dataset") and not api.artifact_collection_exists(f"{project}/none", "dataset")
assert [each.name for each in api.project(PROJECT, "default").artifacts_types()] == ["dataset"]
assert [each.name for each in api.project(PROJECT, "default").collections()] == ["corpus"]
run = wandb.init(project=f"{PROJECT}-many", id="many")
for number in range(52):  # more than one page
    artifact = wandb.Artifact(f"set-{number:02}", type="split")
    artifact.add_file(str(write({"a.txt": b"a"}) / "a.txt"))
    run.log_artifact(artifact)
run.finish()
many = api.artifact_collections(f"{project}-many", "split")
assert [each.name for each in many] == [f"set-{number:02}" for number in range(52)], len(list(many))
assert len(many) == 52
assert len(list(api.run(f"{project}-many/many").logged_artifacts())) == 52

# A model: its checkpoints are artifacts of type lora, and an artifact of type lora with its name becomes a checkpoint.
model = post("/preview/models", {"project": PROJECT, "name": "agent", "base_model": base_model})
AGENT = f"default/{PROJECT}/agent"
fresh = api.artifact(f"{AGENT}:step0", type="lora")
assert (fresh.metadata["wandb.base_model"], sorted(fresh.aliases)) == (base_model, ["latest", "step0"])
files = download(fresh)
WEIGHTS = "adapter_model.safetensors"


def with_last(value: float) -> dict[str, bytes]:
    return {**files, WEIGHTS: files[WEIGHTS][:-4] + struct.pack("<f", value)}


run = wandb.init(project=PROJECT, id="trainer")
refused(lambda: log(run, "agent", "dataset", first), "already exists")
refused(lambda: log(run, "agent", "lora", with_last(float("nan"))), "cannot become a checkpoint", "not finite")
refused(lambda: log(run, "agent", "lora", {"README.md": b"nothing"}), "has no adapter_config.json")
short = json.loads(files["adapter_config.json"]) | {"r": 2}
refused(lambda: log(run, "agent", "lora", {**files, "adapter_config.json": json.dumps(short).encode()}), "does not fit")
other = json.loads(files["adapter_config.json"]) | {"base_model_name_or_path": "other/model"}
refused(lambda: log(run, "agent", "lora", {**files, "adapter_config.json": json.dumps(other).encode()}), "other/model")
trained = with_last(0.25)
uploaded = log(run, "agent", "lora", trained, ["step3"], metadata={"from": "elsewhere"})
assert (uploaded.version, sorted(uploaded.aliases)) == ("v3", ["latest", "step3"]), uploaded.aliases
assert log(run, "agent", "lora", trained, ["step3"]).version == "v3"
refused(lambda: log(run, "agent", "lora", with_last(0.5), ["step3"]), "step 3", "never change")
run.finish()

assert download(api.artifact(f"{AGENT}:step3", type="lora")) == trained
assert api.artifact(f"{AGENT}:latest").metadata["from"] == "elsewhere"
assert [each.version for each in api.artifacts("lora", AGENT)] == ["v3", "v0"]
assert [each.name for each in api.artifact_types(project)] == ["dataset", "lora"]
assert [each.name for each in api.artifact_collections(project, "lora")] == ["agent"]
assert sorted(api.artifact_collection("lora", AGENT).aliases) == ["latest", "step0", "step3"]
steps = get(f"/preview/models/{model['id']}/checkpoints")["data"]
assert sorted(each["step"] for each in steps) == [0, 3], steps
messages = [{"role": "user", "content": "What is 2 + 2?"}]
answer = post("/chat/completions", {"model": f"{AGENT}@3", "messages": messages, "max_tokens": 4})
assert answer["choices"][0]["message"]["content"] is not None, answer
newest = api.artifact(f"{AGENT}:latest")
newest.metadata["wandb.provenance"] = ["serverless-rl"]
newest.save()
assert api.artifact(f"{AGENT}:step3").metadata["wandb.provenance"] == ["serverless-rl"]
print("ok")
