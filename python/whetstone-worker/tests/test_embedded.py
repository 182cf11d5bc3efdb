"""Against the embedded engine, which runs next to it: the same start, rows and losses lead to the same adapter, and either
engine continues from what the other saved."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file

from conftest import Engines, starting_from
from golden import play, relative_distance
from repository import FIXTURES, golden_tapes, run_typescript

MODEL, START = FIXTURES / "qwen3" / "model", FIXTURES / "qwen3" / "adapter"
FILES = ["adapter_config.json", "adapter_model.safetensors", "optimizer.safetensors"]
TOLERANCE = 1e-4
PARAMS = {"learningRate": 1e-3, "beta1": 0.9, "beta2": 0.99, "epsilon": 1e-8, "weightDecay": 0.1, "maxGradNorm": 0.1}


def ten_steps() -> list[Any]:
    """The rows of the first RL combinations that need no other policy, in order."""
    rows = [tape for tape in golden_tapes()["rl"] if "reference" not in json.dumps(tape["loss"])][:10]
    steps = [[{"verb": "forwardBackward", **tape}, {"verb": "optimStep", "params": PARAMS}] for tape in rows]
    return [call for step in steps for call in step]


def embedded(start: Path, out: Path, calls: list[Any]) -> None:
    tape = out.with_suffix(".json")
    tape.write_text(json.dumps(calls))
    run_typescript("test/support/worker/embedded-steps.ts", str(MODEL), str(start), str(out), str(tape))


def ours(engines: Engines, start: Path, out: Path, calls: list[Any]) -> None:
    out.mkdir()
    with closing(engines.family("qwen3").open(starting_from(start))) as session:
        play(session, calls)
        session.save(out, resumable=True)


def assert_same(found: Path, expected: Path) -> None:
    assert sorted(file.name for file in found.iterdir()) == FILES
    for file in FILES[1:]:
        actual, wanted = load_file(found / file), load_file(expected / file)
        assert sorted(actual) == sorted(wanted)
        for name, tensor in wanted.items():
            assert relative_distance(actual[name], tensor) < TOLERANCE, f"{file} {name}"


def test_ten_steps_end_with_the_same_adapter(engines: Engines, tmp_path: Path) -> None:
    embedded(START, tmp_path / "embedded", ten_steps())
    ours(engines, START, tmp_path / "ours", ten_steps())
    assert_same(tmp_path / "ours", tmp_path / "embedded")
    moved = load_file(tmp_path / "ours" / FILES[1])
    for name, tensor in load_file(START / FILES[1]).items():
        assert relative_distance(moved[name], tensor) > 10 * TOLERANCE, f"{name} has not moved"


def test_either_engine_continues_from_what_the_other_saved(engines: Engines, tmp_path: Path) -> None:
    calls = ten_steps()
    ours(engines, START, tmp_path / "straight", calls)
    embedded(START, tmp_path / "embedded-half", calls[:10])
    ours(engines, tmp_path / "embedded-half", tmp_path / "then-ours", calls[10:])
    assert_same(tmp_path / "then-ours", tmp_path / "straight")
    ours(engines, START, tmp_path / "our-half", calls[:10])
    embedded(tmp_path / "our-half", tmp_path / "then-embedded", calls[10:])
    assert_same(tmp_path / "then-embedded", tmp_path / "straight")


@pytest.mark.parametrize("start", ["embedded", "ours"])
def test_both_engines_write_files_with_the_same_bytes(start: str, engines: Engines, tmp_path: Path) -> None:
    calls = ten_steps()[:2]
    first, second = (tmp_path / "first", tmp_path / "second")
    if start == "embedded":
        embedded(START, first, calls)
        ours(engines, first, second, [])
    else:
        ours(engines, START, first, calls)
        embedded(first, second, [])
    for file in FILES:
        assert (first / file).read_bytes() == (second / file).read_bytes(), file
