from pathlib import Path

import pytest

from whetstone_worker.cli import _parser, main
from whetstone_worker.sampling.options import read_sampler_options
from whetstone_worker.sampling.vllm_process import serve_arguments

GOOD = {"--server": "http://127.0.0.1:1", "--key": "k", "--model": "nowhere", "--roles": "train"}


def arguments(changes: dict[str, str]) -> list[str]:
    return ["run", *(part for option in ({**GOOD, **changes}).items() for part in option)]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"--server": "host:8484"}, "such as http://host:8484"),
        ({"--key": ""}, "whetstone keys create --scopes worker"),
        ({"--roles": "train,cook"}, "'cook' is none of train, sample"),
        ({"--roles": "train,sample"}, "a worker does one of them; start two"),
        ({"--roles": "sample", "--adapter-rank-max": "7"}, "invalid choice: 7"),
        ({"--roles": "sample", "--sequences-max": "0"}, "'0' is no positive whole number"),
        ({"--roles": "sample", "--dtype": "int4"}, "invalid choice: 'int4'"),
        ({"--memory": "40XB"}, "'40XB' is no size; write 40GiB"),
        ({"--cache-size": "0"}, "'0' is no size"),
        ({"--row-length-max": "-1"}, "'-1' is no positive whole number"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(changes: dict[str, str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments(changes))
    assert end.value.code == 2
    assert words in capsys.readouterr().err


def test_a_model_that_is_not_there_ends_it_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments({})) == 2
    assert "No model nowhere: there is no such directory" in capsys.readouterr().err


@pytest.mark.parametrize("model", ["owner/tiny:Q8_0", "owner/tiny:tiny.gguf@v2", "./tiny-Q8_0.gguf"])
def test_a_model_in_gguf_is_refused_by_name(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments({"--model": model})) == 2
    assert f"{model} is GGUF, which this worker does not read" in capsys.readouterr().err


def test_what_stands_behind_two_dashes_is_for_vllm() -> None:
    given = _parser().parse_args([*arguments({"--roles": "sample", "--vllm": "/opt/v serve"}), "--", "--max-model-len", "9"])
    options = read_sampler_options(given)
    assert options.vllm_command == ("/opt/v", "serve")
    vllm = options.vllm(Path("m"), "bfloat16", "cuda:1")
    assert vllm.environment == {"CUDA_VISIBLE_DEVICES": "1"}
    assert serve_arguments(vllm, Path("s"))[-2:] == ["--max-model-len", "9"]
    assert options.vllm(Path("m"), "bfloat16", "cpu").environment == {}
