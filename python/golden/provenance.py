"""What every fixture says about its maker: versions, arithmetic. Imported by the make_*.py scripts."""

import platform
from importlib.metadata import version
from pathlib import Path

FIXTURES = Path(__file__).resolve().parents[2] / "test" / "golden" / "fixtures"


def made_with(*packages: str) -> dict[str, str]:
    return {"python": platform.python_version(), **{package: version(package) for package in packages}}
