"""What an operator asks of a worker."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class WorkerOptions:
    url: str
    key: str
    model: str
    """A directory, or a model of the Hugging Face Hub."""
    model_id: str | None
    """None: the model's own."""
    name: str
    device: str | None
    """None: the first GPU, or the CPU where there is none."""
    memory_bytes: int | None
    row_length_max: int | None
    cache_directory: Path
    cache_bytes_max: int
