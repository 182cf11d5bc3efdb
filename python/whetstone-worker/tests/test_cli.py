import os
import subprocess
import sys
from pathlib import Path

import pytest

from repository import STARTER
from whetstone_worker.cli import _parser, main
from whetstone_worker.role_commands import SAMPLER_FLAG
from whetstone_worker.sampling.options import read_sampler_options
from whetstone_worker.sampling.vllm_process import serve_arguments

SOURCE = Path(__file__).parents[1] / "src"
GOOD = {"--server": "http://127.0.0.1:1", "--key": "k", "--model": "nowhere", "--roles": "train"}


def arguments(changes: dict[str, str]) -> list[str]:
    return ["run", *(part for option in ({**GOOD, **changes}).items() for part in option)]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"--server": "host:8484"}, "such as http://host:8484"),
        ({"--key": ""}, "whetstone keys create --scopes worker"),
        ({"--roles": "train,cook"}, "--roles must be a comma-separated list of sample,train, not 'train,cook'"),
        ({"--roles": "train,train"}, "--roles must be a comma-separated list of sample,train, not 'train,train'"),
        (
            {"--roles": "sample", "--row-length-max": "9"},
            "--row-length-max is for --roles train, and this worker has --roles sample",
        ),
        (
            {"--roles": "train", "--adapters-max": "32"},
            "--adapters-max is for --roles sample, and this worker has --roles train",
        ),
        ({"--memory": "1GiB", "--memory-share": "0.5"}, "--memory and --memory-share exclude each other"),
        ({"--memory-share": "50%"}, "'50%' is not a fraction"),
        ({"--roles": "sample,train", "--memory-share": "0.95"}, "--memory-share 0.95 leaves no memory to vLLM"),
        ({"--roles": "sample", "--adapter-rank-max": "7"}, "invalid choice: 7"),
        ({"--roles": "sample", "--sequences-max": "0"}, "'0' is not a positive whole number"),
        ({"--roles": "sample", "--dtype": "int4"}, "invalid choice: 'int4'"),
        ({"--memory": "40XB"}, "'40XB' is not a size; write 40GiB"),
        ({"--cache-size": "0"}, "'0' is not a size"),
        ({"--row-length-max": "-1"}, "'-1' is not a positive whole number"),
    ],
)
def test_invalid_options_are_refused(changes: dict[str, str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments(changes))
    assert end.value.code == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("roles", "behind", "words"),
    [
        ("train", ["--seed", "1"], "an argument after `--` is for --roles sample, and this worker has --roles train"),
        ("sample,train", [SAMPLER_FLAG, "0.92"], "leaves no memory to the trainer: both together may have at most 0.9"),
        ("sample,train", [SAMPLER_FLAG, "most"], f"{SAMPLER_FLAG}/--gpu_memory_utilization: 'most' is not a fraction"),
    ],
)
def test_vllm_arguments_that_conflict_with_a_trainer_are_refused(
    roles: str, behind: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main([*arguments({"--roles": roles}), "--", *behind])
    assert end.value.code == 2
    assert words in capsys.readouterr().err


def test_a_missing_model_ends_the_command_with_the_cause(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments({})) == 2
    assert "No model nowhere: there is no such directory" in capsys.readouterr().err


@pytest.mark.parametrize("model", ["owner/tiny:Q8_0", "owner/tiny:tiny.gguf@v2", "./tiny-Q8_0.gguf"])
def test_a_model_in_gguf_is_refused_by_name(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments({"--model": model})) == 2
    assert f"{model} is a GGUF file, which this worker does not read" in capsys.readouterr().err


@pytest.mark.parametrize(("role", "package"), [("sample", "vllm"), ("train", "torch")])
def test_a_missing_package_is_named_with_the_command_that_installs_it(role: str, package: str) -> None:
    """Runs in a process of its own, in which the package cannot be found."""
    hide = (
        "import importlib.util as u, sys\n"
        f"class Hidden:\n    def find_spec(self, name, *_):\n        if name == {package!r}:\n"
        f"            raise ModuleNotFoundError('No module named {package}')\n"
        "sys.meta_path.insert(0, Hidden())\n"
        "from whetstone_worker.cli import main\nsys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", hide, *arguments({"--roles": role, "--model": str(STARTER)})]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(SOURCE)}, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert f"No module named {package}" in done.stderr.replace("'", "")
    assert f"--roles {role} needs: pip install 'whetstone-worker[{package}]'" in done.stderr


def test_arguments_after_two_dashes_are_passed_to_vllm() -> None:
    given = _parser().parse_args([*arguments({"--roles": "sample", "--vllm": "/opt/v serve"}), "--", "--max-model-len", "9"])
    options = read_sampler_options(given)
    assert options.vllm_command == ("/opt/v", "serve")
    assert (options.sequences_max, options.adapters_max) == (128, 32)
    vllm = options.vllm(Path("m"), "bfloat16", "cuda:1")
    assert vllm.environment == {"CUDA_VISIBLE_DEVICES": "1"}
    assert serve_arguments(vllm, Path("s"))[-2:] == ["--max-model-len", "9"]
    assert options.vllm(Path("m"), "bfloat16", "cpu").environment == {}
