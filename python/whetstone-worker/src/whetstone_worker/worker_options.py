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
    """For rows. None: most of what is free."""
    memory_share: float | None
    """Of the device's memory, for rows and weights, where memory_bytes is None."""
    row_length_max: int | None
    cache_directory: Path
    cache_bytes_max: int
