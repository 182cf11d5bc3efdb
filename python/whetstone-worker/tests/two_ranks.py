"""One rank of a test: `two_ranks.py RANK RANKS RENDEZVOUS OUT`. Trains three steps over four rows, saves into OUT, and
writes a JSON report next to it. With RANKS 1 it does not shard; the others are compared with that."""

import gc
import json
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor

from repository import FIXTURES
from rows import plain_fields, plain_row, shared_prompt_row
from whetstone_worker.errors import WorkerError
from whetstone_worker.trainer.adamw import OptimizerParams
from whetstone_worker.trainer.engine import LoraConfig, OpenSessionOptions, open_training_engine
from whetstone_worker.trainer.lora import TARGETS
from whetstone_worker.trainer.loss_program import parse_loss_program
from whetstone_worker.trainer.ranks import RankedSession
from whetstone_worker.trainer.row import parse_row

LOSS = parse_loss_program(
    {"name": "ce", "perToken": {"op": "neg", "x": {"op": "logprob"}}, "metrics": {"entropy": {"op": "entropy"}}}
)
ADAMW = OptimizerParams(0.01, beta1=0.9, beta2=0.99, epsilon=1e-8, weight_decay=0.1, max_grad_norm=1.0)


def tokens(count: int, seed: int) -> list[int]:
    return [int(token) for token in np.random.default_rng(seed).integers(0, 224, count)]


def main() -> None:
    rank, ranks, rendezvous, out = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], Path(sys.argv[4])
    limit = timedelta(seconds=120)
    dist.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=ranks, timeout=limit)
    mesh = init_device_mesh("cpu", (ranks,)) if ranks > 1 else None
    engine = open_training_engine(FIXTURES / "qwen3" / "model", device=torch.device("cpu"), mesh=mesh)
    # The same random numbers on every rank; with the head, which is not sharded.
    start = OpenSessionOptions(start=None, lora=LoraConfig(4, 8, 0, TARGETS))
    session = RankedSession(engine.open(start))
    sharded = {id(x): x for x in gc.get_objects() if isinstance(x, DTensor)}.values()
    nothing = parse_row({**plain_fields(tokens(5, 1)), "predictFrom": [], "targets": [], "sequenceIds": []})
    rows = [plain_row(tokens(30, 1)), nothing, plain_row(tokens(7, 2)), shared_prompt_row(tokens(9, 3), [tokens(5, 4)] * 2)]
    report: dict[str, Any] = {
        "sharded": sum(parameter.numel() for parameter in sharded),
        "held": sum(parameter.to_local().numel() for parameter in sharded),
        "logprobs": [values.tolist() for values in session.logprobs(rows)],
        "losses": [],
        "norms": [],
    }
    for _ in range(3):
        report["losses"].append([result.loss for result in session.forward_backward(rows, LOSS)])
        report["norms"].append(session.optim_step(ADAMW))
    report["computed"] = session.rows_computed
    too_long = plain_row(tokens(257, 5))  # the context is 256
    for verb in (session.logprobs, lambda refused: session.forward_backward(refused, LOSS)):
        with pytest.raises(WorkerError):
            verb([rows[0], too_long])
    report["norms"].append(session.optim_step(replace(ADAMW, learning_rate=0, weight_decay=0)))
    session.save(out, resumable=True)
    (out.parent / f"{out.name}-{rank}.json").write_text(json.dumps(report))
    session.close()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
