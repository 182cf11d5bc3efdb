"""What test/support/contract/training-engine.ts requires of every training engine, tested on this one without a connection."""

import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import FRESH, Engines, starting_from
from repository import FIXTURES
from rows import plain_fields, plain_row, shared_prompt_row
from whetstone_worker.errors import WorkerError
from whetstone_worker.trainer.adamw import OptimizerParams
from whetstone_worker.trainer.engine import LoraConfig, OpenSessionOptions, TrainingEngine, open_training_engine
from whetstone_worker.trainer.loss_program import parse_loss_program
from whetstone_worker.trainer.row import TrainingRow, parse_row
from whetstone_worker.trainer.session import TrainingSession

MODEL = FIXTURES / "qwen3" / "model"
ADAMW = OptimizerParams(0.01, beta1=0.9, beta2=0.99, epsilon=1e-8, weight_decay=0.1, max_grad_norm=1.0)
LOGPROB = {"op": "logprob"}
CROSS_ENTROPY = parse_loss_program(
    {"name": "cross-entropy", "perToken": {"op": "neg", "x": LOGPROB}, "metrics": {"entropy": {"op": "entropy"}}}
)
WEIGHTED = parse_loss_program(
    {"name": "weighted", "perToken": {"op": "mul", "x": {"op": "input", "name": "weights"}, "y": LOGPROB}, "metrics": {}}
)


def tokens(count: int, seed: int) -> list[int]:
    return [int(token) for token in np.random.default_rng(seed).integers(0, 224, count)]


ROW, OTHER_ROW = plain_row(tokens(40, 2)), plain_row(tokens(9, 3))


@pytest.fixture
def engine(engines: Engines) -> TrainingEngine:
    return engines.family("qwen3")


@pytest.fixture
def session(engine: TrainingEngine) -> Iterator[TrainingSession]:
    session = engine.open(starting_from(None))
    yield session
    session.close()


def train(session: TrainingSession, steps: int, first: int = 0) -> list[float]:
    losses = []
    for step in range(first, first + steps):
        losses.append(session.forward_backward([ROW if step % 2 == 0 else OTHER_ROW], CROSS_ENTROPY)[0].loss)
        session.optim_step(ADAMW)
    return losses


def saved(session: TrainingSession, directory: Path, *, resumable: bool = True) -> dict[str, bytes]:
    directory.mkdir()
    session.save(directory, resumable=resumable)
    return {file.name: file.read_bytes() for file in sorted(directory.iterdir())}


def grad_norm(session: TrainingSession, *rows: TrainingRow) -> float:
    for row in rows:
        session.forward_backward([row], CROSS_ENTROPY)
    return session.optim_step(replace(ADAMW, learning_rate=0.0))


def test_training_lowers_the_loss_and_shows_in_the_logprobs(session: TrainingSession) -> None:
    before = session.logprobs([ROW])[0]
    losses = train(session, 20)
    assert losses[-2] < losses[0] - 0.2
    after = session.logprobs([ROW])[0]
    assert after.dtype == np.float32
    assert after.sum() > before.sum()
    result = session.forward_backward([ROW], CROSS_ENTROPY)[0]
    assert result.logprobs.dtype == np.float32
    assert result.logprobs == pytest.approx(after, abs=1e-5)
    assert result.loss == pytest.approx(-float(after.mean()), rel=1e-5)
    assert 0 < result.metrics["entropy"] < np.log(224)


def test_a_fresh_adapter_changes_nothing(engine: TrainingEngine) -> None:
    found = []
    for lora in (FRESH, LoraConfig(rank=2, alpha=1, seed=9)):
        with closing(engine.open(starting_from(None, lora))) as session:
            found.append(session.logprobs([ROW])[0])
    assert (found[0] == found[1]).all()


def test_completions_of_a_shared_prompt_have_the_same_logprobs_as_alone(session: TrainingSession) -> None:
    prompt, completions = tokens(10, 4), [tokens(6, 5), tokens(9, 6)]
    together = session.logprobs([shared_prompt_row(prompt, completions)])[0]
    alone = [session.logprobs([plain_row(prompt + completion)])[0][len(prompt) - 1 :] for completion in completions]
    np.testing.assert_allclose(together, np.concatenate(alone), atol=1e-5)


def test_a_row_may_be_longer_than_the_context_but_its_sequences_may_not(session: TrainingSession) -> None:
    prompt, completions = tokens(100, 4), [tokens(100, 5), tokens(100, 6)]
    together = session.logprobs([shared_prompt_row(prompt, completions)])[0]  # 300 tokens, the context is 256
    apart = [session.logprobs([shared_prompt_row(prompt, [completion])])[0] for completion in completions]
    np.testing.assert_allclose(together, np.concatenate(apart), atol=1e-5)
    with pytest.raises(WorkerError, match=r"position 256 at index 256 is not in \[0, 256\)"):
        session.logprobs([plain_row(tokens(257, 7))])


def test_equal_work_produces_equal_bytes_also_on_another_thread(engine: TrainingEngine, tmp_path: Path) -> None:
    runs: list[Any] = []

    def run(name: str, seed: int) -> None:
        with closing(engine.open(starting_from(None, replace(FRESH, seed=seed)))) as session:
            losses = train(session, 3)
            runs.append((losses, saved(session, tmp_path / name)))

    run("first", 3)
    thread = threading.Thread(target=run, args=("second", 3))
    thread.start()
    thread.join()
    run("other", 4)
    assert runs[0] == runs[1]
    assert runs[0][1]["adapter_model.safetensors"] != runs[2][1]["adapter_model.safetensors"]


def test_head_tokens_change_memory_but_not_results(engine: TrainingEngine) -> None:
    found = []
    for limit in (None, 7):
        with closing(engine.open(replace(starting_from(None), head_tokens_max=limit))) as session:
            found.append((session.logprobs([ROW])[0], grad_norm(session, ROW)))
    np.testing.assert_allclose(found[0][0], found[1][0], atol=1e-5)
    assert found[0][1] == pytest.approx(found[1][1], rel=1e-5)


def test_a_resumed_session_ends_with_the_bytes_of_one_that_never_stopped(engine: TrainingEngine, tmp_path: Path) -> None:
    with closing(engine.open(starting_from(None))) as straight:
        train(straight, 4)
        expected = saved(straight, tmp_path / "straight")
    with closing(engine.open(starting_from(None))) as first:
        train(first, 2)
        saved(first, tmp_path / "half")
    other = LoraConfig(rank=16, alpha=1, seed=99)  # ignored: the opened adapter has its own config
    with closing(engine.open(starting_from(tmp_path / "half", other))) as second:
        assert saved(second, tmp_path / "again") == {f.name: f.read_bytes() for f in sorted((tmp_path / "half").iterdir())}
        train(second, 2)
        assert saved(second, tmp_path / "whole") == expected


def test_saving_changes_nothing(engine: TrainingEngine, tmp_path: Path) -> None:
    with closing(engine.open(starting_from(None))) as plain:
        train(plain, 2)
        expected = saved(plain, tmp_path / "plain")
    with closing(engine.open(starting_from(None))) as session:
        train(session, 1)
        session.forward_backward([OTHER_ROW], CROSS_ENTROPY)
        saved(session, tmp_path / "between")  # gradients not yet applied are not lost
        session.optim_step(ADAMW)
        assert saved(session, tmp_path / "after") == expected


def test_a_session_that_changes_hands_within_a_step_ends_with_the_bytes_of_one_that_did_not(
    engine: TrainingEngine, tmp_path: Path
) -> None:
    rows = [ROW, OTHER_ROW, plain_row(tokens(21, 8))]
    ended = []
    for changes_hands in (False, True):
        session = engine.open(starting_from(None))
        for index, row in enumerate(rows):
            session.forward_backward([row], CROSS_ENTROPY)
            if changes_hands:
                directory = tmp_path / f"turn-{index}"
                directory.mkdir()
                session.save(directory, resumable=True, gradients=True)
                session.close()
                session = engine.open(starting_from(directory))
        norm = session.optim_step(ADAMW)
        directory = tmp_path / f"end-{changes_hands}"
        directory.mkdir()
        session.save(directory, resumable=True)
        session.close()
        ended.append((norm, {file.name: file.read_bytes() for file in directory.iterdir()}))
    assert ended[0] == ended[1]


def test_reset_optimizer_keeps_the_weights_and_resets_the_moments(engine: TrainingEngine, tmp_path: Path) -> None:
    with closing(engine.open(starting_from(None))) as session:
        train(session, 2)
        resumable = saved(session, tmp_path / "resumable")
        served = saved(session, tmp_path / "served", resumable=False)
    assert list(served) == ["adapter_config.json", "adapter_model.safetensors"]
    reset = OpenSessionOptions(start=tmp_path / "resumable", lora=FRESH, reset_optimizer=True)
    fresh = []
    for index, options in enumerate((reset, starting_from(tmp_path / "served"))):
        with closing(engine.open(options)) as session:
            fresh.append(saved(session, tmp_path / f"fresh-{index}"))
    assert fresh[0] == fresh[1]
    assert fresh[0]["adapter_model.safetensors"] == resumable["adapter_model.safetensors"]
    assert fresh[0]["optimizer.safetensors"] != resumable["optimizer.safetensors"]


def test_gradients_accumulate_until_a_step_clears_them(session: TrainingSession) -> None:
    once = grad_norm(session, ROW)
    assert once > 0
    assert grad_norm(session, ROW, ROW) / once == pytest.approx(2, rel=1e-5)
    assert grad_norm(session, ROW) == once
    session.logprobs([ROW])
    assert grad_norm(session) == 0


def test_a_row_without_targets_has_no_loss_and_no_gradient(session: TrainingSession) -> None:
    row = parse_row({**plain_fields(tokens(5, 1)), "predictFrom": [], "targets": [], "sequenceIds": []})
    result = session.forward_backward([row], CROSS_ENTROPY)[0]
    assert (result.loss, result.metrics, result.logprobs.size) == (0, {"entropy": 0}, 0)
    assert session.logprobs([row])[0].size == 0
    assert grad_norm(session) == 0


def test_a_loss_that_uses_no_token_has_no_gradient(session: TrainingSession) -> None:
    constant = parse_loss_program({"name": "c", "perToken": {"op": "constant", "value": 3}, "metrics": {}})
    assert session.forward_backward([ROW], constant)[0].loss == 3
    assert grad_norm(session) == 0


def test_gradients_that_are_not_finite_are_refused_and_cleared(session: TrainingSession, tmp_path: Path) -> None:
    before = saved(session, tmp_path / "before")
    row = plain_row(tokens(40, 2), {"weights": [float("nan")] * 39})
    session.forward_backward([row], WEIGHTED)
    with pytest.raises(WorkerError, match="gradient norm is nan") as refusal:
        session.optim_step(ADAMW)
    assert refusal.value.code == "engine_failed"
    assert saved(session, tmp_path / "after") == before
    assert grad_norm(session) == 0


def test_weights_that_are_not_finite_fail_the_update_and_are_not_saved(session: TrainingSession, tmp_path: Path) -> None:
    session.forward_backward([ROW], CROSS_ENTROPY)
    with pytest.raises(WorkerError, match=r"not finite.*1e\+40") as fault:
        session.optim_step(replace(ADAMW, learning_rate=1e40))
    assert fault.value.code == "engine_failed"
    with pytest.raises(WorkerError, match="not finite") as refusal:
        session.save(tmp_path, resumable=True)
    assert refusal.value.code == "engine_failed"
    assert list(tmp_path.iterdir()) == []


def test_an_unusable_row_fails_the_whole_call_and_the_session_continues(session: TrainingSession) -> None:
    once = grad_norm(session, ROW)
    rows = [plain_row(tokens(257, 1)), parse_row({**plain_fields([1, 2]), "targets": [224]})]
    for row in rows:
        for verb in (session.logprobs, lambda refused: session.forward_backward(refused, CROSS_ENTROPY)):
            with pytest.raises(WorkerError) as refusal:
                verb([ROW, row])
            assert refusal.value.code == "invalid_request"
    for inputs in ({}, {"weights": [1.0] * 38}):
        with pytest.raises(WorkerError, match="needs input weights for 39 trained tokens") as refusal:
            session.forward_backward([plain_row(tokens(40, 2), inputs)], WEIGHTED)
        assert refusal.value.code == "invalid_request"
    assert grad_norm(session, ROW) == once


def test_the_rows_of_a_call_are_computed_in_order(session: TrainingSession) -> None:
    rows = [OTHER_ROW, ROW, plain_row(tokens(21, 8))]
    apart = [session.logprobs([row])[0] for row in rows]
    losses = [session.forward_backward([row], CROSS_ENTROPY)[0].loss for row in rows]
    norm = grad_norm(session)
    for found, expected in zip(session.logprobs(rows), apart, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert [result.loss for result in session.forward_backward(rows, CROSS_ENTROPY)] == losses
    assert grad_norm(session) == norm


def test_one_session_is_open_at_a_time_and_closing_it_permits_the_next(engine: TrainingEngine) -> None:
    first = engine.open(starting_from(None))
    assert engine.status().busy
    with pytest.raises(WorkerError) as refusal:
        engine.open(starting_from(None))
    assert refusal.value.code == "engine_unavailable"
    first.forward_backward([ROW], CROSS_ENTROPY)
    first.close()
    second = engine.open(starting_from(None))
    first.close()  # closing again does nothing, and leaves the next session open
    assert engine.status().busy
    assert grad_norm(second) == 0
    for verb in (lambda: first.logprobs([ROW]), lambda: first.optim_step(ADAMW)):
        with pytest.raises(WorkerError, match="closed"):
            verb()
    second.close()
    assert not engine.status().busy


def test_a_failed_or_cancelled_opening_permits_the_next(engine: TrainingEngine, tmp_path: Path) -> None:
    for start in (tmp_path / "nowhere", FIXTURES / "llama" / "adapter"):
        with pytest.raises(WorkerError) as refusal:
            engine.open(starting_from(start))
        assert refusal.value.code == "bad_model_files"
    with pytest.raises(WorkerError) as cancelled:
        engine.open(starting_from(None), lambda: True)
    assert cancelled.value.code == "cancelled"
    assert not engine.status().busy


def test_a_closed_engine_opens_no_session() -> None:
    engine = open_training_engine(MODEL, row_length_max=48)
    assert engine.limits.row_length_max == 48
    session = engine.open(starting_from(None))
    assert session.forward_backward([plain_row(tokens(48, 7))], CROSS_ENTROPY)[0].loss > 0
    engine.close()
    engine.close()
    assert not engine.status().ready
    with pytest.raises(WorkerError, match="session is closed"):
        session.logprobs([ROW])
    with pytest.raises(WorkerError) as refusal:
        engine.open(starting_from(None))
    assert refusal.value.code == "engine_unavailable"
