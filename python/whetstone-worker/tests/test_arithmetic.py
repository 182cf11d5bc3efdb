"""A GPU's arithmetic, as far as it can be tested without one: FlexAttention in Transformers with our block mask (its slow,
uncompiled form, which has no gradient on a CPU), and bfloat16 weights with a float32 adapter."""

from collections.abc import Iterator
from contextlib import closing

import pytest
import torch

from conftest import Engines, starting_from
from golden import row_of
from repository import FIXTURES, golden_tapes
from whetstone_worker.trainer.adamw import OptimizerParams
from whetstone_worker.trainer.attention_mask import COMPILED_MAX
from whetstone_worker.trainer.base_model import Arithmetic, open_base_model
from whetstone_worker.trainer.engine import TrainingEngine
from whetstone_worker.trainer.loss_program import parse_loss_program
from whetstone_worker.trainer.memory import training_limits
from whetstone_worker.trainer.session import TrainingSession

CPU = torch.device("cpu")
START = starting_from(FIXTURES / "qwen3" / "adapter")
ADAMW = OptimizerParams(1e-3, beta1=0.9, beta2=0.99, epsilon=1e-8, weight_decay=0.1, max_grad_norm=0.1)


def session_in(arithmetic: Arithmetic) -> TrainingSession:
    base = open_base_model(FIXTURES / "qwen3" / "model", CPU, arithmetic)
    limits = training_limits(base.sizes, 10**9, arithmetic.dtype.itemsize, dense_mask=True, row_length_max=None)
    return TrainingEngine(base, limits, sum_gradients=lambda _: None).open(START)


@pytest.fixture
def uncompiled() -> Iterator[None]:
    torch.compiler.set_stance("force_eager")
    yield
    torch.compiler.set_stance("default")


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
def test_flex_attention_has_the_logprobs_of_scaled_dot_products(engines: Engines) -> None:
    row = row_of(golden_tapes()["rl"][0]["row"])
    assert len(row.tokens) % 128 != 0  # so that there is padding
    assert len(set(row.segments.tolist())) > 5
    with closing(engines.family("qwen3").open(START)) as dense, closing(session_in(Arithmetic(torch.float32, True))) as flex:
        assert abs(flex.logprobs([row])[0] - dense.logprobs([row])[0]).max() < 1e-5
    assert torch._dynamo.config.recompile_limit >= COMPILED_MAX  # on a GPU, rows of every kind are compiled


def test_bfloat16_weights_train_a_float32_adapter(engines: Engines) -> None:
    tape = golden_tapes()["lora"]["qwen3"][0]
    row, loss = row_of(tape["row"]), parse_loss_program(tape["loss"])
    with closing(engines.family("qwen3").open(START)) as exact, closing(session_in(Arithmetic(torch.bfloat16, False))) as half:
        losses = [session.forward_backward([row], loss)[0].loss for session in (exact, half)]
        norms = [session.optim_step(ADAMW) for session in (exact, half)]
        assert losses[0] != losses[1]
        assert losses[1] == pytest.approx(losses[0], rel=0.02)
        assert norms[1] == pytest.approx(norms[0], rel=0.05)
        for _ in range(5):
            last = half.forward_backward([row], loss)[0].loss
            half.optim_step(ADAMW)
        assert last < losses[1]
