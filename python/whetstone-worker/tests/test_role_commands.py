"""The two commands that a command with both roles starts, which this program can parse, and how memory is divided."""

from pathlib import Path

import pytest

from whetstone_worker.cli import _parser
from whetstone_worker.role_commands import SAMPLER_FLAG, RoleCommand, commands_of_roles
from whetstone_worker.run_options import Role, read_options, read_roles
from whetstone_worker.sampling.options import read_sampler_options

RUN = ["run", "--server", "http://h:1", "--key", "wk-secret", "--model", "m", "--name", "host", "--roles", "sample,train"]


def commands(*more: str) -> dict[Role, RoleCommand]:
    parser = _parser()
    return {each.role: each for each in commands_of_roles(parser.parse_args([*RUN, *more]), parser)}


def shares(*more: str) -> tuple[str, float | None]:
    """Returns vLLM's and the trainer's share. If the operator sets vLLM's, the flag appears twice, with the same value."""
    started = commands(*more)
    sampler = _parser().parse_args(started["sample"].command[3:]).vllm_arguments
    trainer = _parser().parse_args([*started["train"].command[3:], "--server", "http://h:1", "--key", "k"]).memory_share
    assert sampler[0] == SAMPLER_FLAG
    return sampler[1], trainer


def test_each_role_gets_its_own_flags_and_the_common_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    started = commands(
        *("--device", "cuda:1", "--cache-dir", "/c", "--cache-size", "1GB", "--model-id", "o/m"),
        *("--row-length-max", "9", "--sequences-max", "7", "--vllm", "'/opt/my vllm' serve", "--", "--seed", "-1"),
    )
    assert list(started) == ["sample", "train"]
    for role, each in started.items():
        assert each.environment["WHETSTONE_URL"] == "http://h:1"
        assert each.environment["WHETSTONE_API_KEY"] == "wk-secret"
        assert "wk-secret" not in [*each.command, repr(each)]
        monkeypatch.setenv("WHETSTONE_URL", each.environment["WHETSTONE_URL"])
        monkeypatch.setenv("WHETSTONE_API_KEY", each.environment["WHETSTONE_API_KEY"])
        parser = _parser()
        given = parser.parse_args(each.command[3:])
        assert read_roles(given, parser) == [role]
        options = read_options(given, parser)
        assert (options.name, options.model, options.model_id, options.device) == (f"host-{role}", "m", "o/m", "cuda:1")
        assert (options.cache_directory, options.cache_bytes_max) == (Path("/c"), 10**9)
        assert options.row_length_max == (9 if role == "train" else None)
        if role == "sample":
            sampler = read_sampler_options(given)
            assert (sampler.sequences_max, sampler.vllm_command) == (7, ("/opt/my vllm", "serve"))
            assert sampler.vllm_arguments == (SAMPLER_FLAG, "0.4", "--seed", "-1")


@pytest.mark.parametrize(
    ("more", "sampler", "trainer"),
    [
        ([], "0.4", 0.5),
        (["--memory-share", "0.3"], "0.6", 0.3),
        (["--", SAMPLER_FLAG, "0.6"], "0.6", 0.3),
        (["--", "--gpu_memory_utilization", "0.2", f"{SAMPLER_FLAG}=0.7"], "0.7", 0.2),
        (["--memory-share", "0.4", "--", SAMPLER_FLAG, "0.6"], "0.6", 0.4),
        (["--memory", "4GiB"], "0.4", None),
        (["--memory", "4GiB", "--", SAMPLER_FLAG, "0.95"], "0.95", None),
    ],
)
def test_memory_is_divided_between_the_roles(more: list[str], sampler: str, trainer: float | None) -> None:
    assert shares(*more) == (sampler, trainer)
