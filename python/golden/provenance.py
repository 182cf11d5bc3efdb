"""The origin that every fixture states: versions and arithmetic. Imported by the make_*.py scripts."""

import json
import platform
from importlib.metadata import version
from pathlib import Path

FIXTURES = Path(__file__).resolve().parents[2] / "test" / "support" / "golden" / "fixtures"


def made_with(*packages: str) -> dict[str, str]:
    return {"python": platform.python_version(), **{package: version(package) for package in packages}}


def known_fixture(path: str) -> dict:
    """Returns the previous content, of which a run for some families keeps the other families' part; empty if there is none."""
    file = FIXTURES / path
    return json.loads(file.read_text()) if file.exists() else {}
