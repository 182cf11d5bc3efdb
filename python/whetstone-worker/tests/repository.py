"""The paths of the repository around this package, and calls of its TypeScript code: rows as jobs plan them."""

import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
FIXTURES = ROOT / "test" / "support" / "golden" / "fixtures"
STARTER = ROOT / "models" / "starter"


def read_json(path: str) -> Any:
    return json.loads((FIXTURES / path).read_text())


@cache
def golden_tapes() -> Any:
    return json.loads(run_typescript("test/support/worker/golden-tapes.ts"))


def run_typescript(script: str, *arguments: str) -> str:
    """Skips if Node or its packages are missing, but fails if WHETSTONE_REQUIRE_NODE says that they must be there."""
    node = shutil.which("node")
    if node is None or not (ROOT / "node_modules").exists():
        if os.environ.get("WHETSTONE_REQUIRE_NODE"):
            pytest.fail("WHETSTONE_REQUIRE_NODE is set, but there is no node, or no node_modules: npm ci")
        pytest.skip("rows are planned in TypeScript: this needs node and npm ci")
    command = [node, "--import", "tsx", "-C", "source", script, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
