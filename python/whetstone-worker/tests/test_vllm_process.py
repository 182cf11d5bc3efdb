"""vLLM as a child process: awaited with a deadline, watched, never left running. A program replays vLLM's responses."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from processes import runs, wait_until
from server import PATIENCE
from vllm_scenes import GENERATED, STARTER_VOCAB
from whetstone_worker.errors import WorkerError
from whetstone_worker.sampling import vllm_process
from whetstone_worker.sampling.completions import completion_body
from whetstone_worker.sampling.request import read_generate_request
from whetstone_worker.sampling.vllm_client import MODEL
from whetstone_worker.sampling.vllm_process import VllmOptions, VllmProcess, start_vllm

PLAYED = Path(__file__).parent / "played_vllm.py"
SOURCE = Path(__file__).parents[1] / "src"


def options(directory: Path, moods: str, ready_seconds: float = PATIENCE) -> VllmOptions:
    return VllmOptions(
        command=(sys.executable, str(PLAYED)),
        model=directory,
        dtype="float32",
        sequences_max=4,
        adapters_max=2,
        adapters_in_batch_max=1,
        adapter_rank_max=8,
        ready_seconds=ready_seconds,
        more=("--seed", "1"),
        environment={"PLAYED_DIRECTORY": str(directory), "PLAYED_MOODS": moods, "PYTHONPATH": str(SOURCE)},
    )


def play(given: VllmOptions, scene: Callable[[VllmProcess], Awaitable[None]]) -> None:
    async def run() -> None:
        async with start_vllm(given) as vllm:
            await asyncio.wait_for(scene(vllm), 3 * PATIENCE)

    asyncio.run(run())


def pid_of(directory: Path, start: int = 0) -> int:
    return int(json.loads((directory / f"start-{start}").read_text())["pid"])


def socket_of(directory: Path, start: int = 0) -> Path:
    arguments = json.loads((directory / f"start-{start}").read_text())["arguments"]
    return Path(arguments[arguments.index("--uds") + 1])


def wait_until_gone(pid: int) -> None:
    wait_until(lambda: not runs(pid))


def test_vllm_gets_the_worker_s_arguments_and_ends_with_the_context(tmp_path: Path) -> None:
    async def scene(vllm: VllmProcess) -> None:
        await vllm.until_ready(PATIENCE)
        assert await vllm.client.context_length() == 1024

    play(options(tmp_path, "good"), scene)
    arguments = json.loads((tmp_path / "start-0").read_text())["arguments"]
    assert arguments[0] == str(tmp_path)
    assert arguments[-2:] == ["--seed", "1"]
    assert "--enable-lora" in arguments
    assert arguments[arguments.index("--max-num-seqs") + 1] == "4"
    wait_until_gone(pid_of(tmp_path))
    assert not socket_of(tmp_path).parent.exists()


def test_a_vllm_that_ends_before_it_is_ready_is_reported_with_its_last_error(tmp_path: Path) -> None:
    async def scene(vllm: VllmProcess) -> None:
        with pytest.raises(WorkerError, match=r"did not start: it ended with code 3.*ValueError: no such model"):
            await vllm.until_ready(PATIENCE)

    play(options(tmp_path, "broken"), scene)


def test_a_missing_vllm_is_named(tmp_path: Path) -> None:
    async def scene(vllm: VllmProcess) -> None:
        with pytest.raises(WorkerError, match="/no/vllm cannot be started"):
            await vllm.until_ready(PATIENCE)

    play(replace(options(tmp_path, "good"), command=("/no/vllm", "serve")), scene)


def test_a_vllm_that_takes_too_long_is_ended_and_its_last_output_reported(tmp_path: Path) -> None:
    async def scene(vllm: VllmProcess) -> None:
        while not list(tmp_path.glob("ready-*")):
            await asyncio.sleep(0.02)
        with pytest.raises(WorkerError, match=r"was not ready after 0 s .*reading the model"):
            await vllm.until_ready(0)

    play(options(tmp_path, "slow"), scene)
    wait_until_gone(pid_of(tmp_path))


def test_the_death_of_vllm_is_noticed_with_its_exit_code(tmp_path: Path) -> None:
    async def scene(vllm: VllmProcess) -> None:
        await vllm.until_ready(PATIENCE)
        watching = asyncio.create_task(vllm.until_unusable())
        os.kill(pid_of(tmp_path), signal.SIGKILL)
        assert "it ended with code 137" in await watching

    play(options(tmp_path, "good"), scene)


def test_a_vllm_that_fails_its_health_checks_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vllm_process, "HEALTH_INTERVAL_SECONDS", 0.01)

    async def scene(vllm: VllmProcess) -> None:
        assert "failed 3 health checks in a row" in await vllm.until_unusable()

    play(options(tmp_path, "slow"), scene)


def test_vllm_ends_with_a_worker_that_is_killed(tmp_path: Path) -> None:
    script = """
import asyncio, sys
from pathlib import Path
from test_vllm_process import PATIENCE, options
from whetstone_worker.sampling.vllm_process import start_vllm

async def run():
    async with start_vllm(options(Path(sys.argv[1]), "good")) as vllm:
        await vllm.until_ready(PATIENCE)
        await asyncio.sleep(3600)

asyncio.run(run())
"""
    environment = {**os.environ, "PYTHONPATH": f"{SOURCE}:{PLAYED.parent}"}
    worker = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], env=environment)
    try:
        deadline = time.monotonic() + 3 * PATIENCE
        while not (tmp_path / "ready-0").exists():
            assert worker.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        worker.kill()
        worker.wait()
    wait_until_gone(pid_of(tmp_path))
    wait_until(lambda: not socket_of(tmp_path).parent.exists())


def test_a_vllm_that_sends_no_token_is_noticed_though_it_says_that_it_is_healthy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vllm_process, "HEALTH_INTERVAL_SECONDS", 0.01)
    monkeypatch.setattr(vllm_process, "SILENCE_SECONDS", 0.2)

    async def scene(vllm: VllmProcess) -> None:
        await vllm.until_ready(PATIENCE)
        watching = asyncio.create_task(vllm.until_unusable())
        assert vllm.client.silent_seconds == 0  # nobody waits for a token
        form = read_generate_request(GENERATED["long"])
        stream = vllm.client.stream(completion_body(form, 0, MODEL, None, STARTER_VOCAB))
        reading = asyncio.create_task(_read(stream))
        assert "it sent no token for" in await watching
        reading.cancel()

    play(options(tmp_path, "held"), scene)


async def _read(stream: AsyncGenerator[object, None]) -> None:
    async for _ in stream:
        pass
