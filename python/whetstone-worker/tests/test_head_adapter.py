"""An adapter on the output head, tied to the embedding (qwen3) or not (llama), in addition to those of layers: compared with
Transformers in float64 with every adapter merged into its weight, and through saving and resuming."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from torch import Tensor

from conftest import Engines, starting_from
from golden import read_gradients, relative_distance
from repository import FIXTURES
from rows import plain_row
from whetstone_worker.errors import WorkerError
from whetstone_worker.params import read_open_options
from whetstone_worker.trainer.adamw import OptimizerParams
from whetstone_worker.trainer.adapter_files import read_adapter, write_adapter
from whetstone_worker.trainer.engine import LoraConfig, TrainingEngine
from whetstone_worker.trainer.lora import ALL_LINEAR, ATTENTION, HEAD, MLP, TARGETS, Adapter, LinearLayer, create_adapter
from whetstone_worker.trainer.loss_program import parse_loss_program
from whetstone_worker.trainer.session import TrainingSession

CROSS_ENTROPY = parse_loss_program(
    {"name": "cross-entropy", "perToken": {"op": "neg", "x": {"op": "logprob"}}, "metrics": {"entropy": {"op": "entropy"}}}
)
ADAMW = OptimizerParams(0.01, beta1=0.9, beta2=0.99, epsilon=1e-8, weight_decay=0.1, max_grad_norm=1.0)
TOKENS = [int(token) for token in np.random.default_rng(8).integers(0, 96, 40)]
ROW = plain_row(TOKENS)
FAMILIES = ["qwen3", "llama"]


def layers_of(family: str) -> list[LinearLayer]:
    model = transformers.AutoModelForCausalLM.from_pretrained(FIXTURES / family / "model")
    linears = [(path, m) for path, m in model.named_modules() if path.rpartition(".")[2] in TARGETS]
    return [LinearLayer(path, m.in_features, m.out_features) for path, m in linears if isinstance(m, torch.nn.Linear)]


def random_adapter(layers: list[LinearLayer], targets: tuple[str, ...] = TARGETS) -> Adapter:
    adapter = create_adapter(layers, rank=3, alpha=6, seed=11, targets=targets)
    generator = torch.Generator().manual_seed(12)
    for tensor in adapter.tensors.values():
        tensor.copy_(torch.randn(tensor.shape, generator=generator) * 0.4 / tensor.shape[1] ** 0.5)
    return adapter


def start_of(family: str, directory: Path, targets: tuple[str, ...] = TARGETS) -> Path:
    start = directory / "start"
    start.mkdir()
    write_adapter(start, random_adapter(layers_of(family), targets), "tiny")
    return start


def merged_in_float64(family: str, adapter: Adapter) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
    """Returns log-probabilities `[trained]`, cross-entropy, and its gradient for every matrix of the adapter."""
    model = transformers.AutoModelForCausalLM.from_pretrained(FIXTURES / family / "model", dtype=torch.float64)
    leaves = {name: tensor.detach().double().requires_grad_() for name, tensor in adapter.tensors.items()}
    merged, embedding = {}, model.model.embed_tokens.weight.detach().clone()
    for a, b in zip(list(leaves)[::2], list(leaves)[1::2], strict=True):
        path = a.removeprefix("base_model.model.").removesuffix(".lora_A.weight")
        merged[path] = model.get_parameter(f"{path}.weight").detach() + adapter.shape.scale * leaves[b] @ leaves[a]
    head = merged.pop(HEAD)
    weights = {f"{path.removeprefix('model.')}.weight": weight for path, weight in merged.items()}
    tokens = {"input_ids": torch.tensor([TOKENS])}
    states = torch.func.functional_call(model.model, weights | {"embed_tokens.weight": embedding}, kwargs=tokens)
    rows = torch.log_softmax(states.last_hidden_state[0, :-1] @ head.T, dim=-1)
    logprobs = rows.gather(1, torch.tensor(TOKENS[1:])[:, None])[:, 0]
    gradients = torch.autograd.grad(-logprobs.mean(), list(leaves.values()))
    return logprobs.detach(), -logprobs.mean().detach(), dict(zip(leaves, gradients, strict=True))


def train(session: TrainingSession, steps: int) -> list[float]:
    losses = []
    for _ in range(steps):
        losses.append(session.forward_backward([ROW], CROSS_ENTROPY)[0].loss)
        session.optim_step(ADAMW)
    return losses


def saved(session: TrainingSession, directory: Path) -> dict[str, bytes]:
    directory.mkdir()
    session.save(directory, resumable=True)
    return {file.name: file.read_bytes() for file in sorted(directory.iterdir())}


@pytest.mark.parametrize("head_tokens", [None, 7])
@pytest.mark.parametrize("family", FAMILIES)
def test_logprobs_loss_and_gradients_equal_those_of_merged_weights(
    family: str, head_tokens: int | None, engines: Engines, tmp_path: Path
) -> None:
    start = start_of(family, tmp_path)
    logprobs, loss, gradients = merged_in_float64(family, random_adapter(layers_of(family)))
    options = replace(starting_from(start), head_tokens_max=head_tokens)
    with closing(engines.family(family).open(options)) as session:
        np.testing.assert_allclose(session.logprobs([ROW])[0], logprobs, atol=1e-5)
        assert session.forward_backward([ROW], CROSS_ENTROPY)[0].loss == pytest.approx(loss.item(), rel=1e-5)
        found = read_gradients(session, tmp_path / "gradients")
    assert sorted(found) == sorted(gradients)
    for name, gradient in gradients.items():
        assert relative_distance(found[name].double(), gradient) < 1e-5, name


@pytest.mark.parametrize("family", FAMILIES)
def test_a_resumed_session_ends_with_the_same_bytes(family: str, engines: Engines, tmp_path: Path) -> None:
    engine, start = engines.family(family), start_of(family, tmp_path)
    with closing(engine.open(starting_from(start))) as straight:
        losses = train(straight, 4)
        expected = saved(straight, tmp_path / "straight")
    assert losses[-1] < losses[0]
    with closing(engine.open(starting_from(start))) as first:
        train(first, 2)
        saved(first, tmp_path / "half")
    with closing(engine.open(starting_from(tmp_path / "half"))) as second:
        assert train(second, 2) == losses[2:]
        assert saved(second, tmp_path / "whole") == expected
    moved = read_adapter(tmp_path / "whole", layers_of(family)).tensors
    before = read_adapter(start, layers_of(family)).tensors
    for name in (name for name in before if HEAD in name):
        assert relative_distance(moved[name], before[name]) > 0.01, name


def test_only_the_head_is_trained_and_the_next_session_starts_without_it(engines: Engines, tmp_path: Path) -> None:
    engine = engines.family("qwen3")
    with closing(engine.open(starting_from(None))) as session:
        untouched = session.logprobs([ROW])[0]
    start = start_of("qwen3", tmp_path, targets=(HEAD,))
    with closing(engine.open(starting_from(start))) as session:
        assert np.abs(session.logprobs([ROW])[0] - untouched).max() > 0.01
        losses = train(session, 5)
        assert losses[-1] < losses[0]
    with closing(engine.open(starting_from(None))) as session:
        np.testing.assert_array_equal(session.logprobs([ROW])[0], untouched)


def test_a_fresh_adapter_has_the_targets_that_the_server_asks_for(engines: Engines, tmp_path: Path) -> None:
    def targets(**asked: Any) -> tuple[str, ...]:
        lora = {"rank": 2, "alpha": 4, "seed": 1, **asked}
        options = read_open_options({"lora": lora, "resetOptimizer": False, "headTokensMax": None}, None)
        return options.lora.targets

    assert targets() == ALL_LINEAR
    assert targets(unembed=True) == TARGETS
    assert targets(mlp=False, unembed=True) == (*ATTENTION, HEAD)
    assert targets(attention=False) == MLP
    assert targets(targets=["lm_head", "q_proj"]) == ("q_proj", HEAD)
    with pytest.raises(WorkerError, match="targets has 'embed_tokens', which is not one of q_proj"):
        targets(targets=["embed_tokens"])
    with pytest.raises(WorkerError, match="lora selects no linear layer"):
        targets(attention=False, mlp=False)
    lora = LoraConfig(rank=2, alpha=4, seed=1, targets=("q_proj", HEAD))
    with closing(open_fresh(engines.family("llama"), lora)) as session:
        saved(session, tmp_path / "fresh")
    adapter = read_adapter(tmp_path / "fresh", layers_of("llama"))
    assert adapter.shape.targets == ("q_proj", HEAD)
    shapes = [list(tensor.shape) for name, tensor in adapter.tensors.items() if HEAD in name]
    head = layers_of("llama")[-1]
    assert shapes == [[2, head.in_features], [head.out_features, 2]]


def test_a_fresh_adapter_is_scaled_as_the_server_asks(engines: Engines, tmp_path: Path) -> None:
    lora = {"rank": 4, "alpha": 4, "seed": 1, "rankStabilized": True}
    options = read_open_options({"lora": lora, "resetOptimizer": False, "headTokensMax": None}, None)
    with closing(engines.family("llama").open(options)) as session:
        saved(session, tmp_path / "fresh")
    assert read_adapter(tmp_path / "fresh", layers_of("llama")).shape.scale == 2


def open_fresh(engine: TrainingEngine, lora: LoraConfig) -> TrainingSession:
    return engine.open(starting_from(None, lora))
