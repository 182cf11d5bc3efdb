"""The fields of a base model's config.json that a sampler needs before vLLM has read it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whetstone_worker.errors import WorkerError

DTYPES = ("auto", "bfloat16", "float16", "float32")


@dataclass(frozen=True)
class BaseModel:
    vocab_size: int
    hidden_size: int
    attention_size: int
    """The width of the output projection's input: all heads of a layer together."""
    context_length: int
    """The model's own limit; vLLM may serve less."""
    dtype: str
    """One of DTYPES, except auto."""
    is_quantised: bool

    @property
    def precision(self) -> str:
        """In the format of capabilities.ts. Four-bit weights count as its coarsest precision."""
        return "int8" if self.is_quantised else self.dtype


def read_base_model(directory: Path, dtype: str) -> BaseModel:
    """`dtype`: one of DTYPES. Auto is the checkpoint's dtype, but bfloat16 for float32, as in vLLM. Raises WorkerError
    bad_model_files."""
    path = directory / "config.json"
    try:
        config: Any = json.loads(path.read_text(encoding="utf-8"))
        text = config.get("text_config", config)
        own = str(config.get("dtype") or config.get("torch_dtype") or "bfloat16").removeprefix("torch.")
        return BaseModel(
            vocab_size=int(text["vocab_size"]),
            hidden_size=int(text["hidden_size"]),
            attention_size=_attention_size(text),
            context_length=int(text["max_position_embeddings"]),
            dtype=("float16" if own == "float16" else "bfloat16") if dtype == "auto" else dtype,
            is_quantised=any(config.get(key) for key in ("quantization_config", "compression_config", "quantization")),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as cause:
        words = f"{path} cannot be read as a model's configuration: {type(cause).__name__} {cause}."
        raise WorkerError("bad_model_files", words) from cause


def _attention_size(config: Any) -> int:
    heads = int(config["num_attention_heads"])
    return heads * int(config.get("v_head_dim") or config.get("head_dim") or int(config["hidden_size"]) // heads)
