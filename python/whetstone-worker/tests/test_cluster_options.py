"""The flags of a cluster: their meaning, and which are refused."""

import pytest

from whetstone_worker.cli import _parser, main
from whetstone_worker.cluster.cluster_spec import ClusterSpec
from whetstone_worker.cluster.options import read_spec
from whetstone_worker.cluster.scaling import Bounds
from whetstone_worker.cluster.status_table import progress, status_table, what_is_missing, why_unplaced

UP = ["ray", "up", "--server", "http://s:1", "--key", "k", "--model", "o/m"]


def spec_of(*flags: str) -> ClusterSpec:
    parser = _parser()
    return read_spec(parser.parse_args([*UP, *flags]), parser)


def test_the_default_is_one_sampler_and_one_trainer_with_a_gpu_each() -> None:
    spec = spec_of()
    assert (spec.samplers, spec.trainers) == (Bounds(1, 1), 1)
    assert [(worker.gpus, worker.ranks) for worker in spec.workers.values()] == [(1, 1), (1, 1)]
    run = ("{python}", "-m", "whetstone_worker", "run", "--roles", "train", "--model", "o/m", "--name", "{name}")
    assert spec.workers["trainer"].command == run
    assert spec.workers["trainer"].environment == {"WHETSTONE_URL": "http://s:1", "WHETSTONE_API_KEY": "k"}


def test_the_key_is_not_logged() -> None:
    assert "wk-secret" not in repr(spec_of("--key", "wk-secret"))


def test_a_sampler_of_four_gpus_is_one_process_and_a_trainer_of_four_is_four() -> None:
    workers = spec_of("--gpus-per-sampler", "4", "--gpus-per-trainer", "4").workers
    assert (workers["sampler"].gpus, workers["sampler"].ranks) == (4, 1)
    assert (workers["trainer"].gpus, workers["trainer"].ranks) == (1, 4)
    assert workers["sampler"].command[-3:] == ("--", "--tensor-parallel-size", "4")
    more = (
        spec_of("--gpus-per-sampler", "2", "--sampler-args", "--dtype bfloat16 -- --max-num-seqs 8").workers["sampler"].command
    )
    assert more[-7:] == ("--dtype", "bfloat16", "--", "--max-num-seqs", "8", "--tensor-parallel-size", "2")


def test_without_gpus_workers_use_the_cpu() -> None:
    workers = spec_of("--gpus-per-trainer", "0", "--trainer-args", "--memory 2GiB").workers
    assert workers["trainer"].command[-4:] == ("--device", "cpu", "--memory", "2GiB")


def test_another_sampler_is_given_as_a_command() -> None:
    command = spec_of("--sampler-command", "node 'a b.js' --model {model} --name {name}").workers["sampler"].command
    assert command == ("node", "a b.js", "--model", "o/m", "--name", "{name}")


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--server", "s:1"], "such as http://host:8484"),
        (["--key", ""], "whetstone keys create --scopes worker"),
        (["--samplers", "3", "--max-samplers", "2"], "--samplers 3 is not between"),
        (["--min-samplers", "0", "--max-samplers", "2"], "at least 1"),
        (["--gpus-per-trainer", "1.5"], "nor a whole number of GPUs"),
        (["--gpus-per-sampler", "-1"], "is not a number of 0 or more"),
        (["--name", "a b"], "may contain only letters"),
    ],
)
def test_invalid_options_are_refused(flags: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([*UP, *flags])
    assert end.value.code == 2
    assert words in capsys.readouterr().err


STATUS = {
    "cluster": "c",
    "server": "http://s:1",
    "fault": None,
    "samplers": {"wanted": 2, "least": 1, "most": 8},
    "trainers": {"wanted": 1},
    "queue": {"running": 12, "waiting": 30},
    "workers": [
        {
            "name": "c-sampler-0",
            "on_server": "connected",
            "phase": "running",
            "since": 100.0,
            "starts": 1,
            "host": "h",
            "gpus": ["0", "1"],
        },
        {
            "name": "c-trainer-0",
            "on_server": None,
            "phase": "pausing",
            "cause": "it ended",
            "words": "CUDA out of memory",
            "since": 0.0,
        },
    ],
}


def test_the_table_shows_each_worker_s_node_state_and_fault() -> None:
    lines = status_table(STATUS, now=190.0).splitlines()
    assert lines[0] == "c at http://s:1: 2 samplers (1 to 8), 1 trainers"
    assert lines[1] == "choices: 12 running, 30 waiting"
    assert lines[3].split() == ["c-sampler-0", "connected", "running", "90s", "1", "h", "0,1"]
    assert lines[4].split() == ["c-trainer-0", "unknown", "pausing", "3m", "it", "ended"]


def test_progress_shows_the_state_of_each_worker() -> None:
    loads = {"name": "c-trainer-1", "phase": "running", "on_server": None}
    waits = {"name": "c-trainer-2", "phase": "unplaced", "on_server": None, "cause": "no room"}
    there = {"name": "c-trainer-3", "phase": "running", "on_server": "connected"}
    said = progress({**STATUS, "fault": None, "workers": [loads, waits, there]})
    assert said == "c-trainer-1 loading its model, c-trainer-2 unplaced (no room), c-trainer-3 connected"
    assert progress({**STATUS, "fault": "cannot reach http://server", "workers": []}) == "cannot reach http://server"


def test_a_worker_without_room_shows_the_resources_that_it_needs_and_those_that_exist() -> None:
    no_gpus = why_unplaced(1, 1, {"CPU": 2})
    assert no_gpus.startswith("Ray has no room for it: it needs 1 GPUs and 1 CPUs, the cluster has 0 GPUs and 2 CPUs")
    assert "--gpus-per-trainer 0" in no_gpus
    assert why_unplaced(1, 1, {"CPU": 2, "GPU": 4}).startswith("Ray is starting it")
    assert why_unplaced(0, 4, {"CPU": 2}).endswith("the cluster has 0 GPUs and 2 CPUs")


def test_missing_workers_are_listed_with_their_last_output() -> None:
    assert what_is_missing(STATUS) == "  c-trainer-0 (pausing): it ended\n    | CUDA out of memory"
