"""The options of a worker."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class WorkerOptions:
    url: str
    key: str
    model: str
    """A directory, or a model of the Hugging Face Hub."""
    model_id: str | None
    """None: derived from `model`."""
    name: str
    device: str | None
    """None: the first GPU, or the CPU if there is none."""
    memory_bytes: int | None
    """Memory for rows. None: most of the free memory."""
    memory_share: float | None
    """Fraction of the device's memory for rows and weights; used if memory_bytes is None."""
    row_length_max: int | None
    cache_directory: Path
    cache_bytes_max: int
