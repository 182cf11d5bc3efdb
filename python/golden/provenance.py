"""What every fixture says about its maker: versions, arithmetic. Imported by the make_*.py scripts."""

import json
import platform
from importlib.metadata import version
from pathlib import Path

FIXTURES = Path(__file__).resolve().parents[2] / "test" / "golden" / "fixtures"


def made_with(*packages: str) -> dict[str, str]:
    return {"python": platform.python_version(), **{package: version(package) for package in packages}}


def known_fixture(path: str) -> dict:
    """What was written before, of which a run for some families keeps the others' part; empty where there is nothing."""
    file = FIXTURES / path
    return json.loads(file.read_text()) if file.exists() else {}
