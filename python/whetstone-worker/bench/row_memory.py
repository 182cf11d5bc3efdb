"""Measures the peak memory of a training step in addition to the weights, per row length, next to the estimate of
trainer/memory.py: `python bench/row_memory.py [TOKENS …]`. One child process per length, since a process's peak never falls.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
import transformers

from whetstone_worker.trainer.adamw import OptimizerParams
from whetstone_worker.trainer.engine import LoraConfig, OpenSessionOptions, open_training_engine
from whetstone_worker.trainer.lora import ALL_LINEAR, HEAD, TARGETS
from whetstone_worker.trainer.loss_program import parse_loss_program
from whetstone_worker.trainer.row import parse_row

SHAPE = {  # SmolLM2-135M's sizes in Qwen3's architecture, as bench/shapes.ts
    "hidden_size": 576,
    "num_hidden_layers": 30,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "head_dim": 64,
    "intermediate_size": 1536,
    "vocab_size": 49_152,
    "max_position_embeddings": 8192,
    "tie_word_embeddings": True,
}
RANK = 8
LOSS = {"name": "cross-entropy", "perToken": {"op": "neg", "x": {"op": "logprob"}}, "metrics": {}}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("tokens", type=int, nargs="*", default=[256, 1024, 2048, 4096])
    parser.add_argument("--layers", type=int, default=SHAPE["num_hidden_layers"])
    parser.add_argument("--vocab", type=int, default=SHAPE["vocab_size"])
    parser.add_argument("--head", action="store_true", help="with an adapter on the head too")
    parser.add_argument("--json", action="store_true", help="one JSON object per length instead of text")
    parser.add_argument("--model", type=Path, help="for the child processes: directory of the model")
    options = parser.parse_args()
    if options.model:
        print(json.dumps(measure(options.model, options.tokens[0], options.vocab, TARGETS if options.head else ALL_LINEAR)))
        return
    with tempfile.TemporaryDirectory() as directory:
        shape = {**SHAPE, "num_hidden_layers": options.layers, "vocab_size": options.vocab}
        config = transformers.AutoConfig.for_model("qwen3", **shape)
        transformers.AutoModelForCausalLM.from_config(config).save_pretrained(directory)  # type: ignore[no-untyped-call]
        for tokens in options.tokens:
            command = [sys.executable, __file__, str(tokens), "--vocab", str(options.vocab), "--model", directory]
            command += ["--head"] if options.head else []
            output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
            print(output.strip() if options.json else in_words(tokens, json.loads(output)), flush=True)


def in_words(tokens: int, found: dict[str, float]) -> str:
    measured, estimated = found["measured"] / 1e9, found["estimated"] / 1e9
    ratio = estimated / measured
    return f"row of {tokens:>5}: {measured:.2f} GB, estimated {estimated:.2f} GB ({ratio:.2f}x), {found['seconds']:.1f} s"


def measure(model: Path, tokens: int, vocab: int, targets: tuple[str, ...]) -> dict[str, float]:
    engine = open_training_engine(model, threads=1)
    session = engine.open(OpenSessionOptions(start=None, lora=LoraConfig(rank=RANK, alpha=16, seed=1, targets=targets)))
    ids = torch.randint(0, vocab, (tokens,)).tolist()
    count = tokens - 1
    row = parse_row(
        {
            "tokens": ids,
            "positions": list(range(tokens)),
            "segments": [0] * tokens,
            "parents": [-1],
            "predictFrom": list(range(count)),
            "targets": ids[1:],
            "sequenceIds": [0] * count,
            "inputs": {},
        }
    )
    before = peak()
    started = time.perf_counter()
    session.forward_backward([row], parse_loss_program(LOSS))
    session.optim_step(OptimizerParams(1e-4, 0.9, 0.99, 1e-8, 0.1, 0.1))
    seconds = time.perf_counter() - started
    memory = engine.limits.memory
    adapter = RANK * (memory.bytes_per_rank + (memory.head_bytes_per_rank if HEAD in targets else 0))
    estimated = memory.fixed_bytes + tokens * memory.bytes_per_token + tokens**2 * memory.bytes_per_pair + adapter
    return {"measured": peak() - before, "estimated": estimated, "seconds": seconds}


def peak() -> int:
    if torch.cuda.is_available():
        return torch.cuda.max_memory_allocated()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main()
