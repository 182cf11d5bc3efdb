"""Both roles under one command: real processes on real leashes. Short programs replace the workers; at the end the real
command runs with a trainer and a simulated vLLM."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from processes import runs, wait_until
from repository import STARTER
from server import KEY, PlayedServer, play_server
from test_vllm_process import PLAYED, SOURCE, pid_of
from whetstone_worker.run_options import Role

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

PATIENCE = 120.0
"""Limit for a command to end on a busy machine. Nothing is measured by it."""
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SOURCE)}
COMMAND = """
import json, logging, os, sys
from whetstone_worker.role_commands import RoleCommand
from whetstone_worker.run_roles import run_roles

logging.basicConfig(level=logging.INFO, stream=sys.stderr)
workers = [RoleCommand(role, [sys.executable, "-c", code], os.environ) for role, code in json.loads(sys.argv[1]).items()]
sys.exit(run_roles(workers, float(sys.argv[2])))
"""
BEGIN = "import os, signal, sys, time; say = lambda words: print(words, flush=True); say(f'pid {os.getpid()}');"
UNTIL_SIGTERM = "signal.signal(signal.SIGTERM, lambda *_: exit(0));"
SAMPLES = f"{BEGIN} {UNTIL_SIGTERM} say('vLLM is ready.'); time.sleep(600)"
TRAINS = f"{BEGIN} {UNTIL_SIGTERM} say('trains'); time.sleep(600)"
STUBBORN = f"{BEGIN} signal.signal(signal.SIGTERM, signal.SIG_IGN); say('vLLM is ready.'); time.sleep(600)"


class Running:
    """A running command and its output."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.lines: list[str] = []
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def pids(self, role: Role) -> list[int]:
        """The process ids of the role's workers, in order of their starts."""
        return [int(line.split()[-1]) for line in self.lines if line.startswith(f"{role}: pid ")]

    def said(self, words: str) -> bool:
        return any(words in line for line in self.lines)

    def until(self, is_so: Callable[[], bool]) -> None:
        wait_until(lambda: is_so() or self.process.poll() is not None)
        assert is_so(), "".join(self.lines)

    def code(self) -> int:
        code = self.process.wait(PATIENCE)
        self._reading.join(PATIENCE)
        return code

    def _read(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.lines.append(line)


@contextmanager
def started(command: list[str], environment: dict[str, str] = ENVIRONMENT) -> Iterator[Running]:
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        yield Running(process)
    finally:
        process.kill()
        process.wait()


def roles(sampler: str, trainer: str, leave_seconds: float = 60) -> list[str]:
    return [sys.executable, "-c", COMMAND, json.dumps({"sample": sampler, "train": trainer}), str(leave_seconds)]


def both_run(running: Running) -> list[int]:
    running.until(lambda: running.said("sample: vLLM is ready.") and running.said("train: trains"))
    pids = [*running.pids("sample"), *running.pids("train")]
    assert len(pids) == 2
    return pids


def test_a_signal_lets_both_leave() -> None:
    with started(roles(SAMPLES, TRAINS)) as running:
        pids = both_run(running)
        running.process.terminate()
        assert running.code() == 0
        assert not any(runs(pid) for pid in pids)


def test_a_signal_to_the_whole_group_reaches_the_workers_once(tmp_path: Path) -> None:
    count = (
        f"signal.signal(signal.SIGTERM, lambda *_: (open('{tmp_path}/' + str(time.time_ns()), 'w'), time.sleep(1), exit(0)));"
    )
    with started(roles(SAMPLES.replace(UNTIL_SIGTERM, count), TRAINS)) as running:
        both_run(running)
        os.killpg(running.process.pid, signal.SIGTERM)
        assert running.code() == 0
        assert len(list(tmp_path.iterdir())) == 1


def test_a_second_signal_ends_both_at_once() -> None:
    with started(roles(STUBBORN, STUBBORN.replace("vLLM is ready.", "trains"))) as running:
        pids = both_run(running)
        running.process.send_signal(signal.SIGINT)
        running.until(lambda: running.said("train: leaving") and running.said("sample: leaving"))
        running.process.send_signal(signal.SIGINT)
        assert running.code() == 130
        assert not any(runs(pid) for pid in pids)


def test_a_worker_that_does_not_leave_is_killed_which_is_a_failure() -> None:
    with started(roles(STUBBORN, TRAINS, leave_seconds=0.2)) as running:
        pids = both_run(running)
        running.process.terminate()
        assert running.code() == 1
        assert running.said("sample: leaving: it did not leave within 0 s and is killed")
        assert not any(runs(pid) for pid in pids)


def test_a_killed_worker_is_restarted_and_the_other_continues() -> None:
    with started(roles(SAMPLES, TRAINS)) as running:
        sampler, trainer = both_run(running)
        os.kill(trainer, signal.SIGKILL)
        running.until(lambda: len(running.pids("train")) == 2)
        assert running.said("train: it ended with exit code 137; the next start is in 1 s")
        assert running.pids("sample") == [sampler]
        running.process.terminate()
        assert running.code() == 0


def test_a_sampler_that_does_not_start_does_not_delay_the_trainer() -> None:
    with started(roles(f"{BEGIN} say('ValueError: no such flag'); exit(1)", TRAINS)) as running:
        running.until(lambda: running.said("train: trains"))
        assert running.said("sample: it ended with exit code 1; the next start is in 1 s")
        running.process.terminate()
        assert running.code() == 0


@pytest.mark.parametrize("role", ["sample", "train"])
def test_a_refused_worker_ends_both_and_is_named(role: Role) -> None:
    refused = f"{BEGIN} say('whetstone-worker: the key is not valid there'); exit(2)"
    workers = {"sample": SAMPLES, "train": TRAINS, role: refused}
    with started(roles(workers["sample"], workers["train"])) as running:
        assert running.code() == 2
        assert running.lines[-1] == f"whetstone-worker: --roles {role} is refused: the key is not valid there\n"
        assert not any(runs(pid) for pid in [*running.pids("sample"), *running.pids("train")])


def test_a_killed_command_leaves_no_process_running() -> None:
    with started(roles(STUBBORN, STUBBORN.replace("vLLM is ready.", "trains"))) as running:
        pids = both_run(running)
        running.process.kill()
        wait_until(lambda: not any(runs(pid) for pid in pids))


def whole_command(url: str, cache: Path) -> list[str]:
    return [
        *(sys.executable, "-m", "whetstone_worker", "run", "--roles", "sample,train", "--server", url, "--name", "one"),
        *("--model", str(STARTER), "--model-id", "starter", "--device", "cpu", "--cache-dir", str(cache)),
        *("--vllm", f"{sys.executable} {PLAYED}", "--sequences-max", "4", "--row-length-max", "512", "--", "--seed", "1"),
    ]


def play(directory: Path, key: str, scene: Callable[[Running, PlayedServer], None], mood: str = "good") -> None:
    environment = {"PLAYED_DIRECTORY": str(directory), "PLAYED_MOODS": mood, "WHETSTONE_API_KEY": key}

    async def run() -> None:
        async with play_server() as server:
            with started(whole_command(server.url, directory / "cache"), {**ENVIRONMENT, **environment}) as running:
                await asyncio.to_thread(scene, running, server)

    asyncio.run(run())


def test_the_command_runs_a_sampler_and_a_trainer(tmp_path: Path) -> None:
    def scene(running: Running, server: PlayedServer) -> None:
        def hellos() -> list[tuple[str, list[str]]]:
            return sorted((hello["worker"]["name"], hello["roles"]) for hello in server.hellos)

        deadline = time.monotonic() + PATIENCE
        while len(server.hellos) < 2 and time.monotonic() < deadline and running.process.poll() is None:
            time.sleep(0.1)
        assert hellos() == [("one-sample", ["sample"]), ("one-train", ["train"])], "".join(running.lines)
        (trainer,) = (hello["trainer"] for hello in server.hellos if hello["trainer"])
        assert trainer["limits"]["rowLengthMax"] == 512
        arguments = json.loads((tmp_path / "start-0").read_text())["arguments"]
        assert arguments[-4:] == ["--gpu-memory-utilization", "0.4", "--seed", "1"]
        assert running.said("sample: ")
        assert running.said("train: ")
        running.process.terminate()
        assert running.code() == 0, "".join(running.lines)
        assert not runs(pid_of(tmp_path))

    play(tmp_path, KEY, scene)


def test_a_key_that_the_server_refuses_ends_the_command(tmp_path: Path) -> None:
    def scene(running: Running, _: PlayedServer) -> None:
        assert running.code() == 2
        assert "--roles sample is refused: The server answered 401: the key is not valid there." in running.lines[-1]
        assert not runs(pid_of(tmp_path))

    play(tmp_path, "another", scene)


def test_arguments_that_vllm_refuses_end_the_command(tmp_path: Path) -> None:
    def scene(running: Running, _: PlayedServer) -> None:
        assert running.code() == 2
        assert "--roles sample is refused: vLLM did not start: it ended with code 2" in running.lines[-1]
        assert "unrecognized arguments: --sed 1" in running.lines[-1]

    play(tmp_path, KEY, scene, "misused")
