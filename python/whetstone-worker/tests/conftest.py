import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from repository import FIXTURES, STARTER
from whetstone_worker.trainer.engine import LoraConfig, OpenSessionOptions, TrainingEngine, open_training_engine

sys.dont_write_bytecode = True

FRESH = LoraConfig(rank=4, alpha=8, seed=3)


class Engines:
    """Keeps one engine per model for all tests; each test opens and closes its sessions on it."""

    def __init__(self) -> None:
        self._open: dict[Path, TrainingEngine] = {}

    def of(self, model: Path) -> TrainingEngine:
        if model not in self._open:
            self._open[model] = open_training_engine(model)
        return self._open[model]

    def family(self, name: str) -> TrainingEngine:
        return self.of(FIXTURES / name / "model")

    def starter(self) -> TrainingEngine:
        return self.of(STARTER)

    def close(self) -> None:
        for engine in self._open.values():
            engine.close()


@pytest.fixture(scope="session")
def engines() -> Iterator[Engines]:
    engines = Engines()
    yield engines
    engines.close()


def starting_from(start: Path | None, lora: LoraConfig = FRESH) -> OpenSessionOptions:
    return OpenSessionOptions(start=start, lora=lora)
