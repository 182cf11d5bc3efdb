"""Resolves `--model` as the server does (resolve-model.ts): a directory, or a model of the Hugging Face Hub, read from the
local cache if it is there. Also computes the hashes by which worker and server check that they have the same model.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from whetstone_worker.cache_directory import sha256_of
from whetstone_worker.errors import WorkerError

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
_REVISION = re.compile(r"\w[\w.-]*(/\w[\w.-]*)*")
"""A branch, a tag or a commit."""
_WANTED = [
    "config.json",
    "generation_config.json",
    "tokenizer*.json",
    "special_tokens_map.json",
    "*.safetensors",
    "*.safetensors.index.json",
]


@dataclass(frozen=True)
class ModelDirectory:
    id: str
    """The name under which the server serves the model."""
    path: Path
    config_sha256: str
    tokenizer_sha256: str

    def to_wire(self) -> dict[str, object]:
        return {"id": self.id, "configSha256": self.config_sha256, "tokenizerSha256": self.tokenizer_sha256}


def find_model(name: str, model_id: str | None) -> ModelDirectory:
    """Downloads a Hub model if needed. `model_id`: None to derive it from `name`. Raises WorkerError bad_model_files."""
    path = Path(name)
    if path.is_dir():
        # `owner/name` is an id even if such a path exists; for any other path the last part is the id.
        return _read(path, model_id or (name if _HUB_ID.fullmatch(name) else path.resolve().name))
    if path.suffix.lower() == ".gguf" or (_HUB_ID.fullmatch(name.partition(":")[0]) and ":" in name):
        raise WorkerError(
            "bad_model_files",
            f"{name} is a GGUF file, which this worker does not read. Use the original model in safetensors, or run "
            f"`whetstone workers run --model {name}` instead, which reads it.",
        )
    hub_id, at, revision = name.partition("@")
    if not _HUB_ID.fullmatch(hub_id) or (at and not _REVISION.fullmatch(revision)):
        words = f"No model {name}: there is no such directory, and it is not a Hub id (owner/name, owner/name@revision)."
        raise WorkerError("bad_model_files", words)
    return _read(_download(hub_id, revision or None), model_id or hub_id)


def _download(hub_id: str, revision: str | None) -> Path:
    from huggingface_hub import snapshot_download  # slow to import, and not needed for a directory

    try:
        return Path(snapshot_download(hub_id, revision=revision, allow_patterns=_WANTED))
    except Exception as fault:  # many kinds: no network, no such model, no permission
        raise WorkerError("bad_model_files", f"The model {hub_id} cannot be downloaded from the Hub: {fault}") from fault


def _read(path: Path, model_id: str) -> ModelDirectory:
    for name in ("config.json", "tokenizer.json"):
        if not (path / name).is_file():
            raise WorkerError("bad_model_files", f"{path} has no {name}, which a worker and its server compare byte for byte.")
    return ModelDirectory(model_id, path, sha256_of(path / "config.json"), sha256_of(path / "tokenizer.json"))
