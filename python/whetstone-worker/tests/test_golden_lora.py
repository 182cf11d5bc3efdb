"""LoRA training against PyTorch and PEFT for every family and both layouts of a row: log-probabilities, losses, the gradient of
every matrix, ten AdamW steps (python/golden/make_models.py)."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from conftest import Engines, starting_from
from golden import params_of, read_gradients, relative_distance, row_of
from repository import FIXTURES, golden_tapes, read_json
from whetstone_worker.trainer.loss_program import parse_loss_program

FAMILIES = ["llama", "qwen2", "qwen3"]
LAYOUTS = ["a prompt per completion", "one shared prompt"]
LOSSES = ["cross_entropy", "cispo", "ppo", "cispo_gaps", "ppo_gaps"]


def tape_of(family: str, layout: str, name: str) -> Any:
    return next(t for t in golden_tapes()["lora"][family] if t["layout"] == layout and t["name"] == name)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("family", FAMILIES)
def test_logprobs_equal_those_of_pytorch(family: str, layout: str, engines: Engines) -> None:
    with closing(engines.family(family).open(starting_from(FIXTURES / family / "adapter"))) as session:
        logprobs = session.logprobs([row_of(tape_of(family, layout, "cispo")["row"])])[0]
    expected = load_file(FIXTURES / family / "expected.safetensors")["training.logprobs"]
    tolerance = read_json(f"{family}/expected.json")["tolerance"]["logprobs"]
    assert float((torch.from_numpy(logprobs) - expected).abs().max()) < tolerance


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("family", FAMILIES)
def test_loss_and_every_gradient_equal_those_of_pytorch(
    family: str, layout: str, name: str, engines: Engines, tmp_path: Path
) -> None:
    tape, golden = tape_of(family, layout, name), read_json(f"{family}/expected.json")
    with closing(engines.family(family).open(starting_from(FIXTURES / family / "adapter"))) as session:
        result = session.forward_backward([row_of(tape["row"])], parse_loss_program(tape["loss"]))[0]
        gradients = read_gradients(session, tmp_path / "gradients")
    assert result.loss == pytest.approx(golden["losses"][name], rel=golden["tolerance"]["loss"])
    prefix = f"gradients.{name}."
    tensors = load_file(FIXTURES / family / "expected.safetensors")
    expected = {key.removeprefix(prefix): value for key, value in tensors.items() if key.startswith(prefix)}
    assert sorted(gradients) == sorted(expected)
    for parameter, gradient in expected.items():
        assert relative_distance(gradients[parameter], gradient) < golden["tolerance"]["gradient"], parameter


OPTIONS = read_json("lora/expected.json")


@pytest.mark.parametrize("case", [name for name, case in OPTIONS["cases"].items() if case["family"] in FAMILIES])
def test_ranks_alphas_targets_and_rslora_equal_those_of_peft(case: str, engines: Engines, tmp_path: Path) -> None:
    golden, tolerance = OPTIONS["cases"][case], OPTIONS["tolerance"]
    tape = tape_of(golden["family"], "one shared prompt", "cross_entropy")
    row, program = row_of(tape["row"]), parse_loss_program(tape["loss"])
    tensors = load_file(FIXTURES / "lora" / case / "expected.safetensors")
    with closing(engines.family(golden["family"]).open(starting_from(FIXTURES / "lora" / case))) as session:
        loss = session.forward_backward([row], program)[0].loss
        gradients = read_gradients(session, tmp_path / "gradients")
    assert loss == pytest.approx(golden["loss"], rel=tolerance["loss"])
    assert sorted(f"gradients.{name}" for name in gradients) == sorted(key for key in tensors if key.startswith("gradients."))
    for name, gradient in gradients.items():
        assert relative_distance(gradient, tensors[f"gradients.{name}"]) < tolerance["gradient"], name
    with closing(engines.family(golden["family"]).open(starting_from(FIXTURES / "lora" / case))) as session:
        session.forward_backward([row], program)
        assert session.optim_step(params_of(OPTIONS["adamw"])) == pytest.approx(golden["gradNorm"], rel=tolerance["gradient"])
        session.save(tmp_path, resumable=False)
    for name, tensor in load_file(tmp_path / "adapter_model.safetensors").items():
        assert float((tensor - tensors[f"adamw.{name}"]).abs().max()) < tolerance["adamw"], name


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("family", FAMILIES)
def test_ten_steps_equal_those_of_torch_adamw(family: str, layout: str, engines: Engines, tmp_path: Path) -> None:
    tape, golden = tape_of(family, layout, "cispo"), read_json(f"{family}/expected.json")
    adamw, tolerance = golden["adamw"], golden["tolerance"]
    row, program = row_of(tape["row"]), parse_loss_program(tape["loss"])
    with closing(engines.family(family).open(starting_from(FIXTURES / family / "adapter"))) as session:
        for loss, norm in zip(adamw["losses"], adamw["gradNorms"], strict=True):
            assert session.forward_backward([row], program)[0].loss == pytest.approx(loss, abs=tolerance["adamwLosses"])
            assert session.optim_step(params_of(adamw)) == pytest.approx(norm, rel=tolerance["gradNorm"])
        session.save(tmp_path, resumable=False)
    expected = load_file(FIXTURES / family / "expected.safetensors")
    for name, tensor in load_file(tmp_path / "adapter_model.safetensors").items():
        assert float((tensor - expected[f"adamw.final.{name}"]).abs().max()) < tolerance["adamwFinal"], name
